#include "rectiline/inference/quantile_basis.hpp"

#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/vectors.hpp"

#include <functional>
#include <numeric>

namespace rectiline::inference {

namespace {

constexpr std::int64_t kRefreshEvery = 64;  // exchanges between two inversions of the basis
constexpr double kFeasible = 1e-10;         // share of the largest weight
constexpr double kPivot = 1e-13;            // share of a row's largest entry
constexpr double kEqualPlaces = 1e-7;       // share of the way at which two places are one
constexpr double kRounding = 1e-13;         // of a direction: rates below are none
constexpr std::int64_t kBlock = 512;        // samples whose rates stay in the first cache

// Rates at which residuals move along a direction, and the steps at which samples reach the plane
// from their side (+1 above, -1 below, 0 for those that never do). Returns the smallest step.
RECTILINE_MULTIVERSION double rates_and_steps(const double* columns, std::int64_t n, std::int64_t p,
                                              const double* direction, const double* residual,
                                              const double* side, double* rate, double* step) {
    double least = kInfinity, size = 0.0;
    for (std::int64_t k = 0; k < p; ++k)
        size += std::fabs(direction[k]);
    const double slowest = kRounding * size;
    for (std::int64_t first = 0; first < n; first += kBlock) {
        const std::int64_t end = std::min(first + kBlock, n);
        for (std::int64_t i = first; i < end; ++i)
            rate[i] = 0.0;
        for (std::int64_t k = 0; k < p; ++k) {
            const double* const column = columns + k * n;
            const double value = direction[k];
            for (std::int64_t i = first; i < end; ++i)
                rate[i] -= value * column[i];
        }
        double smallest = kInfinity;
#pragma omp simd reduction(min : smallest)
        for (std::int64_t i = first; i < end; ++i) {
            const double towards = -side[i] * rate[i], left = side[i] * residual[i];
            const double at = (left > 0.0 ? left : 0.0) / towards;
            step[i] = towards > slowest ? at : kInfinity;
            smallest = step[i] < smallest ? step[i] : smallest;
        }
        least = std::min(least, smallest);
    }
    return least;
}

}  // namespace

QuantileBasis::QuantileBasis(std::span<const double> columns, std::span<const double> y,
                             std::int64_t p)
    : n_(std::ssize(y)),
      p_(p),
      columns_(columns),
      y_(y),
      basis_(p),
      inverse_(p * p),
      coef_(p),
      values_(p),
      rest_(p),
      direction_(p),
      work_(p),
      residual_(y.size()),
      rate_(y.size()),
      step_(y.size()),
      side_(y.size()) {
    crossings_.reserve(y.size());
}

BasisOutcome QuantileBasis::start(std::span<const double> weight, std::span<const double> total,
                                  std::span<const std::int64_t> basis) {
    weight_ = weight;
    total_.assign(total.begin(), total.end());
    n_steps_ = 0;
    likely_step_ = 0.0;
    fixed_ = -1;
    score_ = 0.0;
    std::copy(basis.begin(), basis.end(), basis_.begin());
    return refresh(true) ? BasisOutcome::done : BasisOutcome::singular;
}

bool QuantileBasis::invert_basis() {
    double largest = 0.0;
    for (std::int64_t h = 0; h < p_; ++h)
        for (std::int64_t k = 0; k < p_; ++k) {
            inverse_[h * p_ + k] = columns_[k * n_ + basis_[h]];
            largest = std::max(largest, std::fabs(inverse_[h * p_ + k]));
        }
    Interrupt never;
    return invert(inverse_, p_, kPivot * largest, never);
}

// Computes everything anew from the basis; the sides of other samples only if asked for. False
// where the basis is singular.
bool QuantileBasis::refresh(bool sides) {
    since_refresh_ = 0;
    if (!invert_basis()) return false;
    for (std::int64_t k = 0; k < p_; ++k) {
        coef_[k] = 0.0;
        for (std::int64_t h = 0; h < p_; ++h)
            coef_[k] += inverse_[k * p_ + h] * y_[basis_[h]];
    }
    std::copy(y_.begin(), y_.end(), residual_.begin());
    for (std::int64_t k = 0; k < p_; ++k) {
        const double* const column = columns_.data() + k * n_;
        const double value = coef_[k];
        for (std::int64_t i = 0; i < n_; ++i)
            residual_[i] -= value * column[i];
    }
    for (std::int64_t h = 0; h < p_; ++h)
        residual_[basis_[h]] = 0.0;
    if (sides)
        for (std::int64_t i = 0; i < n_; ++i)
            side_[i] = weight_[i] > 0.0 ? (residual_[i] > 0.0 ? 1.0 : -1.0) : 0.0;
    for (std::int64_t h = 0; h < p_; ++h)
        side_[basis_[h]] = 0.0;
    for (std::int64_t k = 0; k < p_; ++k) {
        const double* const column = columns_.data() + k * n_;
        double sum = 0.0;
        for (std::int64_t i = 0; i < n_; ++i)
            sum += side_[i] > 0.0 ? weight_[i] * column[i] : 0.0;
        rest_[k] = total_[k] - sum;
    }
    compute_values();
    return true;
}

// The basis carries what other samples leave; in a walk the fixed coefficient's score as well.
void QuantileBasis::compute_values() {
    std::copy(rest_.begin(), rest_.end(), work_.begin());
    if (fixed_ >= 0) work_[fixed_] += score_;
    carry(work_, values_);
}

// The multipliers of the basis with this sum of their rows.
void QuantileBasis::carry(std::span<const double> right, std::span<double> values) const {
    for (std::int64_t h = 0; h < p_; ++h) {
        values[h] = 0.0;
        for (std::int64_t k = 0; k < p_; ++k)
            values[h] += inverse_[k * p_ + h] * right[k];
    }
}

// Along it the sample of a slot leaves the plane, upwards if its value rises.
void QuantileBasis::set_direction(std::int64_t slot, bool rises) {
    for (std::int64_t k = 0; k < p_; ++k)
        direction_[k] = rises ? -inverse_[k * p_ + slot] : inverse_[k * p_ + slot];
}

// Rates and crossings of all samples along `direction_`; returns the smallest step to a crossing.
double QuantileBasis::look_ahead() {
    return rates_and_steps(columns_.data(), n_, p_, direction_.data(), residual_.data(),
                           side_.data(), rate_.data(), step_.data());
}

// Crosses samples while the loss still falls; returns the one at which it stops falling, or -1.
// Crossings are looked for within a distance that grows, since few of them are needed.
std::int64_t QuantileBasis::cross_until_rise(double slope, double least) {
    const std::greater<Crossing> later;
    double from = -1.0, within = std::max(likely_step_, least);
    while (true) {
        crossings_.clear();
        for (std::int64_t i = 0; i < n_; ++i)
            if (step_[i] <= within && step_[i] > from && step_[i] < kInfinity)
                crossings_.emplace_back(step_[i], i);
        std::make_heap(crossings_.begin(), crossings_.end(), later);
        while (!crossings_.empty()) {
            std::pop_heap(crossings_.begin(), crossings_.end(), later);
            const auto [at, i] = crossings_.back();
            crossings_.pop_back();
            slope += weight_[i] * std::fabs(rate_[i]);
            if (slope >= 0.0) {
                likely_step_ = 2.0 * at;
                return i;
            }
            add_to_rest(i, side_[i]);
            side_[i] = -side_[i];
        }
        if (within == kInfinity) return -1;
        from = within;
        within = within > 0.0 && within < 1e100 ? 8.0 * within : kInfinity;
    }
}

void QuantileBasis::add_to_rest(std::int64_t sample, double factor) {
    for (std::int64_t k = 0; k < p_; ++k)
        rest_[k] += factor * weight_[sample] * columns_[k * n_ + sample];
}

// Moves along the direction and lets a sample take the place of another in the basis. Now and then
// everything is computed anew; false where the basis has become singular.
bool QuantileBasis::exchange(std::int64_t slot, std::int64_t entering, double step,
                             bool leaves_above) {
    const std::int64_t leaving = basis_[slot];
    for (std::int64_t k = 0; k < p_; ++k)
        coef_[k] += step * direction_[k];
    add_multiple(step, rate_.data(), residual_.data(), n_);
    for (std::int64_t h = 0; h < p_; ++h)
        residual_[basis_[h]] = h == slot ? step * rate_[leaving] : 0.0;
    residual_[entering] = 0.0;
    if (side_[entering] > 0.0) add_to_rest(entering, 1.0);
    side_[entering] = 0.0;
    side_[leaving] = weight_[leaving] > 0.0 ? (leaves_above ? 1.0 : -1.0) : 0.0;
    if (leaves_above) add_to_rest(leaving, -1.0);
    basis_[slot] = entering;
    std::vector<double> sample(p_), row(sample.size());  // the latter in terms of the old basis
    for (std::int64_t k = 0; k < p_; ++k)
        sample[k] = columns_[k * n_ + entering];
    carry(sample, row);
    const double pivot = row[slot];
    for (std::int64_t k = 0; k < p_; ++k) {
        const double moved = inverse_[k * p_ + slot] / pivot;
        for (std::int64_t h = 0; h < p_; ++h)
            inverse_[k * p_ + h] -= row[h] * moved;
        inverse_[k * p_ + slot] = moved;
    }
    ++n_steps_;
    if (++since_refresh_ >= kRefreshEvery) return refresh(false);
    compute_values();
    return true;
}

BasisOutcome QuantileBasis::optimise(std::int64_t most_steps, Interrupt& interrupt) {
    const double largest = *std::max_element(weight_.begin(), weight_.end());
    while (true) {
        std::int64_t slot = -1;
        double worst = kFeasible * largest;
        for (std::int64_t h = 0; h < p_; ++h) {
            const double outside = std::max(-values_[h], values_[h] - weight_[basis_[h]]);
            if (outside > worst) {
                worst = outside;
                slot = h;
            }
        }
        if (slot < 0) {
            if (since_refresh_ == 0) return BasisOutcome::done;
            // Optimal up to rounding: confirmed on a fresh inverse.
            if (!refresh(false)) return BasisOutcome::singular;
            continue;
        }
        if (n_steps_ >= most_steps) return BasisOutcome::limit;
        const bool rises = values_[slot] > 0.0;
        set_direction(slot, rises);
        if (interrupt.poll(n_ * p_)) return BasisOutcome::stopped;
        const std::int64_t entering = cross_until_rise(-worst, look_ahead());
        if (entering < 0) return BasisOutcome::unbounded;
        if (!exchange(slot, entering, step_[entering], rises)) return BasisOutcome::singular;
    }
}

// The slot whose value meets an end of its box first where values move at these speeds, and when;
// -1 if none does.
std::int64_t QuantileBasis::first_at_end(std::span<const double> speed, double& step) const {
    std::int64_t slot = -1;
    step = kInfinity;
    for (std::int64_t h = 0; h < p_; ++h) {
        if (speed[h] == 0.0) continue;
        const double left = speed[h] > 0.0 ? weight_[basis_[h]] - values_[h] : values_[h];
        const double at = std::max(left, 0.0) / std::fabs(speed[h]);
        if (at < step) step = at, slot = h;
    }
    return slot;
}

// The sample that reaches the plane first along `direction_`; -1 if none does.
std::int64_t QuantileBasis::first_crossing() {
    const double least = look_ahead();
    return least == kInfinity ? -1 : std::find(step_.begin(), step_.end(), least) - step_.begin();
}

BasisOutcome QuantileBasis::follow(double level, double direction, std::int64_t most_steps,
                                   LevelSteps& steps, Interrupt& interrupt) {
    const std::int64_t limit = n_steps_ + most_steps;
    std::vector<double> whole(p_), speed(whole.size());
    for (std::int64_t k = 0; k < p_; ++k)
        whole[k] =
            std::inner_product(weight_.begin(), weight_.end(), columns_.data() + k * n_, 0.0);
    while (true) {
        steps.level.push_back(level);
        steps.basis.insert(steps.basis.end(), basis_.begin(), basis_.end());
        carry(whole, speed);
        for (double& one : speed)
            one *= -direction;
        double step;
        const std::int64_t slot = first_at_end(speed, step);
        if (slot < 0 || step >= (direction > 0 ? 1.0 - level : level)) return BasisOutcome::done;
        if (n_steps_ >= limit) return BasisOutcome::limit;
        if (interrupt.poll(n_ * p_)) return BasisOutcome::stopped;
        level += direction * step;
        for (std::int64_t k = 0; k < p_; ++k) {
            total_[k] -= direction * step * whole[k];
            rest_[k] -= direction * step * whole[k];
        }
        const bool rises = speed[slot] > 0.0;
        set_direction(slot, rises);
        const std::int64_t entering = first_crossing();
        if (entering < 0) return BasisOutcome::done;  // but for rounding the last basis
        if (!exchange(slot, entering, step_[entering], rises)) return BasisOutcome::singular;
    }
}

double QuantileBasis::distance(const TrustedBall& ball) const {
    double sum = 0.0;
    for (std::int64_t r = 0; r < p_; ++r) {
        double entry = 0.0;
        for (std::int64_t k = r; k < p_; ++k)
            entry += ball.factor[r * p_ + k] * (coef_[k] - ball.centre[k]);
        sum += entry * entry;
    }
    return std::sqrt(sum);
}

BasisOutcome QuantileBasis::walk(std::int64_t column, double direction, double until,
                                 const TrustedBall& ball, std::int64_t most_steps,
                                 ScoreSteps& steps, Interrupt& interrupt) {
    fixed_ = column;
    score_ = 0.0;
    const std::int64_t limit = n_steps_ + most_steps;
    const double began = coef_[column];
    std::vector<double> speed(p_);
    bool beyond = false;  // the end of the walk is found; equal places belong to it
    double last = 0.0;
    while (true) {
        // The score falls until a sample of the basis has given all it has.
        for (std::int64_t h = 0; h < p_; ++h)
            speed[h] = -direction * inverse_[column * p_ + h];
        double fall;
        const std::int64_t slot = first_at_end(speed, fall);
        if (slot < 0) return BasisOutcome::singular;
        const double lead = inverse_[column * p_ + slot];
        const bool leaves_above = -direction * lead > 0.0;
        score_ -= direction * fall;
        steps.place.push_back(coef_[column]);
        steps.score.push_back(score_);
        if (std::fabs(score_) > until && !beyond) {
            beyond = true;
            last = coef_[column];
        }
        if (n_steps_ >= limit) return BasisOutcome::limit;
        for (std::int64_t k = 0; k < p_; ++k)
            direction_[k] = direction * inverse_[k * p_ + slot] / lead;
        if (interrupt.poll(n_ * p_)) return BasisOutcome::stopped;
        const std::int64_t entering = first_crossing();
        if (entering < 0) return beyond ? BasisOutcome::done : BasisOutcome::unbounded;
        if (!exchange(slot, entering, step_[entering], leaves_above)) return BasisOutcome::singular;
        if (beyond && std::fabs(coef_[column] - last) > kEqualPlaces * std::fabs(last - began))
            return BasisOutcome::done;
        if (distance(ball) > ball.radius) return BasisOutcome::out_of_range;
    }
}

}  // namespace rectiline::inference
