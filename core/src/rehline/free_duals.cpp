#include "rectiline/design/row_access.hpp"
#include "rectiline/rehline/rehline.hpp"

namespace rectiline::rehline {

namespace {

constexpr double kResidual = 0.02;       // relative accuracy of the conjugate gradients
constexpr std::int64_t kPerEntry = 100;  // multiply-adds in the time of collecting an entry

// The piece of weight * phi*(a / weight) that holds a strictly inside: its ends, its curvature and
// the slope there (an argument of phi). False at an end.
struct DualPiece {
    double low, high, curvature, argument;
};

bool piece_of(const Curve& f, double a, double weight, DualPiece& piece) {
    const double s = a / weight, margin = 1e-13 * (1 + std::fabs(s));
    const auto is_inside = [&](double low, double high) {
        return s > low + margin && s < high - margin;
    };
    for (std::int64_t k = 0; k <= f.n_knots; ++k) {
        const auto& own = f.pieces[k];
        if (own.curvature > 0 && is_inside(own.first_slope, own.last_slope)) {
            const double argument = k == 0 ? own.to + (s - own.last_slope) / own.curvature
                                           : own.from + (s - own.first_slope) / own.curvature;
            piece = {weight * own.first_slope, weight * own.last_slope,
                     1.0 / (weight * own.curvature), argument};
            return true;
        }
        if (k < f.n_knots && is_inside(f.left[k], f.right[k])) {
            piece = {weight * f.left[k], weight * f.right[k], 0.0, f.knot[k]};
            return true;
        }
    }
    return false;
}

// d b_j / d q_j: 0 where an l1 term or a bound holds b_j.
double column_derivative(const ColumnFunctions& columns, std::int64_t j, double b) {
    if (columns.plain) return 1.0 / columns.rho[j];
    const bool held =
        (b == 0 && columns.l1[j] > 0) || b <= columns.lower[j] || b >= columns.upper[j];
    return held ? 0.0 : 1.0 / columns.rho[j];
}

}  // namespace

bool FreeDuals::collect(std::span<const std::int64_t> active, double intercept,
                        std::span<const double> a, std::span<const double> coef,
                        Interrupt& interrupt) {
    free_.clear(), low_.clear(), high_.clear(), curvature_.clear(), gradient_.clear();
    index_.clear(), value_.clear(), column_of_.clear(), column_weight_.clear();
    pointer_.assign(1, 0);
    slot_of_.assign(columns_.d, -1);
    with_row_access(X_, [&](auto& access) {
        for (const std::int64_t i : active) {
            DualPiece piece;
            if (!piece_of(rows_.curve(i), a[i], rows_.weight[i], piece)) continue;
            access.load({&i, 1});
            const double t = rows_.argument(i, access.dot(0, i, coef.data()) + intercept);
            free_.push_back(i);
            low_.push_back(piece.low), high_.push_back(piece.high);
            curvature_.push_back(piece.curvature);
            gradient_.push_back(piece.argument - t);
            access.for_each(0, i, [&](std::int64_t j, double x) {
                if (x == 0) return;
                if (slot_of_[j] < 0) {
                    const double weight = column_derivative(columns_, j, coef[j]);
                    if (weight == 0) return;
                    slot_of_[j] = std::ssize(column_of_);
                    column_of_.push_back(j);
                    column_weight_.push_back(weight);
                }
                index_.push_back(slot_of_[j]);
                value_.push_back(x * rows_.direction[i]);
            });
            pointer_.push_back(std::ssize(index_));
            if (interrupt.poll(kPerEntry * access.length(i))) return;
        }
    });
    return !interrupt.stopped();
}

// image = (H + N M N' + t0 e e') move
void FreeDuals::multiply(std::span<const double> move, std::span<double> image) {
    double balance = 0;
    column_image_.assign(column_of_.size(), 0.0);
    for (std::size_t k = 0; k < move.size(); ++k) {
        if (t0_ > 0) balance += rows_.direction[free_[k]] * move[k];
        for (std::int64_t e = pointer_[k]; e < pointer_[k + 1]; ++e)
            column_image_[index_[e]] += move[k] * value_[e];
    }
    for (std::size_t j = 0; j < column_image_.size(); ++j)
        column_image_[j] *= column_weight_[j];
    for (std::size_t k = 0; k < move.size(); ++k) {
        image[k] = curvature_[k] * move[k] + t0_ * balance * rows_.direction[free_[k]];
        for (std::int64_t e = pointer_[k]; e < pointer_[k + 1]; ++e)
            image[k] += value_[e] * column_image_[index_[e]];
    }
}

std::int64_t FreeDuals::find_direction(std::int64_t max_iterations, Interrupt& interrupt) {
    const std::size_t m = free_.size();
    delta_.resize(m), descent_.resize(m), diagonal_.resize(m);
    for (std::size_t k = 0; k < m; ++k) {
        double sum = curvature_[k] + t0_;
        for (std::int64_t e = pointer_[k]; e < pointer_[k + 1]; ++e)
            sum += value_[e] * value_[e] * column_weight_[index_[e]];
        diagonal_[k] = sum > 0 ? sum : 1.0;
        descent_[k] = -gradient_[k];
    }
    const std::int64_t work = 2 * std::ssize(value_);
    return solver_.solve(
        [&](std::span<const double> move, std::span<double> image) { multiply(move, image); },
        descent_, diagonal_, kResidual, max_iterations, [&] { return interrupt.poll(work); },
        delta_);
}

std::int64_t FreeDuals::count(std::span<const std::int64_t> active,
                              std::span<const double> a) const {
    std::int64_t n_free = 0;
    DualPiece piece;
    for (const std::int64_t i : active)
        n_free += piece_of(rows_.curve(i), a[i], rows_.weight[i], piece);
    return n_free;
}

FreeDualStep FreeDuals::step(std::span<const std::int64_t> active, double intercept,
                             std::int64_t max_iterations, std::span<double> a, std::span<double> q,
                             std::span<double> coef, Interrupt& interrupt) {
    FreeDualStep out{count(active, a), 0, 0, false, 0.0};
    // With more free duals than columns the quadratic is singular and every step runs into its
    // ends.
    if (out.n_free == 0 || out.n_free > columns_.d) return out;
    if (!collect(active, intercept, a, coef, interrupt)) return out;
    out.iterations = find_direction(max_iterations, interrupt);
    const std::size_t m = free_.size();
    double descent = 0, longest = kInfinity;
    for (std::size_t k = 0; k < m; ++k) {
        descent += gradient_[k] * delta_[k];
        const double room = delta_[k] > 0 ? high_[k] - a[free_[k]] : low_[k] - a[free_[k]];
        if (delta_[k] != 0) longest = std::min(longest, room / delta_[k]);
    }
    trial_.resize(m);
    dq_.resize(columns_.d);
    constexpr int kHalvings = 8;
    double length = 1.0;
    for (int attempt = 0; attempt < kHalvings; ++attempt, length *= 0.5) {
        if (attempt > 0 && interrupt.poll(std::ssize(value_))) break;
        if (attempt + 1 == kHalvings)
            length = std::min(length, longest);  // inside all pieces: exact
        std::fill(dq_.begin(), dq_.end(), 0.0);
        out.n_clipped = 0, out.balance_change = 0;
        double change = 0;
        with_row_access(X_, [&](auto& access) {
            for (std::size_t k = 0; k < m; ++k) {
                const std::int64_t i = free_[k];
                const double wanted = a[i] + length * delta_[k];
                trial_[k] = std::clamp(wanted, low_[k], high_[k]);
                out.n_clipped += trial_[k] != wanted;
                const double move = trial_[k] - a[i];
                if (move == 0) continue;
                change += gradient_[k] * move + 0.5 * curvature_[k] * move * move;
                out.balance_change += rows_.direction[i] * move;
                access.load({&i, 1});
                access.axpy(0, i, -move * rows_.direction[i], dq_.data());
            }
        });
        // h*(q + dq) - h*(q) - b'dq, column by column and without cancellation
        for (std::int64_t j = 0; j < columns_.d; ++j)
            if (dq_[j] != 0) change += columns_[j].fenchel_young(coef[j], q[j] + dq_[j]);
        change += 0.5 * t0_ * out.balance_change * out.balance_change;
        if (change < 0 && (change <= 0.05 * length * descent || length <= longest)) {
            out.improved = true;
            break;
        }
    }
    if (!out.improved) {
        out.balance_change = 0;
        return out;
    }
    for (std::size_t k = 0; k < m; ++k)
        a[free_[k]] = trial_[k];
    for (std::int64_t j = 0; j < columns_.d; ++j)
        if (dq_[j] != 0) {
            q[j] += dq_[j];
            coef[j] = columns_[j].minimiser(q[j]);
        }
    return out;
}

// Takes up to three steps on the free duals if the sweeps alone seem far from done, and likely to
// cost more. Returns their cost in sweeps over all rows.
std::int64_t Rehline::accelerate(double gap, double target, Interrupt& interrupt) {
    constexpr double kWorthwhile = 15;  // sweeps left from which a step saves time
    constexpr double kDearer = 4.5;     // work of three steps against a sweep's, per row of theirs
    constexpr std::int64_t kWarmUp = 4, kBetween = 4;
    const double factor = rate_gap_ > 0 ? gap / rate_gap_ : 1.0;
    rate_gap_ = gap;
    log_rate_ = 0.5 * log_rate_ + 0.5 * std::log(std::clamp(factor, 1e-3, 0.999));
    ++sweeps_since_start_, ++sweeps_since_step_;
    const double left = std::log(std::max(gap / target, 1.0)) / std::max(-log_rate_, 1e-3);
    if (sweeps_since_start_ < kWarmUp || sweeps_since_step_ < kBetween || left < kWorthwhile)
        return 0;
    const std::span<const std::int64_t> active(active_.data(), n_active_);
    const std::int64_t n_free = free_duals_.count(active, a_);
    const auto step_rows = static_cast<double>(n_free * (2 * step_iterations_ + 2));
    if (left * static_cast<double>(n_active_) < kDearer * step_rows) return 0;
    sweeps_since_step_ = 0;
    if (columns_.plain)
        for (std::int64_t j = 0; j < columns_.d; ++j)
            q_[j] = columns_.rho[j] * coef_[j];
    double rows_touched = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
        const FreeDualStep step =
            free_duals_.step(active, intercept_, step_iterations_, a_, q_, coef_, interrupt);
        rows_touched +=
            static_cast<double>(step.n_free) * (2.0 * static_cast<double>(step.iterations) + 2);
        balance_ += step.balance_change;
        if (options_.intercept_step > 0) intercept_ = center_ - options_.intercept_step * balance_;
        // More iterations when nothing ran into an end, fewer when most of the work was thrown
        // away.
        if (step.n_clipped == 0 && step.iterations >= step_iterations_)
            step_iterations_ = std::min<std::int64_t>(2 * step_iterations_, 400);
        if (step.n_clipped > step.n_free / 5)
            step_iterations_ = std::max<std::int64_t>(10, step_iterations_ / 2);
        if (!step.improved || step.n_clipped == 0 || interrupt.stopped()) break;
    }
    return static_cast<std::int64_t>(rows_touched /
                                     std::max<double>(1.0, static_cast<double>(alive_.size())));
}

}  // namespace rectiline::rehline
