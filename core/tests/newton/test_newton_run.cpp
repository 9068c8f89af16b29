// The method of multipliers: it ends at a minimum from soft, stiff and far too stiff starts, goes
// on where it was stopped, and its answers agree whatever the start.
#include "rectiline/newton/newton_run.hpp"
#include "rectiline/support/threads.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace rectiline::newton;
using samples::Dense;
using samples::Matrix;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t n = 90, d = 5;
const FrozenTerms kNothingFrozen;

using Terms = samples::OwnedTerms;

double objective(const Matrix& X, const RowFunctions& rows, const Terms& terms,
                 const std::vector<double>& b) {
    double sum = terms.view.penalty(b);
    for (std::int64_t i = 0; i < n; ++i) {
        double z = 0;
        for (std::int64_t j = 0; j < d; ++j)
            z += X(i, j) * b[j];
        sum += rows.weight[i] * rows.curve(i).loss(rows.direction[i] * z + rows.offset[i]);
    }
    return sum;
}

void check_run(const Curve& curve, bool smooth, double ridge, double pull) {
    const Matrix X(n, d, 3, 1.0);
    const samples::OwnedRows owned(curve, n, 4);
    const RowFunctions rows = owned.view();
    const Dense<double> dense(X, d, 1);
    Terms terms(d, false, ridge, pull);
    terms.view.smooth = smooth;
    terms.view.proximal.assign(d, ridge > 0 ? 0.0 : 0.1);
    const std::vector<double> zero(d, 0.0), column(terms.kinked.size(), 0.0);
    const double target = 1e-8;
    double lowest = kInfinity, highest = -kInfinity;
    for (const double start : {1.0, 30.0, 1e7}) {
        NewtonRows set(dense.view, rows, false);
        set.place(zero);
        set.set_multiplier({});
        const NewtonSchedule schedule{start, 3.0, start > 1e6 ? 40 : 15, 4};
        NewtonRun run(terms.view, set, kNothingFrozen, schedule, 0.0, zero, column, {});
        Interrupt never;
        CHECK(run.solve(0.0, 2, never).steps <= 2);  // stopped early, then gone on with
        NewtonOutcome out = run.solve(target, 500, never);
        CHECK(!out.failed);
        CHECK(run.relative_gap() <= target);
        std::vector<double> b(d);
        run.polish(b);
        run.move_to_polished();
        for (std::int64_t j = 0; j < d; ++j)
            CHECK(run.b()[j] == b[j]);
        const double value = objective(X, rows, terms, b);
        CHECK_NEAR(value, run.objective(), 1e-6 * value);
        lowest = std::min(lowest, value), highest = std::max(highest, value);
        std::vector<double> moved(d);
        Random random(7);
        for (int k = 0; k < 200; ++k) {
            const double size = std::pow(10.0, samples::uniform(random, -5, 0));
            for (std::int64_t j = 0; j < d; ++j)
                moved[j] = b[j] + samples::uniform(random, -size, size);
            CHECK(objective(X, rows, terms, moved) >= value * (1 - 10 * target));
        }
    }
    CHECK_NEAR(lowest, highest, 20 * target * highest);
}

// A start so stiff that Newton's method needs too many steps is stepped back from.
void check_guard(const Curve& curve) {
    const Matrix X(n, d, 5, 1.0);
    const samples::OwnedRows owned(curve, n, 6);
    const Dense<double> dense(X, d, 1);
    const Terms terms(d, false, 1e-3, 0.0);
    const std::vector<double> zero(d, 0.0), column(terms.kinked.size(), 0.0);
    NewtonRows set(dense.view, owned.view(), false);
    set.place(zero);
    set.set_multiplier({});
    NewtonRun run(terms.view, set, kNothingFrozen, {1e7, 3.0, 2}, 0.0, zero, column, {});
    Interrupt never;
    const NewtonOutcome out = run.solve(1e-12, 400, never);
    CHECK(out.guards > 0);
    CHECK(run.growth() < 1e7);
}

// Numbers that are none end the method at once, whatever the number of steps that is allowed.
void check_nan(const Curve& curve) {
    const Matrix X(n, d, 5, 1.0);
    const samples::OwnedRows owned(curve, n, 6);
    const Dense<double> dense(X, d, 1);
    const Terms terms(d, false, 1.0, 0.0);
    std::vector<double> start(d, std::numeric_limits<double>::quiet_NaN());
    NewtonRows set(dense.view, owned.view(), false);
    set.place(start);
    set.set_multiplier({});
    NewtonRun run(terms.view, set, kNothingFrozen, {1.0, 3.0, 15}, 0.0, start, {}, {});
    Interrupt never;
    const NewtonOutcome out = run.solve(1e-8, 1'000'000'000, never);
    CHECK(out.failed && out.steps <= 15);
}

// Many rows in several threads: equal bits.
void check_threads(const Curve& curve, bool smooth) {
    constexpr std::int64_t many = 60'000;
    const Matrix X(many, d, 3, 1.0);
    const samples::OwnedRows owned(curve, many, 4);
    const Dense<double> dense(X, d, 1);
    Terms terms(d, false, 1.0, 0.0);
    terms.view.smooth = smooth;
    const std::vector<double> zero(d, 0.0);
    std::vector<double> found[2];
    for (const int threads : {1, 3}) {
        rectiline::support::set_thread_count(threads);
        NewtonRows set(dense.view, owned.view(), false);
        set.place(zero);
        set.set_multiplier({});
        NewtonRun run(terms.view, set, kNothingFrozen, {1.0, 3.0, 15}, 0.0, zero, {}, {});
        Interrupt never;
        CHECK(!run.solve(1e-4, 30, never).failed);
        const auto b = run.b();
        found[threads > 1].assign(b.begin(), b.end());
    }
    rectiline::support::set_thread_count(1);
    CHECK(found[0] == found[1]);
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& owned : samples::curves()) {
        const bool kinked = owned.name == "hinge" || owned.name == "pinball 0.9";
        const bool smooth = owned.name == "huber" || owned.name == "squared error";
        if (!kinked && !smooth) continue;
        check_run(owned.view(), smooth, 1.0, 0.0);
        check_run(owned.view(), smooth, 0.0, 2.0);
        check_run(owned.view(), smooth, 0.5, 1.0);
        if (kinked) check_guard(owned.view());
        check_nan(owned.view());
        check_threads(owned.view(), smooth);
    }
    return check::report();
}
