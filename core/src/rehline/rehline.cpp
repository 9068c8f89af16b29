#include "rectiline/rehline/rehline.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/design/row_access.hpp"

namespace rectiline::rehline {
namespace {
// Rows set aside are looked at again when the gap has fallen by this factor since they last were,
// and the others have been visited this many times as often as there are rows.
constexpr double kLookAgain = 0.1;
constexpr std::int64_t kLookAgainVisits = 2;

// What a row is likely to add to the gap after this sweep, from its step: `away` is how far the
// slope at t is from its dual, `change` the step, r the curvature of the dual along it. At a kink
// its Fenchel-Young term before the step is r change away, on a curved piece it is at least
// r change^2. The step itself takes all of it away, the steps of other rows bring some back; the
// factors are measured.
RECTILINE_INLINE double gap_share(double away, double change, double r, bool curved) {
    // at a kink itself, rounding can put the slope on the other side
    return curved ? 2.0 * r * change * change : 0.4 * r * std::fabs(change * away);
}

// One exact step for each row of the block in the given order. Rows that stay active are written to
// `kept`; returns their number.
//
// A row that does not move adds nothing to the gap. Evaluating the loss would add to the work of
// the others, so it is done only when the objective is asked for.
//
// While a block is worked on, the rows of the next one are fetched, one per step: rows are visited
// in random order, which no hardware prefetcher follows.
template <class Rows, class Sweep>
RECTILINE_MULTIVERSION std::int64_t step_rows(Rows& access, const std::int64_t* block,
                                              std::int64_t count, const std::int64_t* next_block,
                                              std::int64_t next_count, std::int64_t* kept,
                                              Sweep& s) {
    std::int64_t n_kept = 0;
    double loss = 0, gap = 0, largest_move = s.largest_move;
    for (std::int64_t slot = 0; slot < count; ++slot) {
        if (slot < next_count) {
            const std::int64_t ahead = next_block[slot];
            access.prefetch(ahead);
            RECTILINE_PREFETCH(s.a + ahead);
            RECTILINE_PREFETCH(s.curvature + ahead);
            RECTILINE_PREFETCH(s.rows.weight + ahead);
            RECTILINE_PREFETCH(s.rows.direction + ahead);
            RECTILINE_PREFETCH(s.rows.offset + ahead);
        }
        const std::int64_t i = block[slot];
        const Curve& f = s.rows.curve(i);
        const double weight = s.rows.weight[i], direction = s.rows.direction[i];
        const double r = s.curvature[i], a = s.a[i];
        const double t =
            direction * (access.dot(slot, i, s.move.coef.data()) + s.intercept) + s.rows.offset[i];

        if (s.measure) loss += weight * f.loss(t);
        // the exact maximiser along this row's dual coordinate
        const double next = weight * envelope_slope(f, t + a * r, r * weight);
        const double change = next - a;
        if (change != 0) {
            s.a[i] = next;
            const Quadratic own = f.quadratic_at(t);
            gap += gap_share(weight * own.slope_at(t) - a, change, r, own.curvature > 0);
            s.move(access, slot, i, -change * direction);
            if (s.intercept_step > 0) {
                s.balance += change * direction;
                s.intercept = s.center - s.intercept_step * s.balance;
            }
            largest_move = std::max(largest_move, std::fabs(change) * r);
        } else if (s.shrink && slack_to_knot(f, t) > s.threshold) {
            continue;
        }
        kept[n_kept++] = i;
    }
    s.loss += loss, s.gap += gap, s.largest_move = largest_move;
    return n_kept;
}

// One exact step per constraint; returns what they had yet to settle.
template <class Rows>
RECTILINE_MULTIVERSION double step_constraints(Rows& access, const LinearConstraints& constraints,
                                               std::span<const double> curvature,
                                               std::span<double> dual, const DualMove& move) {
    double gap = 0;
    for (std::int64_t k = 0; k < std::ssize(dual); ++k) {
        if (!(curvature[k] > 0)) continue;  // zero rows cannot move anything
        access.load({&k, 1});
        const double value = access.dot(0, k, move.coef.data()) + constraints.c[k], old = dual[k];
        const double free = old - value / curvature[k];
        const double next = constraints.equality[k] ? free : std::max(0.0, free);
        if (next == old) continue;
        gap += std::fabs((next - old) * value);
        dual[k] = next;
        move(access, 0, k, next - old);
    }
    return gap;
}

// sum_j x_ij^2 / rho_j of each row: the curvature of the dual along its coordinate.
std::vector<double> curvature_of_rows(const DesignView& X, const ColumnFunctions& columns) {
    std::vector<double> inverse(columns.d), curvature(n_rows(X));
    for (std::int64_t j = 0; j < columns.d; ++j)
        inverse[j] = 1.0 / columns.rho[j];
    row_squares(X, inverse, curvature);
    return curvature;
}

constexpr std::int64_t kRefreshEvery = 100;  // sweeps until rounding in q is worth one pass

}  // namespace

// What one sweep reads, moves and sums.
struct Rehline::Sweep {
    const RowFunctions& rows;
    const double* curvature;
    double* a;
    DualMove move;
    double &intercept, &balance;
    double center, intercept_step;
    bool shrink;
    double threshold;  // rows that sit still farther than this from every knot are set aside
    bool measure;      // whether to sum the loss
    double loss = 0, gap = 0, constraint_gap = 0, largest_move = 0;
};

Rehline::Rehline(DesignView X, RowFunctions rows, ColumnFunctions columns,
                 LinearConstraints constraints, RehlineOptions options)
    : X_(X),
      rows_(rows),
      columns_(columns),
      constraints_(constraints),
      options_(options),
      random_(options.seed),
      a_(rows.n, 0.0),
      curvature_(curvature_of_rows(X, columns)),
      scratch_(rows.n),
      constraint_dual_(constraints.c.size(), 0.0),
      constraint_curvature_(curvature_of_rows(constraints.A, columns)),
      slack_(constraint_dual_.size()),
      q_(columns.d),
      coef_(q_.size()),
      part_(q_.size()),
      active_(rows.n),
      block_order_((rows.n + kRowBlock - 1) / kRowBlock),
      block_kept_(block_order_.size()),
      free_duals_(X, rows, columns, options.intercept_step) {
    alive_.reserve(rows.n);
    for (std::int64_t i = 0; i < rows.n; ++i) {
        curvature_[i] += options_.intercept_step;
        if (rows_.weight[i] == 0) continue;
        if (curvature_[i] > 0) {
            alive_.push_back(i);
        } else {  // a zero row: its argument never moves, its dual is the slope there
            a_[i] = rows_.weight[i] * rows_.curve(i).slope_at(rows_.offset[i]);
        }
    }
    take_all_rows_back();
    refresh();
}

void Rehline::take_all_rows_back() {
    n_active_ = std::ssize(alive_);
    std::copy(alive_.begin(), alive_.end(), active_.begin());
    largest_move_ = kInfinity;
}

void Rehline::restart(std::span<const double> sample_dual, std::span<const double> constraint_dual,
                      double intercept) {
    if (!sample_dual.empty())
        for (const std::int64_t i : alive_) {
            const Curve& f = rows_.curve(i);
            a_[i] =
                std::clamp(rows_.direction[i] * sample_dual[i], rows_.weight[i] * f.lowest_slope(),
                           rows_.weight[i] * f.highest_slope());
        }
    for (std::size_t k = 0; k < constraint_dual.size(); ++k)
        constraint_dual_[k] =
            constraints_.equality[k] ? constraint_dual[k] : std::max(0.0, constraint_dual[k]);
    center_ = intercept;
    refresh();
}

void Rehline::refresh() {
    sample_dual(scratch_);
    multiply_transposed(X_, scratch_, q_);
    multiply_transposed(constraints_.A, constraint_dual_, part_);
    for (std::int64_t j = 0; j < columns_.d; ++j) {
        q_[j] = -q_[j] + part_[j];
        coef_[j] = columns_[j].minimiser(q_[j]);
    }
    balance_ = 0;
    for (const double value : scratch_)
        balance_ += value;
    intercept_ = options_.intercept_step > 0 ? center_ - options_.intercept_step * balance_ : 0.0;
    sweeps_since_refresh_ = 0;
}

void Rehline::sample_dual(std::span<double> g) const {
    for (std::int64_t i = 0; i < rows_.n; ++i)
        g[i] = rows_.direction[i] * a_[i];
}

DualMove Rehline::mover() {
    return {columns_, q_, coef_, columns_.d > 0 ? 1.0 / columns_.rho[0] : 0.0};
}

// sum_j h_j(b_j)
double Rehline::penalty() const {
    double sum = 0;
    for (std::int64_t j = 0; j < columns_.d; ++j)
        sum += columns_.value(j, coef_[j]);
    return sum;
}

// sum_k |xi_k (a_k'b + c_k)|: what the constraints add to the gap at b.
double Rehline::complementarity() {
    multiply(constraints_.A, coef_, slack_);
    double sum = 0;
    for (std::size_t k = 0; k < slack_.size(); ++k)
        sum += std::fabs(constraint_dual_[k] * (slack_[k] + constraints_.c[k]));
    return sum;
}

// Returns the products it took, about.
std::int64_t Rehline::sweep_constraints(Sweep& sums) {
    if (slack_.empty()) return 0;
    with_row_access(constraints_.A, [&](auto& access) {
        sums.constraint_gap += step_constraints(access, constraints_, constraint_curvature_,
                                                constraint_dual_, sums.move);
    });
    return 2 * (std::ssize(slack_) + n_stored(constraints_.A));
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
    const std::int64_t blocks_between = 1 + std::ssize(slack_) / kRowBlock;
    std::int64_t block[kRowBlock];
    bool finished = true;
    for (std::int64_t done = 0; done < n_blocks && finished; ++done) {
        const std::int64_t b = block_order_[done], count = block_kept_[b];
        std::int64_t* const members = active_.data() + b * kRowBlock;
        // Inside a block the rows come in their order from a random one on, or backwards: memory is
        // then read in runs, which is twice as fast as a shuffle and converges alike.
        std::copy(members, members + count, block);
        if (options_.shuffle) {
            std::rotate(block, block + random_.below(static_cast<std::uint64_t>(count)),
                        block + count);
            if (random_.next() & 1) std::reverse(block, block + count);
        }
        access.load({block, static_cast<std::size_t>(count)});
        const bool last = done + 1 == n_blocks;
        const std::int64_t* next =
            last ? nullptr : active_.data() + block_order_[done + 1] * kRowBlock;
        const std::int64_t next_count = last ? 0 : block_kept_[block_order_[done + 1]];
        block_kept_[b] = step_rows(access, block, count, next, next_count, members, sums);
        std::int64_t work = 2 * count * access.length(block[0]);
        if (done % blocks_between == 0 || done + 1 == n_blocks) work += sweep_constraints(sums);
        finished = !interrupt.poll(work);
    }
    if (n_blocks == 0) finished = !interrupt.poll(1 + sweep_constraints(sums));
    n_active_ = 0;
    for (std::int64_t b = 0; b < n_blocks; ++b) {
        const std::int64_t* members = active_.data() + b * kRowBlock;
        std::copy(members, members + block_kept_[b], active_.data() + n_active_);
        n_active_ += block_kept_[b];
    }
    return finished;
}

// Whether the gap is likely to be down to the target by now. Its terms were met before their
// coordinates moved; the next sweep would meet smaller ones, about by the factor that this sweep
// gained on the last one.
bool Rehline::is_closed(double gap, double target, bool all_rows) {
    const double gain = all_rows && last_gap_ > 0 ? std::clamp(gap / last_gap_, 0.1, 1.0) : 1.0;
    last_gap_ = all_rows ? gap : kInfinity;
    return gain * gap <= target;
}

RehlineProgress Rehline::run(std::int64_t max_sweeps, double absolute, double relative,
                             Interrupt& interrupt) {
    RehlineProgress progress{0, kInfinity, objective_, 0, 0, false, false};
    with_row_access(X_, [&](auto& access) {
        while (progress.sweeps < max_sweeps) {
            if (sweeps_since_refresh_ >= kRefreshEvery) refresh();
            const bool all_rows = n_active_ == std::ssize(alive_);
            const bool measure = all_rows && objective_ == 0;
            Sweep sums{rows_,           curvature_.data(), a_.data(), mover(),
                       intercept_,      balance_,          center_,   options_.intercept_step,
                       options_.shrink, largest_move_,     measure};
            progress.n_active = n_active_, progress.visits += n_active_;
            partial_visits_ += n_active_;
            const bool finished = sweep(access, sums, interrupt);
            center_ = intercept_;  // the multiplier step of the intercept
            if (options_.intercept_step > 0)
                intercept_ = center_ - options_.intercept_step * balance_;
            ++progress.sweeps, ++sweeps_since_refresh_;
            largest_move_ = sums.largest_move > 0 ? sums.largest_move : kInfinity;
            // An unbalanced intercept still has t0 balance^2 to gain from its next multiplier step.
            progress.gap = sums.gap + sums.constraint_gap + complementarity() +
                           options_.intercept_step * balance_ * balance_;
            if (all_rows) {
                full_gap_ = progress.gap, partial_visits_ = 0;
                progress.objective = objective_ = sums.loss + penalty();
            }
            if (!finished) {
                progress.interrupted = true;
                break;
            }
            const double target = std::max(absolute, relative * std::fabs(objective_));
            if (is_closed(progress.gap, target, all_rows)) {
                if (all_rows) {
                    progress.reached = true;
                    break;
                }
                take_all_rows_back();  // the estimate missed the rows set aside: look at them again
            } else if (n_active_ == 0) {
                take_all_rows_back();
            } else if (progress.gap < kLookAgain * full_gap_ &&
                       partial_visits_ > kLookAgainVisits * std::ssize(alive_)) {
                // What was set aside too early is cheaper to find now than at the end. Moves have
                // become small, so that most rows are set aside again at once.
                const double move = largest_move_;
                take_all_rows_back();
                largest_move_ = move;
            } else if (options_.accelerate) {
                progress.sweeps = std::min(
                    max_sweeps, progress.sweeps + accelerate(progress.gap, target, interrupt));
            }
        }
    });
    return progress;
}

std::int64_t Rehline::screen(double gap) {
    if (options_.intercept_step > 0 || !(gap >= 0)) return std::ssize(alive_);
    refresh();
    // h is 1-strongly convex in the metric rho: |b - b*|_rho^2 <= 2 gap at b = grad h*(q), hence
    // |x_i'(b - b*)| <= sqrt(2 gap r_i). The hairs cover rounding in r_i and in t.
    const double radius = std::sqrt(2 * gap) * (1 + 1e-9);
    double length = 0;
    for (std::int64_t j = 0; j < columns_.d; ++j)
        length += columns_.rho[j] * coef_[j] * coef_[j];
    length = std::sqrt(length);
    std::size_t write = 0;
    bool moved = false;
    with_row_access(X_, [&](auto& access) {
        for (const std::int64_t i : alive_) {
            access.load({&i, 1});
            const double t = rows_.argument(i, access.dot(0, i, coef_.data()));
            const Curve& f = rows_.curve(i);
            const double reach = std::sqrt(curvature_[i]);
            const double rounding =
                1e-12 * (std::fabs(t) + std::fabs(rows_.offset[i]) + reach * length);
            if (slack_to_knot(f, t) > radius * reach + rounding) {
                const double fixed = rows_.weight[i] * f.slope_at(t);
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

}  // namespace rectiline::rehline
