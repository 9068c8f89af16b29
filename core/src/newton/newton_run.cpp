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

const FrozenTerms kNothingFrozen;
constexpr double kFirstGrowth = 10.0, kLeastGrowth = 0.1, kMostGrowth = 1e6;  // of the rows
constexpr double kColumnGrowth = 100.0;  // columns end on their kinks whatever the target
constexpr double kRowShare = 0.4;  // of the target: what the envelopes should leave in the rows
constexpr double kRowsMost = 0.7;  // of the target: beyond, they are made stiffer at once
constexpr double kStiffen = 4.0;   // by so much at most
constexpr double kRelax = 1.5;     // change of stiffness from one strength to the next, at most
constexpr double kBalance = 0.2;   // cost of a multiplier moved to balance the intercept
constexpr double kFreeRoom = 0.3;  // of their weight: room of rows on their kinks
constexpr double kPathInnerShare = 0.02;  // Newton decrement against what the outer step moved
constexpr double kScaled = 0.5;           // of the gap: what multipliers to scale may leave
constexpr double kWeak = 1e-2;            // of the rows' stiffness: columns that may need help
constexpr double kProximal = 1e-6;        // the help, in the same unit

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
        const std::int64_t left = max_steps - out.steps;
        const std::int64_t most = exact_ ? left : std::min(left, schedule_.inner_steps);
        const NewtonProgress inner =
            minimise({most, kInnerShare, exact_ ? target : 0.0}, interrupt);
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
        if (inner.steps == schedule_.inner_steps && !exact_) {
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
        out.failed = out.guards > schedule_.guards;
        if (out.failed) return out;
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

NewtonPath::NewtonPath(NewtonRows& rows, const NewtonTerms& terms, double strength)
    : NewtonLoop(terms, rows, kNothingFrozen, std::vector<double>(terms.scale.size(), 0.0)),
      base_(terms),
      base_strength_(strength),
      strength_(strength),
      user_(b_) {
    growth_ = kColumnGrowth;
    set_row_growth(kFirstGrowth);
    double total = 0;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows.n(); ++i) {
        total += rows.functions().weight[i];
        count += rows.functions().weight[i] > 0;
    }
    mean_weight_ = total / static_cast<double>(std::max<std::int64_t>(count, 1));
}

void NewtonPath::set_row_growth(double growth) {
    row_growth_ = std::clamp(growth, kLeastGrowth, kMostGrowth);
    S_ = terms_.smooth ? kInfinity : row_growth_ * terms_.row_stiffness;
}

void NewtonPath::place(std::span<const double> user, std::span<const double> g) {
    rows_.place(user);
    rows_.set_multiplier(g);
    terms_.shrink(user, b_);
    placed_ = true;
}

void NewtonPath::set_strength(double strength) {
    terms_ = base_.times_strength(strength / base_strength_);
    for (std::int64_t j = 0; j < terms_.order(); ++j)
        proximal_[j] =
            terms_.rho[j] < kWeak * terms_.stiffness ? kProximal * terms_.stiffness : 0.0;
    for (double& multiplier : column_)
        multiplier *= strength / strength_;
    strength_ = strength;
}

// A free intercept asks for multipliers that sum to zero: some will have to move. Rows on their
// kinks hardly cost more then, but they may have too little room.
double NewtonPath::cost_of_balance(double excess) const {
    double room = kInfinity;
    if (!terms_.smooth) room = kFreeRoom * mean_weight_ * static_cast<double>(rows_.n_free());
    const double others = std::max(0.0, excess - room);
    return terms_.argument_scale * (kBalance * (excess - others) + others);
}

// The parts of the gap, relative to the objective. A dual point outside the range of an l1 term
// alone is scaled into it, which costs its share of the objective.
NewtonPath::Gaps NewtonPath::gaps() {
    const RowSums values = rows_.values();
    const NewtonEstimate found = estimate(values);
    const double objective = found.objective;
    const double size = std::max({std::fabs(objective), std::fabs(objective - found.gap), 1e-300});
    double beyond = 0;
    terms_.contract(rows_.image(), user_);
    if (terms_.order() > terms_.d) beyond = cost_of_balance(std::fabs(user_[terms_.d])) / size;
    double outside = 0;
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const std::int64_t j = terms_.kinked[k];
        if (terms_.l1[j] > 0 && terms_.rho[j] == 0)
            outside = std::max(outside, std::fabs(user_[j]) / terms_.l1[j] - 1.0);
    }
    return {(found.gap - found.column_gap) / size, found.column_gap / size + beyond + outside,
            values.loss / size};
}

// Where next to nothing is lost any more, coefficients stay and multipliers follow the strength:
// with a share of them, the rest costs the rows what they lose. Takes that if it leaves less of the
// gap.
NewtonPath::Gaps NewtonPath::with_multipliers_to_scale(double factor, Gaps still) {
    if (terms_.smooth || !(factor < 1) || !((1 - factor) * still.loss < kScaled * still.sum()))
        return still;
    rows_.scale_slopes(factor);
    const Gaps scaled = gaps();
    if (scaled.sum() < kScaled * still.sum()) return scaled;
    rows_.restore_slopes();
    return still;
}

PathStep NewtonPath::move(double strength, double target, std::int64_t max_steps,
                          Interrupt& interrupt) {
    PathStep out{0, kInfinity, false, false};
    const double factor = strength / strength_;
    set_strength(strength);
    if (placed_) {
        rows_.evaluate(0.0, S_);
        terms_.contract(rows_.image(), user_);
        terms_.set_multipliers(b_, user_, column_);
        placed_ = false;
    } else {
        Gaps still = gaps();  // nothing has moved: this needs no product with X
        if (still.sum() > target) still = with_multipliers_to_scale(factor, still);
        out.relative_gap = still.sum();
        if (out.relative_gap <= target) return out;
        rows_.update_multipliers();
    }
    bool updated = false;
    around_ = b_;
    for (std::int64_t allowed = 0;; allowed = 1) {  // the first look takes no step
        const NewtonProgress done = minimise({allowed, kPathInnerShare, 0.0}, interrupt);
        out.steps += done.steps;
        out.failed = done.failed, out.interrupted = done.interrupted;
        const Gaps gap = gaps();
        out.relative_gap = gap.sum();
        const double fit = std::sqrt(gap.rows / (kRowShare * target));
        if (out.relative_gap <= target) {
            // Multipliers of this very strength leave less than those of the one before will.
            const double change = updated ? 1.0 / kRelax : std::clamp(fit, 1.0 / kRelax, kRelax);
            set_row_growth(row_growth_ * change);
            return out;
        }
        if (out.failed || out.interrupted || out.steps >= max_steps) return out;
        if (allowed > 0 && done.decrement <= kPathInnerShare * done.move) {
            update_multipliers();
            updated = true;
        }
        if (gap.rows > kRowsMost * target)
            set_row_growth(row_growth_ * std::clamp(fit, 1.0, kStiffen));
    }
}

void NewtonPath::dual(std::span<double> g) const {
    rows_.dual(g);
    if (terms_.order() > terms_.d) rows_.balance(g);
}

void NewtonPath::coefficients(std::span<double> user) {
    polish(user_);
    terms_.expand(user_, user);
}

}  // namespace rectiline::newton
