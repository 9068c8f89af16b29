#include "rectiline/newton/newton_run.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace rectiline::newton {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kInnerShare = 0.05;  // Newton decrement against what the outer step moved
constexpr double kLargestGrowth = 1e8, kLoosest = 1e12;
constexpr double kStiff = 1e5;
constexpr int kMostWorse = 8;  // outer steps in a row without a smaller gap, at a growth so stiff
constexpr double kLoosen = 100.0;    // of the proximal term, while it is most of the gap
constexpr std::int64_t kGuards = 4;  // outer steps that took too many inner ones, at most

}  // namespace

NewtonRun::NewtonRun(NewtonLoop& loop, NewtonRows& rows, FrozenTerms frozen,
                     NewtonRunOptions options, std::span<const double> b,
                     std::span<const double> column, std::span<const double> constraint)
    : loop_(loop),
      rows_(rows),
      frozen_(frozen),
      options_(options),
      exact_(options.smooth && loop.terms().n_kinked() == 0 && loop.terms().n_constraints() == 0),
      b_(b.begin(), b.end()),
      around_(b_),
      column_(column.begin(), column.end()),
      constraint_(constraint.begin(), constraint.end()),
      next_column_(column_.size()),
      next_constraint_(constraint_.size()),
      proximal_(b_.size()),
      growth_(options.schedule.start) {
    assert(std::ssize(b) == loop.terms().order() && options.proximal.size() == b.size());
    assert(std::ssize(column) == loop.terms().n_kinked());
    assert(std::ssize(constraint) == loop.terms().n_constraints());
}

void NewtonRun::set_schedule(NewtonSchedule schedule) {
    options_.schedule = schedule;
    growth_ = schedule.start;
}

NewtonPoint NewtonRun::point() {
    for (std::size_t j = 0; j < proximal_.size(); ++j)
        proximal_[j] = options_.proximal[j] / (growth_ * looseness_);
    const double S = options_.smooth ? kInfinity : growth_ * options_.row_stiffness;
    return {b_, around_, column_, constraint_, proximal_, growth_, S};
}

NewtonProgress NewtonRun::minimise(std::int64_t max_steps, double target, Interrupt& interrupt) {
    const std::int64_t most = std::min(max_steps, options_.schedule.inner_steps);
    return loop_.minimise(rows_, frozen_, point(), {most, kInnerShare, exact_ ? target : 0.0},
                          interrupt);
}

void NewtonRun::estimate(RowValues sums) {
    const NewtonEstimate found = loop_.estimate(rows_, frozen_, point(), sums);
    gap_ = found.gap, column_gap_ = found.column_gap, objective_ = found.objective;
}

double NewtonRun::relative_gap() const {
    const double size =
        std::max({std::fabs(objective_), std::fabs(objective_ - gap_), options_.reference});
    return gap_ / std::max(size, 1e-300);
}

void NewtonRun::update_multipliers() {
    rows_.update_multipliers();
    loop_.slopes(point(), next_column_, next_constraint_);
    column_.swap(next_column_);
    constraint_.swap(next_constraint_);
    around_ = b_;
}

void NewtonRun::grow() {
    growth_ = std::min(growth_ * options_.schedule.factor, kLargestGrowth);
}

NewtonOutcome NewtonRun::solve(double target, std::int64_t max_steps, Interrupt& interrupt) {
    NewtonOutcome out{0, 0, false};
    double last = kInfinity, best = kInfinity;
    int worse = 0;
    if (std::isfinite(gap_)) {  // called again: what it ended with was not good enough
        update_multipliers();
        grow();
    }
    for (;;) {
        const NewtonProgress inner = minimise(max_steps - out.steps, target, interrupt);
        out.steps += inner.steps;
        out.failed = inner.failed;
        estimate(rows_.values());
        const double relative = relative_gap();
        out.failed = out.failed || std::isnan(relative);
        if (relative <= target || out.failed || inner.interrupted ||
            interrupt.poll(2 * rows_.n() * loop_.terms().order()) || out.steps >= max_steps)
            return out;
        update_multipliers();
        if (column_gap_ > 0.5 * gap_) looseness_ = std::min(kLoosen * looseness_, kLoosest);
        if (inner.steps >= options_.schedule.inner_steps) {
            ++out.guards;
            growth_ /= std::pow(options_.schedule.factor, 1.5);
        } else if (relative > 0.1 * last) {
            grow();
        }
        last = relative;
        worse = relative < best || growth_ < kStiff ? 0 : worse + 1;
        best = std::min(best, relative);
        if (worse >= kMostWorse) {  // stiffer terms only add rounding now
            out.failed = true;
            return out;
        }
        if (out.guards > kGuards) return out;
    }
}

double NewtonRun::look(Interrupt& interrupt) {
    minimise(0, 1.0, interrupt);
    estimate(rows_.values());
    const double relative = relative_gap();
    gap_ = kInfinity;  // nothing has been solved yet
    return relative;
}

void NewtonRun::polish(std::span<double> b) {
    loop_.polish(point(), b);
}

void NewtonRun::move_to_polished() {
    std::vector<double> moved(b_.size());
    polish(moved);
    b_.swap(moved);
}

void NewtonRun::constraint_multipliers(std::span<double> xi) {
    loop_.slopes(point(), next_column_, xi);
}

}  // namespace rectiline::newton
