#include "rectiline/rehline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rectiline/products.hpp"
#include "rectiline/row_access.hpp"

namespace rectiline {
namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kLookAhead = 4;  // rows fetched ahead of their use
}  // namespace

// What one sweep reads, moves and sums.
struct Rehline::Sweep {
    const RowFunctions& rows;
    const ColumnFunctions& columns;
    const double* curvature;
    double *a, *q, *coef;
    double &intercept, &balance;
    double center, intercept_step;
    bool shrink;
    double inverse_rho;  // used when the columns are plain
    double threshold;    // rows that sit still farther than this from every knot are set aside
    double loss = 0, gap = 0, violation = 0, largest_move = 0;

    // The dual coordinate of some row or constraint moved: q += step * row, b = grad h*(q).
    template <class Rows>
    RECTILINE_INLINE void move(const Rows& access, std::int64_t slot, std::int64_t i, double step) {
        if (columns.plain) {  // b = q / rho: q itself is not needed
            access.axpy(slot, i, step * inverse_rho, coef);
            return;
        }
        access.for_each(slot, i, [this, step](std::int64_t j, double x) {
            q[j] += step * x;
            coef[j] = columns.minimiser(j, q[j]);
        });
    }
};

namespace {

// One exact step for each row of the block in the given order. Rows that stay active are written to
// `kept`; returns their number.
template <class Rows, class Sweep>
RECTILINE_MULTIVERSION std::int64_t step_rows(Rows& access, const std::int64_t* block,
                                              std::int64_t count, std::int64_t* kept, Sweep& s) {
    std::int64_t n_kept = 0;
    double loss = 0, gap = 0, largest_move = s.largest_move;
    for (std::int64_t slot = 0; slot < count; ++slot) {
        if (slot + kLookAhead < count) access.prefetch(block[slot + kLookAhead]);
        const std::int64_t i = block[slot];
        const Curve& f = s.rows.curve(i);
        const double weight = s.rows.weight[i], direction = s.rows.direction[i];
        const double r = s.curvature[i], a = s.a[i];
        const double t = direction * (access.dot(slot, i, s.coef) + s.intercept) + s.rows.offset[i];

        // the gap's share of this row, at the point the sweep meets it
        const double slope = std::clamp(a / weight, f.lowest_slope(), f.highest_slope());
        loss += weight * f(t);
        gap += weight * fenchel_young(f, slope, t);

        // the exact maximiser along this row's dual coordinate
        const double next = weight * envelope_slope(f, t + a * r, r * weight).slope;
        const double change = next - a;
        if (change != 0) {
            s.a[i] = next;
            s.move(access, slot, i, -change * direction);
            if (s.intercept_step > 0) {
                s.balance += change * direction;
                s.intercept = s.center - s.intercept_step * s.balance;
            }
            largest_move = std::max(largest_move, std::fabs(change) * r);
        } else if (s.shrink) {
            double unused;
            if (slack_to_knot(f, t, unused) > s.threshold) continue;
        }
        kept[n_kept++] = i;
    }
    s.loss += loss, s.gap += gap, s.largest_move = largest_move;
    return n_kept;
}

}  // namespace

Rehline::Rehline(DesignView X, RowFunctions rows, ColumnFunctions columns,
                 LinearConstraints constraints, RehlineOptions options)
    : X_(X),
      rows_(rows),
      columns_(columns),
      constraints_(constraints),
      options_(options),
      random_(options.seed),
      a_(static_cast<std::size_t>(rows.n), 0.0),
      curvature_(static_cast<std::size_t>(rows.n)),
      q_(static_cast<std::size_t>(columns.d)),
      coef_(static_cast<std::size_t>(columns.d)),
      constraint_dual_(static_cast<std::size_t>(constraints.m), 0.0),
      constraint_curvature_(static_cast<std::size_t>(constraints.m)),
      constraint_value_(static_cast<std::size_t>(constraints.m)),
      active_(static_cast<std::size_t>(rows.n)),
      block_order_(static_cast<std::size_t>((rows.n + kRowBlock - 1) / kRowBlock)),
      block_kept_(block_order_.size()) {
    std::vector<double> inverse(static_cast<std::size_t>(columns.d));
    for (std::int64_t j = 0; j < columns.d; ++j) inverse[j] = 1.0 / columns.rho[j];
    row_squares(X_, inverse.data(), curvature_.data(), 1);
    if (constraints_.m > 0)
        row_squares(constraints_.A, inverse.data(), constraint_curvature_.data(), 1);
    alive_.reserve(static_cast<std::size_t>(rows.n));
    for (std::int64_t i = 0; i < rows.n; ++i) {
        curvature_[i] += options_.intercept_step;
        if (rows_.weight[i] == 0) continue;
        if (curvature_[i] > 0) {
            alive_.push_back(i);
        } else {  // a zero row: its argument never moves, its dual is the slope there
            a_[i] = rows_.weight[i] * rows_.curve(i).slope(rows_.offset[i]);
        }
    }
    take_all_rows_back();
    refresh();
}

void Rehline::take_all_rows_back() {
    n_active_ = static_cast<std::int64_t>(alive_.size());
    std::copy(alive_.begin(), alive_.end(), active_.begin());
    largest_move_ = kInfinity;
}

void Rehline::restart(const double* sample_dual, const double* constraint_dual, double intercept) {
    if (sample_dual)
        for (const std::int64_t i : alive_) {
            const Curve& f = rows_.curve(i);
            a_[i] = std::clamp(rows_.direction[i] * sample_dual[i],
                               rows_.weight[i] * f.lowest_slope(),
                               rows_.weight[i] * f.highest_slope());
        }
    for (std::int64_t k = 0; constraint_dual && k < constraints_.m; ++k)
        constraint_dual_[k] = constraints_.equality[k] ? constraint_dual[k]
                                                       : std::max(0.0, constraint_dual[k]);
    center_ = intercept;
    refresh();
}

void Rehline::refresh() {
    const std::int64_t d = columns_.d;
    std::vector<double> g(static_cast<std::size_t>(rows_.n)), part(static_cast<std::size_t>(d));
    sample_dual(g.data());
    multiply_transposed(X_, g.data(), part.data(), 1);
    for (std::int64_t j = 0; j < d; ++j) q_[j] = -part[j];
    if (constraints_.m > 0) {
        multiply_transposed(constraints_.A, constraint_dual_.data(), part.data(), 1);
        for (std::int64_t j = 0; j < d; ++j) q_[j] += part[j];
    }
    for (std::int64_t j = 0; j < d; ++j) coef_[j] = columns_.minimiser(j, q_[j]);
    balance_ = 0;
    for (const double value : g) balance_ += value;
    intercept_ = options_.intercept_step > 0 ? center_ - options_.intercept_step * balance_ : 0.0;
    sweeps_since_refresh_ = 0;
}

void Rehline::sample_dual(double* g) const {
    for (std::int64_t i = 0; i < rows_.n; ++i) g[i] = rows_.direction[i] * a_[i];
}

double Rehline::penalty_value() const {
    double sum = 0;
    for (std::int64_t j = 0; j < columns_.d; ++j) sum += columns_.value(j, coef_[j]);
    return sum;
}

void Rehline::sweep_constraints(Sweep& sums) {
    with_row_access(constraints_.A, [&](auto& access) {
        access.reserve();
        for (std::int64_t k = 0; k < constraints_.m; ++k) {
            if (constraint_curvature_[k] == 0) continue;
            access.load(&k, 1);
            const bool equality = constraints_.equality[k];
            const double value = access.dot(0, k, coef_.data()) + constraints_.c[k];
            const double old = constraint_dual_[k];
            double next = old - value / constraint_curvature_[k];
            if (!equality) next = std::max(0.0, next);
            sums.violation =
                std::max(sums.violation, equality ? std::fabs(value) : std::max(0.0, -value));
            if (next == old) continue;
            sums.gap += std::fabs((next - old) * value);  // what this constraint has yet to settle
            constraint_dual_[k] = next;
            sums.move(access, 0, k, next - old);
        }
    });
}

// sum_k |xi_k (a_k'b + c_k)|: what the constraints add to the gap at the current point.
double Rehline::complementarity() {
    if (constraints_.m == 0) return 0.0;
    multiply(constraints_.A, coef_.data(), constraint_value_.data(), 1);
    double sum = 0;
    for (std::int64_t k = 0; k < constraints_.m; ++k)
        sum += std::fabs(constraint_dual_[k] * (constraint_value_[k] + constraints_.c[k]));
    return sum;
}

// One sweep over the active rows. False when interrupted (the point is consistent all the same).
template <class Rows>
bool Rehline::sweep(Rows& access, Sweep& sums, Interrupt& interrupt) {
    const std::int64_t n = n_active_, n_blocks = (n + kRowBlock - 1) / kRowBlock;
    for (std::int64_t k = 0; k < n_blocks; ++k) {
        block_order_[k] = k;
        block_kept_[k] = std::min(kRowBlock, n - k * kRowBlock);
    }
    if (options_.shuffle) random_.shuffle(block_order_.data(), n_blocks);
    // With many constraints, sweeping them after each block would cost more than the rows do.
    const std::int64_t blocks_between = 1 + constraints_.m / kRowBlock;
    std::int64_t block[kRowBlock];
    bool finished = true;
    for (std::int64_t done = 0; done < n_blocks && finished; ++done) {
        const std::int64_t b = block_order_[done], count = block_kept_[b];
        std::int64_t* const members = active_.data() + b * kRowBlock;
        std::copy(members, members + count, block);
        if (options_.shuffle) random_.shuffle(block, count);
        access.load(block, count);
        block_kept_[b] = step_rows(access, block, count, members, sums);
        if (constraints_.m > 0 && (done % blocks_between == 0 || done + 1 == n_blocks))
            sweep_constraints(sums);
        finished = !interrupt.poll(2 * count * access.length(block[0]));
    }
    if (n_blocks == 0 && constraints_.m > 0) sweep_constraints(sums);
    n_active_ = 0;
    for (std::int64_t b = 0; b < n_blocks; ++b) {
        const std::int64_t* members = active_.data() + b * kRowBlock;
        std::copy(members, members + block_kept_[b], active_.data() + n_active_);
        n_active_ += block_kept_[b];
    }
    return finished;
}

RehlineProgress Rehline::run(std::int64_t max_sweeps, double absolute, double relative,
                             Interrupt& interrupt) {
    constexpr std::int64_t kRefreshEvery = 100;  // sweeps until rounding in q is worth one pass
    RehlineProgress progress{0, kInfinity, objective_, kInfinity, 0, false, false};
    with_row_access(X_, [&](auto& access) {
        access.reserve();
        while (progress.sweeps < max_sweeps) {
            if (sweeps_since_refresh_ >= kRefreshEvery) refresh();
            const bool all_rows = n_active_ == static_cast<std::int64_t>(alive_.size());
            Sweep sums{rows_,
                       columns_,
                       curvature_.data(),
                       a_.data(),
                       q_.data(),
                       coef_.data(),
                       intercept_,
                       balance_,
                       center_,
                       options_.intercept_step,
                       options_.shrink,
                       columns_.d > 0 ? 1.0 / columns_.rho[0] : 0.0,
                       largest_move_};
            progress.n_active = n_active_;
            const bool finished = sweep(access, sums, interrupt);
            center_ = intercept_;  // the multiplier step of the intercept
            if (options_.intercept_step > 0)
                intercept_ = center_ - options_.intercept_step * balance_;
            ++progress.sweeps, ++sweeps_since_refresh_;
            largest_move_ = sums.largest_move > 0 ? sums.largest_move : kInfinity;
            // An unbalanced intercept still has t0 balance^2 to gain from its next multiplier step.
            progress.gap = sums.gap + complementarity() + options_.intercept_step * balance_ * balance_;
            progress.violation = sums.violation;
            if (all_rows) progress.objective = objective_ = sums.loss + penalty_value();
            if (!finished) {
                progress.interrupted = true;
                break;
            }
            // The terms were met before their rows moved; the next sweep would meet smaller ones, about by
            // the factor that this sweep gained on the last one.
            const double gain = all_rows && last_gap_ > 0 ? std::clamp(progress.gap / last_gap_, 0.1, 1.0) : 1.0;
            last_gap_ = all_rows ? progress.gap : kInfinity;
            if (gain * progress.gap <= std::max(absolute, relative * std::fabs(objective_))) {
                if (all_rows) {
                    progress.reached = true;
                    break;
                }
                take_all_rows_back();  // the estimate missed the rows set aside: look at them again
            } else if (n_active_ == 0) {
                take_all_rows_back();
            }
        }
        if (n_active_ < static_cast<std::int64_t>(alive_.size())) take_all_rows_back();
    });
    return progress;
}

std::int64_t Rehline::screen(double gap) {
    if (options_.intercept_step > 0 || !(gap >= 0)) return static_cast<std::int64_t>(alive_.size());
    refresh();
    // h is 1-strongly convex in the metric rho: |b - b*|_rho^2 <= 2 gap at b = grad h*(q), hence
    // |x_i'(b - b*)| <= sqrt(2 gap r_i). The hair covers rounding in r_i and t.
    const double radius = std::sqrt(2 * gap) * (1 + 1e-9);
    std::size_t write = 0;
    bool moved = false;
    with_row_access(X_, [&](auto& access) {
        access.reserve();
        for (const std::int64_t i : alive_) {
            access.load(&i, 1);
            const double t = rows_.argument(i, access.dot(0, i, coef_.data()));
            double slope;
            if (slack_to_knot(rows_.curve(i), t, slope) > radius * std::sqrt(curvature_[i])) {
                const double fixed = rows_.weight[i] * slope;
                moved = moved || fixed != a_[i];
                a_[i] = fixed;
            } else {
                alive_[write++] = i;
            }
        }
    });
    alive_.resize(write);
    take_all_rows_back();
    if (moved) refresh();
    return static_cast<std::int64_t>(write);
}

}  // namespace rectiline
