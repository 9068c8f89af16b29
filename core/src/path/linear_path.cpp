#include "rectiline/path/linear_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rectiline::path {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kOnwards = 0.7;        // of the way that extrapolation would go
constexpr int kRounds = 3;              // of softening, each less soft than the one before
constexpr std::int64_t kSteps = 12;     // of the interior method, after softening
constexpr std::int64_t kStepsNear = 4;  // the same from the last answer,
constexpr double kNear = 0.01;    // if the penalty changes by so much of the objective at most
constexpr double kHeld = 0.98;    // of the penalty: columns that pull with less are held by it
constexpr double kBalance = 3.0;  // cost of a multiplier moved to balance the intercept

}  // namespace

LinearPath::LinearPath(const DesignView& X, const RowFunctions& rows, const NewtonTerms& terms,
                       double strength, int n_threads)
    : rows_(X, rows, terms, n_threads),
      n_(rows_.n()),
      d_(terms.d),
      p_(terms.order),
      base_strength_(strength),
      strength_(strength),
      scale_(terms.scale, terms.scale + terms.order),
      base_l1_(terms.l1, terms.l1 + terms.d),
      l1_(base_l1_),
      base_rho_(terms.rho, terms.rho + terms.d),
      rho_(base_rho_),
      has_ridge_(terms.d > 0 && terms.rho[0] > 0),
      band_(rows_) {
    if (terms.center) center_.assign(terms.center, terms.center + terms.d);
    const std::size_t n = static_cast<std::size_t>(n_), p = static_cast<std::size_t>(p_);
    for (auto* one : {&a_, &v_, &da_, &trial_a_, &sizes_, &best_v_})
        one->assign(n, 0.0);
    for (auto* one :
         {&b_, &before_, &g_, &best_b_, &best_g_, &db_, &stiffness_, &right_, &trial_b_})
        one->assign(p, 0.0);
    w_.assign(static_cast<std::size_t>(d_), 0.0);
}

void LinearPath::place(const double* user) {
    std::copy(user, user + p_, b_.begin());
    if (!center_.empty() && p_ > d_) b_[d_] += dot(center_.data(), user, d_);
    for (std::int64_t j = 0; j < p_; ++j)
        b_[j] /= scale_[j];
    soft_strength_ = before_strength_ = band_strength_ = h_ = 0;
}

void LinearPath::coefficients(double* user) const {
    for (std::int64_t j = 0; j < p_; ++j)
        user[j] = best_b_[j] * scale_[j];
    if (!center_.empty() && p_ > d_) user[d_] -= dot(center_.data(), user, d_);
}

double LinearPath::penalty(const Vector& b) const {
    double sum = 0;
    for (std::int64_t j = 0; j < d_; ++j)
        sum += l1_[j] * std::fabs(b[j]) + 0.5 * rho_[j] * b[j] * b[j];
    return sum;
}

double LinearPath::gap_to(double primal) const {
    const double size = std::max({std::fabs(primal), std::fabs(best_dual_), 1e-300});
    return (primal - best_dual_) / size;
}

double LinearPath::offer(const Vector& b, const Vector& a) {
    const double value = rows_.loss(b.data(), a.data()) + penalty(b);
    if (value < best_primal_) {
        best_primal_ = value;
        best_b_ = b;
    }
    return value;
}

// Multipliers that pull with more than the penalty are scaled down to it, or pay for that where
// there are ridge terms.
double LinearPath::offer_multipliers(const Vector& v, const Vector& g) {
    double share = 1.0, paid = 0.0;
    for (std::int64_t j = 0; j < d_; ++j) {
        const double beyond = std::max(std::fabs(g[j]) - l1_[j], 0.0);
        if (has_ridge_)
            paid += 0.5 * beyond * beyond / rho_[j];
        else if (std::fabs(g[j]) * share > l1_[j])
            share = l1_[j] / std::fabs(g[j]);
    }
    double value = rows_.dual_value(v.data(), share) - paid;
    if (p_ > d_) value -= kBalance * spread_ * std::fabs(g[d_]);
    if (value > best_dual_) {
        best_dual_ = value;
        best_v_ = v;
        best_g_ = g;
    }
    return value;
}

// Takes the best coefficients with some set to zero, if they are still good enough.
bool LinearPath::drop(std::size_t count, double target) {
    trial_b_ = best_b_;
    for (std::size_t k = 0; k < count; ++k)
        trial_b_[order_[k]] = 0;
    rows_.arguments(trial_b_.data(), trial_a_.data());
    const double value = rows_.loss(trial_b_.data(), trial_a_.data()) + penalty(trial_b_);
    if (!(value < best_primal_ || gap_to(value) <= target)) return false;
    best_primal_ = value;
    best_b_ = trial_b_;
    return true;
}

// Sets coefficients to zero: those that the penalty holds by their multipliers, or else as many of
// the smallest as the target allows. At slopes g of the rows the latter saves l1 |b| + g b, and
// curvature asks for some of that.
void LinearPath::polish(double target) {
    order_.clear();
    for (std::int64_t j = 0; j < d_; ++j)
        if (best_b_[j] != 0 && std::fabs(best_b_[j]) <= w_[j] &&
            std::fabs(best_g_[j]) < kHeld * l1_[j])
            order_.push_back(j);
    if (order_.empty() || drop(order_.size(), target)) return;
    order_.clear();
    for (std::int64_t j = 0; j < d_; ++j)
        if (best_b_[j] != 0) order_.push_back(j);
    std::sort(order_.begin(), order_.end(), [&](std::int64_t i, std::int64_t j) {
        return std::fabs(best_b_[i]) < std::fabs(best_b_[j]);
    });
    const double size = std::max(std::fabs(best_primal_), std::fabs(best_dual_));
    const double slack = best_dual_ + target * size - best_primal_;
    double cost = 0;
    std::size_t count = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        const double b = best_b_[order_[k]], g = best_g_[order_[k]];
        cost += 0.5 * curvature_ * b * b - std::max(l1_[order_[k]] * std::fabs(b) + g * b, 0.0);
        if (cost <= slack) count = k + 1;
    }
    if (count > 0 && !drop(count, target)) drop(count / 2, target);
}

void LinearPath::set_strength(double strength) {
    strength_ = strength;
    const double factor = strength / base_strength_;
    for (std::int64_t j = 0; j < d_; ++j) {
        l1_[j] = factor * base_l1_[j];
        rho_[j] = factor * base_rho_[j];
    }
}

// Goes on as from the softened answer before to the last one, in the logarithm of the strength.
void LinearPath::predict() {
    const double here = soft_strength_, before = before_strength_;
    const bool known = before > 0 && before != here;
    const double whole = known ? std::log(strength_ / here) / std::log(here / before) : 0.0;
    const double share = kOnwards * std::clamp(whole, 0.0, 2.0);
    for (std::int64_t j = 0; j < p_; ++j) {
        const double change = b_[j] - before_[j];
        before_[j] = b_[j];
        b_[j] += known ? share * change : 0.0;
    }
    before_strength_ = here;
    soft_strength_ = strength_;
    rows_.arguments(b_.data(), a_.data());
}

// The optimum changes by no more than the penalty of the last answer does.
bool LinearPath::is_near(double strength) const {
    if (!(band_strength_ > 0)) return false;
    if (has_ridge_ && 3 * band_.n_inside() > n_) return false;  // softening costs less
    const double less = std::fabs(1.0 - strength / band_strength_) * penalty(best_b_);
    return less <= kNear * std::fabs(best_primal_);
}

void LinearPath::sharpen(std::int64_t most, double target, LinearStep& out, Interrupt& interrupt) {
    constexpr double kStuck = 0.7;  // of the gap: left by a step that lacked rows
    constexpr double kLost = 0.95;  // left by a step that led nowhere; four in a row are enough
    double gap = kInfinity;         // of the pair at hand, which need not be the best one
    int lost = 0;
    for (std::int64_t k = 0; k < most && band_.step(); ++k) {
        const double primal = offer(band_.b(), band_.a());
        const double now = primal - offer_multipliers(band_.v(), band_.g());
        ++out.steps;
        if (relative_gap() <= target) break;
        lost = now > kLost * gap ? lost + 1 : 0;
        if (lost == 4) break;
        if (now > kStuck * gap) band_.admit();
        gap = now;
        out.interrupted = interrupt.poll(4 * n_ * p_);
        if (out.interrupted) break;
    }
    polish(target);
    out.relative_gap = relative_gap();
    band_strength_ = out.relative_gap <= target ? strength_ : 0.0;
}

LinearStep LinearPath::move(double strength, double target, std::int64_t max_steps,
                            Interrupt& interrupt) {
    LinearStep out{0, kInfinity, false, false};
    const bool near = is_near(strength);
    const double ratio = strength / strength_;
    set_strength(strength);
    best_primal_ = kInfinity, best_dual_ = -kInfinity;
    if (near) {
        band_.go_on(ratio);
        sharpen(std::min(kStepsNear, max_steps), target, out, interrupt);
        if (out.relative_gap <= target || out.interrupted) return out;
    }
    predict();
    for (int round = 0; round < kRounds; ++round) {
        set_softness(target);
        out.failed = !(spread_ > 0);
        if (out.failed || !soften(max_steps, target, out, interrupt)) return out;
        if (!is_too_soft(target)) break;
    }
    offer(b_, a_);
    offer_multipliers(v_, g_);
    polish(target);
    out.relative_gap = relative_gap();
    band_strength_ = 0;
    if (!(out.relative_gap <= target) && band_.start(b_, a_, v_, h_, w_, l1_, rho_))
        sharpen(std::min(kSteps, max_steps - out.steps), target, out, interrupt);
    return out;
}

}  // namespace rectiline::path
