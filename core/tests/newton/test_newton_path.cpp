// A path of strengths against the plain definition: every answer is a minimum up to its target, its
// multipliers prove that, and the way along the path does not matter.
#include "rectiline/newton/newton_run.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <cmath>
#include <vector>

using namespace rectiline::newton;
using samples::Dense;
using samples::Matrix;

namespace {

constexpr std::int64_t n = 80, d = 6;

using Terms = samples::OwnedTerms;

double objective(const Matrix& X, const RowFunctions& rows, const Terms& terms, double strength,
                 const std::vector<double>& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        double z = b[d];
        for (std::int64_t j = 0; j < d; ++j)
            z += X(i, j) * b[j];
        sum += rows.weight[i] * rows.curve(i).loss(rows.direction[i] * z + rows.offset[i]);
    }
    for (std::int64_t j = 0; j < d; ++j)
        sum += strength * (0.5 * terms.rho[j] * b[j] * b[j] + terms.l1[j] * std::fabs(b[j]));
    return sum;
}

void check_multipliers(const NewtonPath& path, const RowFunctions& rows, bool has_room) {
    std::vector<double> g(static_cast<std::size_t>(n));
    path.dual(g);
    double sum = 0, size = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const Curve& f = rows.curve(i);
        const double s = rows.weight[i] > 0 ? rows.direction[i] * g[i] / rows.weight[i] : 0.0;
        CHECK(rows.weight[i] > 0 || g[i] == 0.0);
        if (rows.weight[i] > 0)
            CHECK(s >= f.lowest_slope() - 1e-12 && s <= f.highest_slope() + 1e-12);
        sum += g[i], size += std::fabs(g[i]);
    }
    if (has_room) CHECK_NEAR(sum, 0.0, 1e-12 * size);
}

void check_path(const Curve& curve, bool smooth, bool ridge) {
    const Matrix X(n, d, 3, 1.0);
    const samples::OwnedRows owned(curve, n, 4);
    const RowFunctions rows = owned.view();
    const Dense<double> dense(X, d, 1);
    Terms terms(d, true, ridge ? 1.0 : 0.0, ridge ? 0.0 : 1.0);
    NewtonRows set(dense.view, rows, true), fresh_set(dense.view, rows, true);
    terms.view.smooth = smooth;
    terms.view.stiffness = static_cast<double>(n);
    NewtonPath path(set, terms.view, 1.0);
    const std::vector<double> zero(d + 1, 0.0), no_slopes(static_cast<std::size_t>(n), 0.0);
    path.place(zero, no_slopes);
    Interrupt never;
    std::vector<double> b(d + 1), other(d + 1), moved(d + 1);
    const double target = 1e-6, strengths[] = {20.0, 10.0, 5.0, 2.5, 1.2};
    for (const double strength : strengths) {
        const PathStep step = path.move(strength, target, 500, never);
        CHECK(!step.failed && !step.interrupted);
        CHECK(step.relative_gap <= target);
        path.coefficients(b);
        const double best = objective(X, rows, terms, strength, b);
        Random random(7);
        for (int k = 0; k < 200; ++k) {
            const double size = std::pow(10.0, samples::uniform(random, -4, 0));
            for (std::int64_t j = 0; j <= d; ++j)
                moved[j] = b[j] + samples::uniform(random, -size, size);
            CHECK(objective(X, rows, terms, strength, moved) >= best * (1 - 2 * target));
        }
        check_multipliers(path, rows, std::isfinite(curve.highest_slope() - curve.lowest_slope()));
        NewtonPath fresh(fresh_set, terms.view, 1.0);  // straight to this strength
        fresh.place(zero, no_slopes);
        CHECK(fresh.move(strength, target, 500, never).relative_gap <= target);
        fresh.coefficients(other);
        CHECK_NEAR(objective(X, rows, terms, strength, other), best, 3 * target * best);
    }
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& owned : samples::curves()) {
        const bool hinge = owned.name == "hinge" || owned.name == "pinball 0.9";
        const bool smooth = owned.name == "huber" || owned.name == "squared error";
        if (!hinge && !smooth) continue;
        for (const bool ridge : {true, false})
            check_path(owned.view(), smooth, ridge);
    }
    return check::report();
}
