// Working sets against plain definitions: what frozen rows add, and matrices that are updated.
#include "rectiline/newton/newton_rows.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::newton;
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

bool near_a_knot(const Curve& curve, double t) {
    for (std::int64_t k = 0; k < curve.n_knots; ++k)
        if (std::fabs(t - curve.knot[k]) < 0.2) return true;
    return false;
}

void check_freezing(const Curve& curve, bool mixed) {
    const Data data(curve, mixed, 21);
    const Matrix& X = data.X;
    const RowFunctions& rows = data.rows;
    NewtonRows set(data.dense.view, rows, true);
    Random random(23);
    Vector linear(p), quadratic(p * p), g(static_cast<std::size_t>(n));
    for (int round = 0; round < 6; ++round) {  // later rounds update what the first worked out
        const Vector b{0.3, -0.2, 0.1 * round, 0.5, 0, 0.2};
        const Vector z = predictions(X, b);
        set.place(b);
        for (std::int64_t i = 0; i < n; ++i) {  // slopes that belong to the arguments
            g[i] = rows.direction[i] * rows.weight[i] * curve.slope_at(rows.argument(i, z[i]));
        }
        set.set_multiplier(g);
        set.evaluate(0.0, 1e12);  // stiff: slopes are those of the curve but for rows at a kink
        Vector keep(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)  // rows near a knot stay, and a few others
            keep[i] = rows.weight[i] > 0 && (near_a_knot(curve, rows.argument(i, z[i])) ||
                                             samples::uniform(random, 0, 1) < 0.3);
        Interrupt never;
        const Frozen frozen = set.freeze(keep, 1e-9, linear, quadratic, g, never);
        if (!frozen.balanced) continue;
        Vector sum(p, 0.0), curved(static_cast<std::size_t>(n), 0.0);
        double loss = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const double t = rows.argument(i, z[i]);
            const double expected =
                keep[i] > 0 ? 0.0 : rows.direction[i] * rows.weight[i] * curve.slope_at(t);
            CHECK_NEAR(g[i], expected, 1e-12);
            if (keep[i] > 0) continue;
            for (std::int64_t j = 0; j < p; ++j)
                sum[j] += expected * entry(X, i, j);
            curved[i] = rows.weight[i] * curve.curvature_at(t);
            loss += rows.weight[i] * curve.loss(t);
        }
        for (std::int64_t j = 0; j < p; ++j)
            CHECK_NEAR(linear[j], sum[j], 1e-10 * (1 + std::fabs(sum[j])));
        CHECK_NEAR(frozen.loss, loss, 1e-10 * (1 + std::fabs(loss)));
        CHECK(frozen.curved ==
              std::any_of(curved.begin(), curved.end(), [](double q) { return q > 0; }));
        if (frozen.curved) check_gram(X, curved, quadratic.data());
    }
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& owned : samples::curves()) {
        for (const bool mixed : {false, true}) {
            check_freezing(owned.view(), mixed);
        }
    }
    return check::report();
}
