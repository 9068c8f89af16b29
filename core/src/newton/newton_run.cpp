#include "rectiline/newton/newton_run.hpp"

#include <cassert>
#include <utility>

namespace rectiline::newton {
namespace {

constexpr double kInnerShare = 0.05;  // Newton decrement against what the outer step moved
constexpr double kLargestGrowth = 1e8, kLoosest = 1e12;
constexpr double kStiff = 1e5;
constexpr int kMostWorse = 8;  // outer steps in a row without a smaller gap, at a growth so stiff
constexpr double kLoosen = 100.0;  // of the proximal term, while it is most of the gap

}  // namespace

NewtonRun::NewtonRun(NewtonTerms terms, NewtonRows& rows, const FrozenTerms& frozen,
                     NewtonSchedule schedule, double reference, std::span<const double> b,
                     std::span<const double> column, std::span<const double> constraint)
    : NewtonLoop(std::move(terms), rows, frozen, b),
      schedule_(schedule),
      reference_(reference),
      exact_(terms_.smooth && terms_.n_kinked() == 0 && terms_.n_constraints() == 0) {
    assert(column.size() == column_.size() && constraint.size() == constraint_.size());
    std::copy(column.begin(), column.end(), column_.begin());
    std::copy(constraint.begin(), constraint.end(), constraint_.begin());
    set_growth(schedule.start);
}

void NewtonRun::set_growth(double growth) {
    growth_ = std::min(growth, kLargestGrowth);
    for (std::size_t j = 0; j < proximal_.size(); ++j)
        proximal_[j] = terms_.proximal[j] / (growth_ * looseness_);
    S_ = terms_.smooth ? kInfinity : growth_ * terms_.row_stiffness;
}

NewtonProgress NewtonRun::minimise(std::int64_t max_steps, double target, Interrupt& interrupt) {
    const std::int64_t most = std::min(max_steps, schedule_.inner_steps);
    return NewtonLoop::minimise({most, kInnerShare, exact_ ? target : 0.0}, interrupt);
}

void NewtonRun::estimate(RowSums sums) {
    const NewtonEstimate found = NewtonLoop::estimate(sums);
    gap_ = found.gap, column_gap_ = found.column_gap, objective_ = found.objective;
}

double NewtonRun::relative_gap() const {
    const double size = std::max({std::fabs(objective_), std::fabs(objective_ - gap_), reference_});
    return gap_ / std::max(size, 1e-300);
}

NewtonOutcome NewtonRun::solve(double target, std::int64_t max_steps, Interrupt& interrupt) {
    NewtonOutcome out{0, 0, false};
    double last = kInfinity, best = kInfinity;
    int worse = 0;
    if (std::isfinite(gap_)) {  // called again: what it ended with was not good enough
        update_multipliers();
        set_growth(schedule_.factor * growth_);
    }
    for (;;) {
        const NewtonProgress inner = minimise(max_steps - out.steps, target, interrupt);
        out.steps += inner.steps;
        out.failed = inner.failed;
        estimate(rows_.values());
        const double relative = relative_gap();
        out.failed = out.failed || std::isnan(relative);
        if (relative <= target || out.failed || inner.interrupted ||
            interrupt.poll(2 * rows_.n() * terms_.order()) || out.steps >= max_steps)
            return out;
        update_multipliers();
        if (column_gap_ > 0.5 * gap_) looseness_ = std::min(kLoosen * looseness_, kLoosest);
        double growth = growth_;
        if (inner.steps >= schedule_.inner_steps) {
            ++out.guards;
            growth /= std::pow(schedule_.factor, 1.5);
        } else if (relative > 0.1 * last) {
            growth *= schedule_.factor;
        }
        set_growth(growth);
        last = relative;
        worse = relative < best || growth_ < kStiff ? 0 : worse + 1;
        best = std::min(best, relative);
        if (worse >= kMostWorse) {  // stiffer terms only add rounding now
            out.failed = true;
            return out;
        }
        if (out.guards > schedule_.guards) return out;
    }
}

void NewtonRun::move_to_polished() {
    std::vector<double> moved(b_.size());
    polish(moved);
    b_.swap(moved);
}

void NewtonRun::constraint_multipliers(std::span<double> xi) const {
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r)
        xi[r] = constraint_slope(r, terms_.constraint_value(r, b_));
}

}  // namespace rectiline::newton
