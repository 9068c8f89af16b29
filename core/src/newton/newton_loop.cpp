#include "rectiline/newton/newton_loop.hpp"

#include "rectiline/newton/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rectiline::newton {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNothing = 1e-30;      // a decrement that is rounding
constexpr double kExactShare = 0.02;    // of the goal, for the decrement before the last step
constexpr double kLooseShare = 2.0;     // the same where steps only gain a factor each
constexpr double kGradientShare = 0.5;  // of the goal, for the gap left by the gradient

}  // namespace

NewtonLoop::NewtonLoop(NewtonTerms terms)
    : terms_(terms),
      gradient_(static_cast<std::size_t>(terms.order())),
      direction_(static_cast<std::size_t>(terms.order())),
      user_(static_cast<std::size_t>(terms.order())),
      diagonal_(static_cast<std::size_t>(terms.order())),
      value_(static_cast<std::size_t>(terms.n_constraints())),
      change_(static_cast<std::size_t>(terms.n_constraints())) {}

NewtonProgress NewtonLoop::minimise(NewtonRows& rows, const FrozenTerms& frozen,
                                    const NewtonPoint& at, const NewtonGoal& goal,
                                    Interrupt& interrupt) {
    const std::int64_t p = terms_.order();
    double move = rows.evaluate(0.0, at.S), decrement = kInfinity;
    objective_ = kInfinity;
    NewtonProgress progress{0, false, false, kInfinity, 0.0};
    for (;;) {
        set_gradient(rows, frozen, at);
        if (progress.steps >= goal.max_steps) {
            progress.move = move + central_move(at);
            return progress;
        }
        if (progress.steps > 0 && is_near(rows, at, goal, decrement, move)) return progress;
        if (!set_direction(rows, frozen, at, interrupt)) {
            progress.interrupted = interrupt.stopped();
            progress.failed = !progress.interrupted;
            return progress;
        }
        ++progress.steps;
        decrement = -0.5 * dot(gradient_.data(), direction_.data(), p);
        progress.decrement = decrement;
        if (!(decrement > 0)) return progress;
        terms_.expand(direction_, user_);
        rows.set_direction(user_);
        const double step = search(rows, frozen, at, decrement);
        axpy(step, direction_.data(), at.b.data(), p);
        move = rows.evaluate(step, at.S);
        if (interrupt.poll(4 * rows.n() * p)) {
            progress.interrupted = true;
            return progress;
        }
    }
}

// Whether the minimisation is as good as the multipliers deserve, or, where it must be exact, as
// good as the goal: by the decrement before the last step, or by the gap that the gradient leaves
// in strongly convex columns, which needs no new matrix.
bool NewtonLoop::is_near(const NewtonRows& rows, const NewtonPoint& at, const NewtonGoal& goal,
                         double decrement, double move) {
    if (decrement <= kNothing) return true;
    if (goal.gap == 0) return decrement <= goal.share * (move + central_move(at));
    double left = 0;
    for (std::int64_t j = 0; j < terms_.order(); ++j)
        left += terms_.rho[j] > 0 ? 0.5 * gradient_[j] * gradient_[j] / terms_.rho[j] : kInfinity;
    const double share = system_.is_loose() ? kLooseShare : kExactShare;
    const double size = std::min(decrement / share, left / kGradientShare);
    // The objective known is an older one, which is no smaller: look again before saying yes.
    if (size > goal.gap * std::fabs(objective_)) return false;
    objective_ = rows.values().loss + terms_.penalty(at.b);
    return size <= goal.gap * std::fabs(objective_);
}

void NewtonLoop::set_gradient(NewtonRows& rows, const FrozenTerms& frozen, const NewtonPoint& at) {
    const std::span<const double> b = at.b;
    terms_.contract(rows.image(), gradient_);
    for (std::int64_t j = 0; j < terms_.order(); ++j)
        gradient_[j] += terms_.rho[j] * b[j] + at.proximal[j] * (b[j] - at.around[j]);
    frozen.add_gradient(b, gradient_);
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const std::int64_t j = terms_.kinked[k];
        gradient_[j] += terms_.kink(k, b[j], at.column_multiplier[k], at.growth).slope;
    }
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r) {
        value_[r] = terms_.constraint_value(r, b);
        const double xi =
            terms_.constraint_slope(r, value_[r], at.constraint_multiplier[r], at.growth);
        if (xi != 0) axpy(-xi, terms_.row(r), gradient_.data(), terms_.order());
    }
}

bool NewtonLoop::set_direction(NewtonRows& rows, const FrozenTerms& frozen, const NewtonPoint& at,
                               Interrupt& interrupt) {
    for (std::int64_t j = 0; j < terms_.order(); ++j) {
        diagonal_[j] = terms_.rho[j] + at.proximal[j];
        gradient_[j] = -gradient_[j];
    }
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const std::int64_t j = terms_.kinked[k];
        if (terms_.kink(k, at.b[j], at.column_multiplier[k], at.growth).held)
            diagonal_[j] += terms_.column_stiffness[k] * at.growth;
    }
    active_.clear();
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r) {
        const double xi =
            terms_.constraint_slope(r, value_[r], at.constraint_multiplier[r], at.growth);
        if (terms_.equality[r] || xi > 0) active_.push_back(r);
    }
    const NewtonSystem::Parts parts{rows,
                                    terms_,
                                    frozen,
                                    diagonal_,
                                    active_,
                                    at.growth * terms_.constraint_stiffness,
                                    std::isinf(at.S) && terms_.n_kinked() == 0};
    const bool solved = system_.solve(parts, gradient_, direction_, interrupt);
    for (double& entry : gradient_)
        entry = -entry;
    return solved;
}

double NewtonLoop::search(const NewtonRows& rows, const FrozenTerms& frozen, const NewtonPoint& at,
                          double decrement) {
    const double *b = at.b.data(), *direction = direction_.data();
    const std::int64_t p = terms_.order();
    double constant = 0, slope = frozen.curvature_along(direction_);
    for (std::int64_t j = 0; j < p; ++j) {
        constant += direction[j] * (terms_.rho[j] * b[j] + at.proximal[j] * (b[j] - at.around[j]));
        slope += direction[j] * direction[j] * (terms_.rho[j] + at.proximal[j]);
    }
    if (!frozen.linear.empty()) {
        std::fill(user_.begin(), user_.end(), 0.0);
        frozen.add_gradient(at.b, user_);
        constant += dot(user_.data(), direction, p);
    }
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r)
        change_[r] = dot(terms_.row(r), direction, p);

    const auto derivative = [&](double step) {
        double total = constant + step * slope + rows.derivative(step, at.S);
        for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
            const std::int64_t j = terms_.kinked[k];
            total += direction[j] *
                     terms_.kink(k, b[j] + step * direction[j], at.column_multiplier[k], at.growth)
                         .slope;
        }
        for (std::int64_t r = 0; r < terms_.n_constraints(); ++r)
            total -= change_[r] * terms_.constraint_slope(r, value_[r] + step * change_[r],
                                                          at.constraint_multiplier[r], at.growth);
        return total;
    };
    return search_step(derivative, -2 * decrement);
}

double NewtonLoop::central_move(const NewtonPoint& at) const {
    double move = 0;
    for (std::int64_t j = 0; j < terms_.order(); ++j) {
        const double away = at.b[j] - at.around[j];
        move += 0.5 * at.proximal[j] * away * away;
    }
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const double slope =
            terms_.kink(k, at.b[terms_.kinked[k]], at.column_multiplier[k], at.growth).slope;
        const double change = slope - at.column_multiplier[k];
        move += 0.5 * change * change / (terms_.column_stiffness[k] * at.growth);
    }
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r) {
        const double xi =
            terms_.constraint_slope(r, value_[r], at.constraint_multiplier[r], at.growth);
        const double change = xi - at.constraint_multiplier[r];
        move += 0.5 * change * change / (terms_.constraint_stiffness * at.growth);
    }
    return move;
}

NewtonEstimate NewtonLoop::estimate(NewtonRows& rows, const FrozenTerms& frozen,
                                    const NewtonPoint& at, RowValues sums) {
    const std::int64_t p = terms_.order();
    std::vector<double>& pull = gradient_;
    terms_.contract(rows.image(), pull);
    frozen.add_gradient(at.b, pull);
    double gap = sums.fenchel_young;
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r) {
        const double value = terms_.constraint_value(r, at.b);
        const double xi = terms_.constraint_slope(r, value, at.constraint_multiplier[r], at.growth);
        axpy(-xi, terms_.row(r), pull.data(), p);
        gap += std::fabs(xi * value);
    }
    for (double& entry : pull)
        entry = -entry;
    const double columns = terms_.column_gap(at.b, pull);
    return {gap + columns, columns, sums.loss + terms_.penalty(at.b)};
}

void NewtonLoop::slopes(const NewtonPoint& at, std::span<double> column,
                        std::span<double> constraint) const {
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k)
        column[k] =
            terms_.kink(k, at.b[terms_.kinked[k]], at.column_multiplier[k], at.growth).slope;
    for (std::int64_t r = 0; r < terms_.n_constraints(); ++r)
        constraint[r] = terms_.constraint_slope(r, terms_.constraint_value(r, at.b),
                                                at.constraint_multiplier[r], at.growth);
}

void NewtonLoop::polish(const NewtonPoint& at, std::span<double> b) const {
    std::copy(at.b.begin(), at.b.end(), b.begin());
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const std::int64_t j = terms_.kinked[k];
        b[j] = terms_.kink(k, at.b[j], at.column_multiplier[k], at.growth).target;
    }
}

}  // namespace rectiline::newton
