// Problems with kinks along a path, against the plain definition: every pair has the gap that it
// claims, and its coefficients are as good as those of another method at a smaller target.
#include "rectiline/path/linear_path.hpp"
#include "rectiline/path/newton_path.hpp"
#include "rectiline/support/dense_algebra.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace rectiline::path;
using samples::Dense;
using samples::Matrix;

namespace {

constexpr std::int64_t n = 150, d = 7;

struct Setting {
    Matrix X{n, d, 5, 1.0};
    Dense<double> dense{X, d, 1};
    samples::OwnedRows owned;
    bool intercept;
    double ridge;
    std::vector<double> scale, center, l1;

    Setting(const Curve& curve, bool with_intercept, double pull = 1.0, double with_ridge = 0.0)
        : owned(curve, n, 6), intercept(with_intercept), ridge(with_ridge) {
        for (std::int64_t j = 0; j < d; ++j) {
            scale.push_back(0.5 + 0.25 * static_cast<double>(j));
            center.push_back(0.1 * static_cast<double>(j) - 0.3);
            l1.push_back(j % 2 == 0 ? pull : 0.7 * pull);  // in the user's units
        }
        if (intercept) scale.push_back(1.0);
    }
    double prediction(std::int64_t i, const std::vector<double>& b) const {
        double z = intercept ? b[d] : 0.0;
        for (std::int64_t j = 0; j < d; ++j)
            z += X(i, j) * b[j];
        return z;
    }
    double primal(double strength, const std::vector<double>& b) const {
        const RowFunctions rows = owned.view();
        double sum = 0;
        for (std::int64_t i = 0; i < n; ++i)
            sum += rows.weight[i] *
                   rows.curve(i)(rows.direction[i] * prediction(i, b) + rows.offset[i]);
        for (std::int64_t j = 0; j < d; ++j)
            sum += strength * (l1[j] * std::fabs(b[j]) + 0.5 * ridge * b[j] * b[j]);
        return sum;
    }
    // What slopes in the predictions prove: scaled into the range of the penalty, if that ends.
    double dual(double strength, const std::vector<double>& g, double& unbalanced) const {
        const RowFunctions rows = owned.view();
        double share = 1, fixed = 0, moved = 0, paid = 0;
        unbalanced = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            double pull = 0;
            for (std::int64_t i = 0; i < n; ++i)
                pull += X(i, j) * g[i];
            const double beyond = std::max(std::fabs(pull) - strength * l1[j], 0.0);
            if (ridge > 0)
                paid += 0.5 * beyond * beyond / (strength * ridge);
            else
                share = std::min(share, strength * l1[j] / std::max(std::fabs(pull), 1e-300));
        }
        for (std::int64_t i = 0; i < n; ++i) {
            CHECK(rows.weight[i] > 0 || g[i] == 0.0);
            if (rows.weight[i] == 0) continue;
            const Curve& f = rows.curve(i);
            const double s = rows.direction[i] * g[i] / rows.weight[i];
            CHECK(s >= f.lowest_slope() - 1e-12 && s <= f.highest_slope() + 1e-12);
            fixed += rows.weight[i] * f.value[0];
            moved += rows.weight[i] * s * (rows.offset[i] - f.knot[0]);
            unbalanced += g[i];
        }
        return fixed + share * moved - paid;
    }
};

void check_path(const Curve& curve, bool intercept, double pull, double ridge) {
    const Setting one(curve, intercept, pull, ridge);
    const RowFunctions rows = one.owned.view();
    samples::OwnedTerms terms(d, intercept, ridge, pull), plain(d, intercept, ridge, pull);
    for (std::int64_t j = 0; j < d; ++j) {
        terms.l1[j] = one.l1[j] * one.scale[j], plain.l1[j] = one.l1[j];
        terms.rho[j] = ridge * one.scale[j] * one.scale[j];
    }
    terms.view.scale = one.scale.data();
    if (intercept) terms.view.center = one.center.data();
    LinearPath path(one.dense.view, rows, terms.view, 1.0, 1);
    NewtonRows set(one.dense.view, rows, intercept, 1);
    NewtonPath exact(set, plain.view, 1.0, {1.0, static_cast<double>(n), 1.0, false});
    const std::size_t p = static_cast<std::size_t>(d + intercept);
    std::vector<double> b(p, 0.0), best(p), g(static_cast<std::size_t>(n), 0.0);
    path.place(b.data());
    exact.place(b.data(), g.data(), nullptr);
    Interrupt never;
    const double target = 1e-3;
    for (const double strength : {30.0, 20.0, 14.0, 9.0, 6.0, 3.0, 1.0, 0.3}) {
        const LinearStep step = path.move(strength, target, 100, never);
        CHECK(!step.failed && !step.interrupted);
        CHECK(step.relative_gap <= target && step.steps <= 60);
        path.coefficients(b.data());
        path.dual(g.data());
        double unbalanced;
        const double primal = one.primal(strength, b), proof = one.dual(strength, g, unbalanced);
        if (!intercept) unbalanced = 0;
        CHECK((primal - proof) <= 1.0001 * target * primal + 1e-9);
        CHECK(std::fabs(unbalanced) <= target * primal);
        CHECK(exact.move(strength, 1e-7, 2000, never).relative_gap <= 1e-7);
        exact.coefficients(best.data());
        const double least = one.primal(strength, best);
        CHECK(primal <= least * (1 + 1.01 * target));
        // The other method puts columns on their kinks, which costs it more with both terms.
        CHECK(primal >= least * (1 - (ridge > 0 && pull > 0 ? target : 1e-6)));
    }
}

void check_interruption(const Curve& curve) {
    const Setting one(curve, true);
    const samples::OwnedTerms terms(d, true, 0.0, 1.0);
    LinearPath path(one.dense.view, one.owned.view(), terms.view, 1.0, 1);
    const std::vector<double> zero(static_cast<std::size_t>(d + 1), 0.0);
    path.place(zero.data());
    Interrupt now([](void*) { return true; }, nullptr);
    now.poll(std::int64_t{1} << 30);
    const LinearStep step = path.move(5.0, 1e-3, 100, now);
    CHECK(step.interrupted && step.steps == 1);
    // and none at all where no step is allowed
    Interrupt never;
    CHECK(path.move(5.0, 1e-3, 0, never).steps == 0);
    CHECK(path.move(4.0, 1e-9, 3, never).steps == 3);
}

void check_rows(const Curve& curve) {
    const Setting one(curve, true);
    const samples::OwnedTerms terms(d, true, 0.0, 1.0);
    const KinkedRows rows(one.dense.view, one.owned.view(), terms.view, 1);
    std::vector<double> b(static_cast<std::size_t>(d + 1)), v(static_cast<std::size_t>(rows.n()));
    std::vector<double> a(v.size()), da(v.size()), g(b.size()), moved(b);
    Random random(11);
    for (double& entry : b)
        entry = samples::uniform(random, -1, 1);
    rows.arguments(b.data(), a.data());
    CHECK_NEAR(rows.loss(b.data(), a.data()), one.primal(0.0, b), 1e-10);
    // Slopes against differences of the loss; soft ones end in those of the kinks.
    for (double& entry : moved)
        entry = samples::uniform(random, -1, 1);
    rows.change(moved.data(), da.data());
    const double along = dot(rows.linear().data(), moved.data(), d + 1), tiny = 1e-7;
    std::vector<double> there(b);
    for (std::int64_t j = 0; j <= d; ++j)
        there[j] += tiny * moved[j];
    const double slope = (one.primal(0.0, there) - one.primal(0.0, b)) / tiny;
    CHECK_NEAR(along + rows.slope(a.data(), da.data(), 0.0), slope, 1e-5);
    CHECK_NEAR(rows.soft_slope(a.data(), da.data(), 0.0, 1e-12),
               rows.slope(a.data(), da.data(), 0.0), 1e-9);
    rows.soft_multipliers(a.data(), 0.3, v.data());
    rows.pull(v.data(), g.data());
    CHECK_NEAR(dot(g.data(), moved.data(), d + 1),
               along + rows.soft_slope(a.data(), da.data(), 0.0, 0.3), 1e-9);
}

void check_system(const Curve& curve) {
    const Setting one(curve, true);
    const samples::OwnedTerms terms(d, true, 0.0, 1.0);
    const KinkedRows rows(one.dense.view, one.owned.view(), terms.view, 1);
    const std::int64_t p = d + 1;
    std::vector<std::int64_t> which;
    std::vector<double> weight, stiffness(static_cast<std::size_t>(p), 0.5), right, x(stiffness);
    for (std::int64_t i = 0; i < rows.n(); i += 2)
        which.push_back(i), weight.push_back(0.1 + 0.01 * static_cast<double>(i));
    double curvature = 0;
    for (const double one_weight : weight)
        curvature += one_weight;
    stiffness[2] = 1e3 * curvature;  // idle, unless all are asked for
    for (std::int64_t j = 0; j < p; ++j)
        right.push_back(static_cast<double>(j) - 2.5);
    for (const bool all : {true, false}) {
        BusySystem system;
        CHECK(system.set(rows.row(0), rows.stride(), p, which, weight.data(), stiffness.data(), 0.0,
                         0.0, all));
        system.solve(right.data(), x.data());
        if (!all) CHECK_NEAR(x[2], right[2] / (stiffness[2] + curvature), 1e-15);
        for (std::int64_t i = 0; i < p; ++i) {
            if (!all && i == 2) continue;
            double left = stiffness[i] * x[i] - right[i];
            for (std::size_t k = 0; k < which.size(); ++k)
                for (std::int64_t j = 0; j < p; ++j)
                    if (all || j != 2)
                        left += weight[k] * rows.row(which[k])[i] * rows.row(which[k])[j] * x[j];
            CHECK_NEAR(left, 0.0, 1e-9);
        }
    }
    BusySystem system;  // no rows and no stiffness
    std::fill(stiffness.begin(), stiffness.end(), 0.0);
    CHECK(
        !system.set(rows.row(0), rows.stride(), p, {}, nullptr, stiffness.data(), 0.0, 0.0, true));
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& owned : samples::curves()) {
        const Curve curve = owned.view();
        const samples::OwnedRows rows(curve, n, 6);
        const std::string& name = owned.name;
        const bool kinked = name == "hinge" || name == "absolute" || name == "pinball 0.9";
        CHECK(KinkedRows::accepts(rows.view()) == kinked);
        if (!kinked) continue;
        for (const bool intercept : {true, false})
            for (const double ridge : {0.0, 0.4, 20.0})
                for (const double pull : {1.0, 0.0})
                    if (ridge + pull > 0) check_path(curve, intercept, pull, ridge);
        check_rows(curve);
        check_system(curve);
        check_interruption(curve);
    }
    return check::report();
}
