// Working sets against plain definitions: which rows may meet a knot, what frozen rows add, Newton
// matrices that are updated, and paths on few rows, whose answers are those on all of them.
#include "rectiline/path/newton_path.hpp"
#include "rectiline/path/path_grams.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::path;
using samples::Dense;
using samples::Matrix;
using Vector = std::vector<double>;

namespace {

constexpr std::int64_t n = 90, d = 5, p = d + 1;

double entry(const Matrix& X, std::int64_t i, std::int64_t j) {
    return j < d ? X(i, j) : 1.0;
}

Vector predictions(const Matrix& X, const Vector& b) {
    Vector z(static_cast<std::size_t>(n), 0.0);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < p; ++j)
            z[i] += entry(X, i, j) * b[j];
    return z;
}

void check_gram(const Matrix& X, const Vector& weight, const double* H) {
    for (std::int64_t j = 0; j < p; ++j)
        for (std::int64_t k = 0; k < p; ++k) {
            double sum = 0;
            for (std::int64_t i = 0; i < n; ++i)
                sum += weight[i] * entry(X, i, j) * entry(X, i, k);
            CHECK_NEAR(H[j * p + k], sum, 1e-10 * (1 + std::fabs(sum)));
        }
}

// X and rows on one curve; if `mixed`, by an index, as rows with several curves have it.
struct Data {
    Matrix X;
    Dense<double> dense;
    samples::OwnedRows owned;
    std::vector<std::uint8_t> same;
    RowFunctions rows;

    Data(const Curve& curve, bool mixed, std::uint64_t seed)
        : X(n, d, seed, 1.0),
          dense(X, d, 1),
          owned(curve, n, seed + 1),
          same(static_cast<std::size_t>(n), 0),
          rows(owned.view()) {
        if (mixed) rows.curve_index = same.data();
    }
};

void check_grams_along_a_path(const Curve& curve, bool mixed) {
    const Data data(curve, mixed, 11);
    const Matrix& X = data.X;
    const RowFunctions& rows = data.rows;
    constexpr std::int64_t count = 30;
    Vector z, H(static_cast<std::size_t>(count * p * p)), weight(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < count; ++k) {
        const double at = 0.1 * static_cast<double>(k);
        const Vector one = predictions(X, {at, -at, 0.5, 0, 0.3 * at, 0.1});
        z.insert(z.end(), one.begin(), one.end());
    }
    path_grams(data.dense.view, rows, rows.weight, z.data(), count, true, H.data(), 1);
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t i = 0; i < n; ++i) {
            const double t = rows.argument(i, z[k * n + i]);
            weight[i] = rows.weight[i] * curve.curvature[curve.piece(t)];
        }
        check_gram(X, weight, H.data() + k * p * p);
    }
}

void check_freezing(const Curve& curve, bool mixed) {
    const Data data(curve, mixed, 21);
    const Matrix& X = data.X;
    const RowFunctions& rows = data.rows;
    NewtonRows set(data.dense.view, rows, true, 1);
    Random random(23);
    Vector linear(p), quadratic(p * p), g(static_cast<std::size_t>(n)), low(g), high(g);
    for (int round = 0; round < 6; ++round) {  // later rounds update what the first worked out
        const Vector b{0.3, -0.2, 0.1 * round, 0.5, 0, 0.2};
        const Vector z = predictions(X, b);
        set.place(b.data());
        for (std::int64_t i = 0; i < n; ++i) {  // slopes that belong to the arguments
            g[i] = rows.direction[i] * rows.weight[i] * curve.slope(rows.argument(i, z[i]));
            low[i] = z[i] - samples::uniform(random, 0, 0.4);
            high[i] = z[i] + samples::uniform(random, 0, 0.4);
        }
        set.set_multiplier(g.data());
        set.settle(0.0, 1e12);  // stiff: slopes are those of the curve but for rows at a kink
        Vector keep(static_cast<std::size_t>(n));
        const double pad = 0.1 * round;
        const std::int64_t count = set.near_knots(low.data(), high.data(), pad, keep.data());
        CHECK(count == std::count(keep.begin(), keep.end(), 1.0));
        for (std::int64_t i = 0; i < n; ++i) {
            double from = rows.argument(i, low[i]), to = rows.argument(i, high[i]);
            if (from > to) std::swap(from, to);
            bool near = false;
            for (std::int64_t k = 0; k < curve.n_knots; ++k)
                near = near || (from - pad <= curve.knot[k] && curve.knot[k] <= to + pad);
            const double t = rows.argument(i, z[i]);
            const bool curved = curve.curvature[curve.piece(t)] > 0;
            CHECK(!((near || curved) && rows.weight[i] > 0) || keep[i] > 0);
            CHECK(rows.weight[i] > 0 || keep[i] == 0);
            if (curved && !near) keep[i] = 0;  // to be frozen all the same
        }
        const Frozen frozen =
            set.freeze(keep.data(), 1e-9, linear.data(), quadratic.data(), g.data());
        if (!frozen.balanced) continue;
        Vector sum(p, 0.0), curved(static_cast<std::size_t>(n), 0.0);
        double loss = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double t = rows.argument(i, z[i]);
            const double expected =
                keep[i] > 0 ? 0.0 : rows.direction[i] * rows.weight[i] * curve.slope(t);
            CHECK_NEAR(g[i], expected, 1e-12);
            CHECK(std::isnan(set.frozen_slopes()[i]) == (keep[i] > 0));
            if (keep[i] > 0) continue;
            CHECK_NEAR(set.frozen_slopes()[i], curve.slope(t), 1e-12);
            for (std::int64_t j = 0; j < p; ++j)
                sum[j] += expected * entry(X, i, j);
            curved[i] = rows.weight[i] * curve.curvature[curve.piece(t)];
            loss += rows.weight[i] * curve(t);
        }
        for (std::int64_t j = 0; j < p; ++j)
            CHECK_NEAR(linear[j], sum[j], 1e-10 * (1 + std::fabs(sum[j])));
        CHECK_NEAR(frozen.loss, loss, 1e-10 * (1 + std::fabs(loss)));
        CHECK(frozen.curved ==
              std::any_of(curved.begin(), curved.end(), [](double q) { return q > 0; }));
        if (frozen.curved) check_gram(X, curved, quadratic.data());
    }
}

double objective(const Matrix& X, const RowFunctions& rows, double strength, const Vector& b) {
    const Vector z = predictions(X, b);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
        sum += rows.weight[i] * rows.curve(i)(rows.argument(i, z[i]));
    for (std::int64_t j = 0; j < d; ++j)
        sum += 0.5 * strength * b[j] * b[j];
    return sum;
}

// Answers of a path on all rows tell how far predictions get: with these ranges the same path on
// few rows has the same answers; with ranges far too narrow it notices.
void check_path_on_few_rows(const Curve& curve, bool smooth) {
    const Matrix X(n, d, 31, 1.0);
    const Dense<double> dense(X, d, 1);
    const samples::OwnedRows owned(curve, n, 32);
    const RowFunctions rows = owned.view();
    const samples::OwnedTerms terms(d, true, 1.0, 0.0);
    NewtonRows set(dense.view, rows, true, 1), other_set(dense.view, rows, true, 1);
    const NewtonUnits units{1.0, static_cast<double>(n), 1.0, smooth};
    NewtonPath path(set, terms.view, 1.0, units), focused(other_set, terms.view, 1.0, units);
    const Vector zero(static_cast<std::size_t>(n), 0.0);
    const double target = 1e-6, strengths[] = {20.0, 14.0, 10.0, 7.0, 5.0};
    Interrupt never;
    path.place(zero.data(), zero.data());
    focused.place(zero.data(), zero.data());
    Vector best, low(zero), high(zero), b(p), here;
    for (const double strength : strengths) {
        CHECK(path.move(strength, target, 500, never).relative_gap <= target);
        path.coefficients(b.data());
        best.push_back(objective(X, rows, strength, b));
        const Vector z = predictions(X, b);
        for (std::int64_t i = 0; i < n; ++i) {
            low[i] = best.size() == 1 ? z[i] - 0.05 : std::min(low[i], z[i] - 0.05);
            high[i] = best.size() == 1 ? z[i] + 0.05 : std::max(high[i], z[i] + 0.05);
        }
        if (best.size() == 1) here = z;
    }
    int used = 0;
    for (std::size_t k = 0; k < best.size(); ++k) {
        if (k == 1) used = focused.focus(low.data(), high.data(), nullptr, 1.0) > 0;
        if (k == 3) {  // at predictions that are known
            focused.coefficients(b.data());
            const Vector z = predictions(X, b);
            focused.focus(low.data(), high.data(), z.data(), 1.0);
        }
        const PathStep step = focused.move(strengths[k], target, 500, never);
        CHECK(step.relative_gap <= target && !step.failed && !step.strayed);
        focused.coefficients(b.data());
        CHECK_NEAR(objective(X, rows, strengths[k], b), best[k], 5 * target * best[k]);
    }
    CHECK(used == 1);
    focused.widen();
    const PathStep again = focused.move(strengths[1], target, 500, never);
    focused.coefficients(b.data());
    CHECK(again.relative_gap <= target);
    CHECK_NEAR(objective(X, rows, strengths[1], b), best[1], 5 * target * best[1]);
    CHECK(focused.focus(low.data(), high.data(), nullptr, 0.0) ==
          0);  // no share of the rows at all
    for (std::int64_t i = 0; i < n; ++i)
        low[i] = here[i] - 1e-6, high[i] = here[i] + 1e-6;
    if (focused.focus(low.data(), high.data(), nullptr, 1.0) > 0)
        CHECK(focused.move(0.2, 1e-2, 500, never).strayed);
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& owned : samples::curves()) {
        for (const bool mixed : {false, true}) {
            check_grams_along_a_path(owned.view(), mixed);
            check_freezing(owned.view(), mixed);
        }
        const bool smooth = owned.name == "huber" || owned.name == "squared hinge";
        if (smooth || owned.name == "hinge" || owned.name == "pinball 0.9")
            check_path_on_few_rows(owned.view(), smooth);
    }
    return check::report();
}
