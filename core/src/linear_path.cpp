#include "rectiline/linear_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rectiline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kOnwards = 0.7;   // of the way that extrapolation would go
constexpr int kRounds = 3;         // of softening, each less soft than the one before
constexpr double kRows = 1.8;      // in the band, per column in use
constexpr double kManyRows = 4.0;  // so many are too soft
constexpr double kSpare = 10.0;    // columns that may come into use
constexpr double kNarrower = 2.0;  // band from one round to the next, at most
constexpr double kWider = 1.6;
constexpr double kFirst = 0.1;         // of the spread: half-width at the first place, at least
constexpr double kThinnest = 1e-3;     // of the spread: least half-width of the band
constexpr double kColumnShare = 0.25;  // of h over the root of the columns in use: width of columns
constexpr double kColumnCost = 0.03;   // of the objective over all columns: what that may cost
constexpr int kSteps = 12;             // of the interior method, after softening
constexpr int kStepsNear = 4;          // the same from the last answer,
constexpr double kNear = 0.01;         // if the penalty changes by so much of the objective at most
constexpr double kBalance = 3.0;       // cost of a multiplier moved to balance the intercept

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
        sum += l1_[j] * std::fabs(b[j]);
    return sum;
}

double LinearPath::gap_to(double primal) const {
    const double size = std::max({std::fabs(primal), std::fabs(best_dual_), 1e-300});
    return (primal - best_dual_) / size;
}

void LinearPath::offer(const Vector& b, const Vector& a) {
    const double value = rows_.loss(b.data(), a.data()) + penalty(b);
    if (!(value < best_primal_)) return;
    best_primal_ = value;
    best_b_ = b;
}

// Multipliers that pull with more than the penalty are scaled down to it.
void LinearPath::offer_multipliers(const Vector& v, const Vector& g) {
    double share = 1.0;
    for (std::int64_t j = 0; j < d_; ++j)
        if (std::fabs(g[j]) * share > l1_[j]) share = l1_[j] / std::fabs(g[j]);
    double value = rows_.dual_value(v.data(), share);
    if (p_ > d_) value -= kBalance * spread_ * std::fabs(g[d_]);
    if (!(value > best_dual_)) return;
    best_dual_ = value;
    best_v_ = v;
    best_g_ = g;
}

// Columns that the penalty holds are not in use, whatever an interior method has left there.
void LinearPath::offer_polished(const Vector& b, double most) {
    constexpr double kFree = 0.98;  // of the penalty: a column that pulls with less is held by it
    trial_b_ = b;
    bool changed = false;
    for (std::int64_t j = 0; j < d_; ++j)
        if (b[j] != 0 && std::fabs(b[j]) <= w_[j] && std::fabs(best_g_[j]) < kFree * l1_[j])
            trial_b_[j] = 0, changed = true;
    if (!changed) return;
    rows_.arguments(trial_b_.data(), trial_a_.data());
    const double value = rows_.loss(trial_b_.data(), trial_a_.data()) + penalty(trial_b_);
    if (!(value < best_primal_ || gap_to(value) <= most)) return;
    best_primal_ = value;
    best_b_ = trial_b_;
}

void LinearPath::set_strength(double strength) {
    strength_ = strength;
    for (std::int64_t j = 0; j < d_; ++j)
        l1_[j] = strength / base_strength_ * base_l1_[j];
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

void LinearPath::set_softness() {
    double in_use = 0, squares = 0;
    for (std::int64_t j = 0; j < d_; ++j)
        in_use += std::fabs(b_[j]) > w_[j];
    for (std::int64_t i = 0; i < n_; ++i) {
        sizes_[i] = std::fabs(a_[i]);
        squares += a_[i] * a_[i];
    }
    spread_ = std::sqrt(squares / static_cast<double>(n_));
    const auto want = static_cast<std::int64_t>(
        std::min(kRows * (in_use + kSpare), 0.5 * static_cast<double>(n_)));
    std::nth_element(sizes_.begin(), sizes_.begin() + want, sizes_.end());
    double near = sizes_[want];
    // A start may have many rows on their kinks by chance: they say nothing.
    near =
        h_ > 0 ? std::clamp(near, h_ / kNarrower, h_ * kWider) : std::max(near, kFirst * spread_);
    h_ = std::max({near, kThinnest * spread_, 1e-300});
    value_ = std::fabs(rows_.loss(b_.data(), a_.data()) + penalty(b_));
    const double widest = kColumnShare * h_ / std::sqrt(in_use + 1.0);
    for (std::int64_t j = 0; j < d_; ++j)
        w_[j] = std::min(widest, kColumnCost * value_ / (static_cast<double>(d_) * l1_[j]));
}

bool LinearPath::has_too_many_rows() const {
    double in_use = 0, inside = 0;
    for (std::int64_t j = 0; j < d_; ++j)
        in_use += std::fabs(b_[j]) > w_[j];
    for (std::int64_t i = 0; i < n_; ++i)
        inside += std::fabs(a_[i]) < h_;
    return inside > kManyRows * (in_use + kSpare);
}

// The optimum changes by no more than the penalty of the last answer does.
bool LinearPath::is_near(double strength) const {
    const double less = std::fabs(1.0 - strength / band_strength_) * penalty(best_b_);
    return band_strength_ > 0 && less <= kNear * std::fabs(best_primal_);
}

void LinearPath::sharpen(int most, double target, LinearStep& out, Interrupt& interrupt) {
    constexpr double kStuck = 0.7;  // of the gap: left by a step that lacked rows
    constexpr double kLost = 0.95;  // left by a step that led nowhere; four in a row are enough
    double gap = relative_gap();
    int lost = 0;
    for (int k = 0; k < most && band_.step(); ++k) {
        offer(band_.b(), band_.a());
        offer_multipliers(band_.v(), band_.g());
        ++out.steps;
        const double now = relative_gap();
        if (now <= target) break;
        lost = now > kLost * gap ? lost + 1 : 0;
        if (lost == 4) break;
        if (now > kStuck * gap) band_.admit();
        gap = now;
        out.interrupted = interrupt.poll(4 * n_ * p_);
        if (out.interrupted) break;
    }
    offer_polished(Vector(best_b_), target);
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
        sharpen(kStepsNear, target, out, interrupt);
        if (out.relative_gap <= target || out.interrupted) return out;
    }
    predict();
    for (int round = 0; round < kRounds && out.steps < max_steps; ++round) {
        set_softness();
        if (!soften(out, interrupt)) return out;
        if (!has_too_many_rows()) break;
    }
    offer(b_, a_);
    offer_multipliers(v_, g_);
    offer_polished(b_, target);
    out.relative_gap = relative_gap();
    band_strength_ = 0;
    if (!(out.relative_gap <= target) && band_.start(b_, a_, v_, h_, w_, l1_))
        sharpen(kSteps, target, out, interrupt);
    return out;
}

}  // namespace rectiline
