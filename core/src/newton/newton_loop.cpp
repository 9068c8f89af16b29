#include "rectiline/newton/newton_loop.hpp"

#include "rectiline/newton/line_search.hpp"

#include <cassert>
#include <utility>

namespace rectiline::newton {
namespace {

constexpr double kNothing = 1e-30;       // a decrement that is rounding
constexpr double kExactShare = 0.02;     // of the goal, for the decrement before the last step
constexpr double kLooseShare = 2.0;      // the same where steps only gain a factor each
constexpr double kFreeCurvature = 1e-3;  // of an intercept that no row holds, of their stiffness
constexpr double kGradientShare = 0.5;   // of the goal, for the gap left by the gradient

}  // namespace

NewtonLoop::NewtonLoop(NewtonTerms terms, NewtonRows& rows, const FrozenTerms& frozen,
                       std::span<const double> b)
    : terms_(std::move(terms)),
      rows_(rows),
      frozen_(frozen),
      b_(b.begin(), b.end()),
      around_(b_),
      proximal_(b_.size()),
      column_(terms_.kinked.size(), 0.0),
      constraint_(terms_.offset.size(), 0.0),
      gradient_(b_.size()),
      direction_(b_.size()),
      user_(b_.size()),
      diagonal_(b_.size()),
      value_(constraint_.size()),
      change_(constraint_.size()) {
    assert(std::ssize(b) == terms_.order() && rows.order() == terms_.order());
}

NewtonProgress NewtonLoop::minimise(const NewtonGoal& goal, Interrupt& interrupt) {
    const std::int64_t p = terms_.order();
    double move = rows_.evaluate(0.0, S_), decrement = kInfinity;
    objective_known_ = kInfinity;
    NewtonProgress progress{0, false, false, kInfinity, 0.0};
    for (;;) {
        set_gradient();
        if (progress.steps >= goal.max_steps) {
            progress.move = move + central_move();
            return progress;
        }
        if (progress.steps > 0 && is_near(goal, decrement, move)) return progress;
        if (!set_direction(interrupt)) {
            progress.interrupted = interrupt.stopped();
            progress.failed = !progress.interrupted;
            return progress;
        }
        ++progress.steps;
        decrement = -0.5 * dot(gradient_.data(), direction_.data(), p);
        progress.decrement = decrement;
        if (!(decrement > 0)) return progress;
        terms_.expand(direction_, user_);
        rows_.set_direction(user_);
        const double step = search(decrement);
        axpy(step, direction_.data(), b_.data(), p);
        move = rows_.evaluate(step, S_);
        if (interrupt.poll(4 * rows_.n() * p)) {
            progress.interrupted = true;
            return progress;
        }
    }
}

// Whether the minimisation is as good as the multipliers deserve, or, where it must be exact, as
// good as the goal: by the decrement before the last step, or by the gap that the gradient leaves
// in strongly convex columns, which needs no new matrix.
bool NewtonLoop::is_near(const NewtonGoal& goal, double decrement, double move) {
    if (decrement <= kNothing) return true;
    if (goal.gap == 0) return decrement <= goal.share * (move + central_move());
    double left = 0;
    for (std::int64_t j = 0; j < terms_.order(); ++j) {
        const double curvature = j < terms_.d ? terms_.rho[j] : rows_.curvature();
        left += curvature > 0 ? 0.5 * gradient_[j] * gradient_[j] / curvature : kInfinity;
    }
    const double share = system_.is_loose() ? kLooseShare : kExactShare;
    const double size = std::min(decrement / share, left / kGradientShare);
    // The objective known is an older one, which is no smaller: look again before saying yes.
    if (size > goal.gap * std::fabs(objective_known_)) return false;
    objective_known_ = rows_.values().loss + terms_.penalty(b_);
    return size <= goal.gap * std::fabs(objective_known_);
}

void NewtonLoop::set_gradient() {
    terms_.contract(rows_.image(), gradient_);
    for (std::int64_t j = 0; j < terms_.order(); ++j)
        gradient_[j] += terms_.rho[j] * b_[j] + proximal_[j] * (b_[j] - around_[j]);
    frozen_.add_gradient(b_, gradient_);
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const std::int64_t j = terms_.kinked[k];
        gradient_[j] += kink(k, b_[j]).slope;
    }
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r) {
        value_[r] = terms_.constraint_value(r, b_);
        const double xi = constraint_slope(r, value_[r]);
        if (xi != 0) axpy(-xi, terms_.row(r), gradient_.data(), terms_.order());
    }
}

bool NewtonLoop::set_direction(Interrupt& interrupt) {
    for (std::int64_t j = 0; j < terms_.order(); ++j) {
        diagonal_[j] = terms_.rho[j] + proximal_[j];
        gradient_[j] = -gradient_[j];
    }
    // No row holds the intercept: the search along the line finds how far it has to go.
    if (terms_.smooth && terms_.order() > terms_.d && rows_.n_free() == 0)
        diagonal_.back() += kFreeCurvature * terms_.stiffness;
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const std::int64_t j = terms_.kinked[k];
        if (kink(k, b_[j]).held) diagonal_[j] += terms_.column_stiffness[k] * growth_;
    }
    active_.clear();
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r)
        if (terms_.equality[r] || constraint_slope(r, value_[r]) > 0) active_.push_back(r);
    const double constraint_weight = growth_ * terms_.constraint_stiffness;
    const bool is_smooth = terms_.smooth && terms_.n_kinked() == 0;
    const bool solved =
        system_.solve({rows_, terms_, frozen_, diagonal_, active_, constraint_weight, is_smooth},
                      gradient_, direction_, interrupt);
    for (double& entry : gradient_)
        entry = -entry;
    return solved;
}

double NewtonLoop::search(double decrement) {
    const double* direction = direction_.data();
    const std::int64_t p = terms_.order();
    double constant = 0, slope = frozen_.curvature_along(direction_);
    for (std::int64_t j = 0; j < p; ++j) {
        constant += direction[j] * (terms_.rho[j] * b_[j] + proximal_[j] * (b_[j] - around_[j]));
        slope += direction[j] * direction[j] * (terms_.rho[j] + proximal_[j]);
    }
    if (!frozen_.linear.empty()) {
        std::fill(user_.begin(), user_.end(), 0.0);
        frozen_.add_gradient(b_, user_);
        constant += dot(user_.data(), direction, p);
    }
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r)
        change_[r] = dot(terms_.row(r), direction, p);

    const auto derivative = [&](double step) {
        double total = constant + step * slope + rows_.derivative(step, S_);
        for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
            const std::int64_t j = terms_.kinked[k];
            total += direction[j] * kink(k, b_[j] + step * direction[j]).slope;
        }
        for (std::int64_t r = 0; r < terms_.n_constraints(); ++r)
            total -= change_[r] * constraint_slope(r, value_[r] + step * change_[r]);
        return total;
    };
    return search_step(derivative, -2 * decrement);
}

double NewtonLoop::central_move() const {
    double move = 0;
    for (std::int64_t j = 0; j < terms_.order(); ++j) {
        const double away = b_[j] - around_[j];
        move += 0.5 * proximal_[j] * away * away;
    }
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const double change = kink(k, b_[terms_.kinked[k]]).slope - column_[k];
        move += 0.5 * change * change / (terms_.column_stiffness[k] * growth_);
    }
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r) {
        const double change = constraint_slope(r, value_[r]) - constraint_[r];
        move += 0.5 * change * change / (terms_.constraint_stiffness * growth_);
    }
    return move;
}

NewtonEstimate NewtonLoop::estimate(RowSums sums) {
    std::vector<double>& pull = gradient_;
    terms_.contract(rows_.image(), pull);
    frozen_.add_gradient(b_, pull);
    double gap = sums.fenchel_young;
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r) {
        const double value = terms_.constraint_value(r, b_), xi = constraint_slope(r, value);
        axpy(-xi, terms_.row(r), pull.data(), terms_.order());
        gap += std::fabs(xi * value);
    }
    for (double& entry : pull)
        entry = -entry;
    const double columns = terms_.column_gap(b_, pull, terms_.smooth ? rows_.curvature() : 0.0);
    return {gap + columns, columns, sums.loss + terms_.penalty(b_)};
}

void NewtonLoop::update_multipliers() {
    rows_.update_multipliers();
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k)
        column_[k] = kink(k, b_[terms_.kinked[k]]).slope;
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r)
        constraint_[r] = constraint_slope(r, terms_.constraint_value(r, b_));
    around_ = b_;
}

void NewtonLoop::polish(std::span<double> b) const {
    std::copy(b_.begin(), b_.end(), b.begin());
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k)
        b[terms_.kinked[k]] = kink(k, b_[terms_.kinked[k]]).target;
}

}  // namespace rectiline::newton
