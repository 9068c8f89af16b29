// Steps on the free duals: the dual falls, q and b follow, clipped duals land on their ends, and
// repeated steps solve a smooth dual.
#include "rectiline/rehline/rehline.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace rectiline::rehline;
using samples::Dense;
using samples::Matrix;
using samples::uniform;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kRows = 6, kColumns = 9;

// phi*(s) = max_t s t - phi(t), over the knots and the points of slope s on curved pieces.
double conjugate(const rectiline::rows::Curve& f, double s) {
    if (s < f.lowest_slope() - 1e-12 || s > f.highest_slope() + 1e-12) return kInfinity;
    double best = -kInfinity;
    const auto look = [&](double t) { best = std::max(best, s * t - f.loss(t)); };
    for (std::int64_t k = 0; k < f.n_knots; ++k) {
        look(f.knot[k]);
        if (f.curvature[k] > 0) look(f.knot[k] + (s - f.left[k]) / f.curvature[k]);
        if (f.curvature[k + 1] > 0) look(f.knot[k] + (s - f.right[k]) / f.curvature[k + 1]);
    }
    return best;
}

struct Fixture {
    Matrix X{kRows, kColumns, 5, 1.0};
    Dense<double> dense{X, kColumns, 1};
    samples::OwnedCurve curve;
    rectiline::rows::Curve view;
    samples::OwnedRows rows;
    std::vector<double> rho, l1, lower, upper, a, q, coef;
    std::vector<std::int64_t> active;

    Fixture(const samples::OwnedCurve& chosen, double sparse, double low, double high)
        : curve(chosen),
          view(curve.view()),
          rows(view, kRows, 8),
          rho(kColumns, 0.7),
          l1(kColumns, sparse),
          lower(kColumns, -kInfinity),
          upper(kColumns, kInfinity),
          active(kRows) {
        std::iota(active.begin(), active.end(), std::int64_t{0});
        Random random(6);
        for (std::int64_t i = 0; i < kRows; ++i) {
            rows.weight[i] = uniform(random, 0.5, 2);
            a.push_back(rows.weight[i] * uniform(random, low, high));
        }
        q = follow();
        for (std::int64_t j = 0; j < kColumns; ++j)
            coef.push_back(columns()[j].minimiser(q[j]));
    }
    ColumnFunctions columns() const {
        return {kColumns, rho.data(), l1.data(), lower.data(), upper.data(), l1[0] == 0};
    }
    // q = -X' (direction a), from the definition
    std::vector<double> follow() const {
        std::vector<double> made(kColumns, 0.0);
        for (std::int64_t i = 0; i < kRows; ++i)
            for (std::int64_t j = 0; j < kColumns; ++j)
                made[j] -= X(i, j) * rows.direction[i] * a[i];
        return made;
    }
    // The dual that is minimised: sum_i w_i phi*(a_i / w_i) - a_i offset_i, plus h*(q).
    double dual() const {
        double sum = 0;
        for (std::int64_t i = 0; i < kRows; ++i)
            sum += rows.weight[i] * conjugate(view, a[i] / rows.weight[i]) - a[i] * rows.offset[i];
        for (std::int64_t j = 0; j < kColumns; ++j)
            sum += q[j] * coef[j] - columns().value(j, coef[j]);
        return sum;
    }
    FreeDuals method() { return {dense.view, rows.view(), columns(), 0.0}; }
    FreeDualStep step(FreeDuals& method) {
        Interrupt interrupt;
        return method.step(active, 0.0, 200, a, q, coef, interrupt);
    }
};

samples::OwnedCurve curve_named(const char* name) {
    for (const auto& one : samples::curves())
        if (one.name == name) return one;
    CHECK(false);
    return samples::curves()[0];
}

void check_falls(const char* name, double sparse, double low, double high) {
    Fixture at(curve_named(name), sparse, low, high);
    FreeDuals method = at.method();
    CHECK(method.count(at.active, at.a) == kRows);
    bool ever = false;
    for (int k = 0; k < 30; ++k) {
        const double before = at.dual();
        const FreeDualStep taken = at.step(method);
        ever = ever || taken.improved;
        CHECK(at.dual() <= before + 1e-14 * std::fabs(before));
        CHECK(k > 0 || !taken.improved || at.dual() < before);  // later ones differ by rounding
        const std::vector<double> q = at.follow();
        for (std::int64_t j = 0; j < kColumns; ++j) {
            CHECK_NEAR(at.q[j], q[j], 1e-12);
            CHECK_NEAR(at.coef[j], at.columns()[j].minimiser(at.q[j]), 1e-12);
        }
        for (std::int64_t i = 0; i < kRows; ++i)
            CHECK(std::isfinite(conjugate(at.view, at.a[i] / at.rows.weight[i])));
        if (taken.n_free == 0) break;
    }
    CHECK(ever);
}

// Squared errors on one piece (the knot is far away): at the end a_i / w_i is the argument of row
// i.
void check_solves() {
    Fixture at({"square", {-100}, {5000}, {-100}, {-100}, {1, 1}}, 0.0, 0.2, 1.5);
    FreeDuals method = at.method();
    for (int k = 0; k < 12; ++k)
        at.step(method);
    for (std::int64_t i = 0; i < kRows; ++i) {
        double z = 0;
        for (std::int64_t j = 0; j < kColumns; ++j)
            z += at.X(i, j) * at.coef[j];
        CHECK_NEAR(at.rows.view().argument(i, z), at.a[i] / at.rows.weight[i], 1e-8);
    }
}

// At the ends of their boxes no dual is free, and nothing moves.
void check_ends() {
    Fixture at(curve_named("hinge"), 0.0, -0.9, -0.1);
    for (std::int64_t i = 0; i < kRows; ++i)
        at.a[i] = i % 2 ? 0.0 : -at.rows.weight[i];
    at.q = at.follow();
    const std::vector<double> before = at.a;
    FreeDuals method = at.method();
    const FreeDualStep taken = at.step(method);
    CHECK(taken.n_free == 0 && !taken.improved && at.a == before);
}

}  // namespace

int main() {
    for (const double sparse : {0.0, 0.5}) {
        check_falls("hinge", sparse, -0.9, -0.1);
        check_falls("absolute", sparse, -0.9, 0.9);
        check_falls("squared error", sparse, 0.2, 1.5);
        check_falls("huber", sparse, -0.6, 0.6);
    }
    check_solves();
    check_ends();
    return check::report();
}
