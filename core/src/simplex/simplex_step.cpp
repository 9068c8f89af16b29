#include "rectiline/simplex/simplex.hpp"

#include <array>
#include <numeric>

namespace rectiline::simplex {

// ---- the edge -----------------------------------------------------------------------------------

// Which edge to follow, and where to stop on it.

namespace {

constexpr double kFeasible = 1e-9;    // of the values, in a program scaled to ones
constexpr double kOnKink = 1e-9;      // distance at which a kink counts as reached
constexpr double kNoPivot = 1e-11;    // speeds that are rounding
constexpr double kSmallPivot = 1e-7;  // speeds that a basis should not rest on

constexpr double kMismatch = 1e-6;  // of a pivot computed in two ways: time to factorise
constexpr double kFlat = 1e-12;     // steps that do not move
constexpr double kSoon = 4.0;       // usual steps after which most edges have ended
constexpr double kFollow = 0.3;     // share of a new step in the usual one

}  // namespace

// The steepest edge: the largest squared infeasibility over the squared length of its direction.
bool BoxedSimplex::price(Leaving& found) const {
    double best = 0.0;
    const auto offer = [&](std::int64_t index, double value, double low, double high, double norm) {
        const double above = value - high, below = low - value;
        const double worst = std::max(above, below);
        if (worst <= kFeasible || worst * worst <= best * norm) return;
        const Leaving one{index, above > below ? -1.0 : 1.0, worst, above > below ? high : low};
        if (std::ranges::count(banned_, name_of(one)) > 0) return;
        best = worst * worst / norm;
        found = one;
    };
    for (std::int64_t j = 0; j < kernel_.size(); ++j)
        offer(j, basic_[j], 0.0, width_[kernel_.columns[j]], kernel_.norms[j]);
    for (std::int64_t r = 0; r < n_rows(); ++r)
        if (row_place_[r] < 0) offer(-1 - r, slack_[r], low_[r], high_[r], row_norms_[r]);
    return best > 0.0;
}

// dy = sign * line of the basis inverse, dt = -A'dy.
void BoxedSimplex::set_direction(const Leaving& leaving) {
    const std::int64_t s = kernel_.size();
    line_.resize(s);
    gathered_.resize(s);
    dy_rows_ = kernel_.rows;
    dy_.resize(s);
    if (leaving.index >= 0) {
        std::copy_n(kernel_.line(leaving.index), s, line_.data());
    } else {
        const std::int64_t r = -1 - leaving.index;
        for (std::int64_t j = 0; j < s; ++j)
            gathered_[j] = A_.column(kernel_.columns[j])[r];
        kernel_.solve_transposed(gathered_.data(), line_.data());
    }
    for (std::int64_t i = 0; i < s; ++i)
        dy_[i] = leaving.sign * line_[i];
    if (leaving.index < 0) {
        dy_rows_.push_back(static_cast<std::int32_t>(-1 - leaving.index));
        dy_.push_back(-leaving.sign);
    }
    std::fill(dt_.begin(), dt_.end(), 0.0);
    A_.subtract_rows(dy_rows_.data(), dy_.data(), std::ssize(dy_), dt_.data());
}

// Those up to a step `within`.
void BoxedSimplex::collect_crossings(double within) {
    const EdgeArrays edge{t_.data(), dt_.data(), turn_.data(), open_.data()};
    edge_steps(edge, n_columns(), kNoPivot, step_.data());
    crossings_.clear();
    for (std::int64_t u = 0; u < n_columns(); ++u) {
        if (!(step_[u] <= within && step_[u] < kInfinity)) continue;
        const double toward = turn_[u] * dt_[u];
        crossings_.push_back({step_[u], open_[u] * toward, toward, u});
    }
    for (std::int64_t i = 0; i < kernel_.size(); ++i) {
        const std::int32_t r = kernel_.rows[i];
        const double toward = -side_[r] * dy_[i], rise = high_[r] - low_[r];
        if (!(toward > kNoPivot) || rise == 0.0) continue;
        const double step = std::max(side_[r] * y_[r], 0.0) / toward;
        if (step <= within) crossings_.push_back({step, rise * toward, toward, -1 - i});
    }
}

// Returns where the slope turns; all crossings before that place come before it on the edge. The
// size if it never turns. Few are passed as a rule, so that they are sorted some at a time.
std::int64_t BoxedSimplex::choose_crossing(double slope) {
    const auto by_step = [](const Crossing& a, const Crossing& b) { return a.step < b.step; };
    const auto size = std::ssize(crossings_);
    for (std::int64_t first = 0, some = 32; first < size; some *= 4) {
        const std::int64_t last = std::min<std::int64_t>(size, first + some);
        const auto begin = crossings_.begin();
        std::partial_sort(begin + first, begin + last, crossings_.end(), by_step);
        for (; first < last; ++first) {
            slope += crossings_[first].rise;
            if (slope >= 0.0) return first;
        }
    }
    return size;
}

// Moves the crossing to stop at to the place `chosen` that is returned: among those that are
// reached at almost the same time the fastest, earlier ones if all are too slow; -1 if none will
// do. Crossings before that place are passed.
std::int64_t BoxedSimplex::with_usable_pivot(std::int64_t chosen) {
    std::int64_t best = chosen;
    for (std::int64_t k = 0; k < chosen; ++k) {
        const Crossing& one = crossings_[k];
        if ((crossings_[chosen].step - one.step) * one.speed <= kOnKink &&
            one.speed > crossings_[best].speed)
            best = k;
    }
    if (crossings_[best].speed >= kSmallPivot) {
        if (best == chosen) return chosen;
        crossings_[best].step = crossings_[chosen].step;
        std::swap(crossings_[best], crossings_[chosen - 1]);
        return chosen - 1;
    }
    for (std::int64_t k = chosen; k-- > 0;)
        if (crossings_[k].speed >= kSmallPivot) return k;
    return -1;
}

// ---- the step -----------------------------------------------------------------------------------

void BoxedSimplex::flip(std::int64_t passed) {
    right_.assign(kernel_.size(), 0.0);
    std::fill(flips_.begin(), flips_.end(), 0.0);
    flipped_ = passed > 0;
    std::vector<std::int32_t> columns;
    std::vector<double> change;
    for (std::int64_t k = 0; k < passed; ++k) {
        const std::int64_t which = crossings_[k].which;
        if (which >= 0) {
            columns.push_back(static_cast<std::int32_t>(which));
            change.push_back(turn_[which] * width_[which]);
            turn_[which] = -turn_[which];
        } else {
            const std::int32_t r = kernel_.rows[-1 - which];
            right_[-1 - which] = -side_[r] * (high_[r] - low_[r]);
            side_[r] = -side_[r];
        }
    }
    A_.add_columns(columns.data(), std::array{Combination{change.data(), flips_.data()}},
                   std::ssize(change));
    for (std::int64_t i = 0; i < kernel_.size(); ++i)
        right_[i] -= flips_[kernel_.rows[i]];
}

// Applies the inverse of the basis to the entering column (alpha), to the leaving line (tau) and to
// the flips (moved); returns the pivot.
double BoxedSimplex::image(const Leaving& leaving, const Crossing& entering) {
    const std::int64_t s = kernel_.size(), m = n_rows();
    gathered_.assign(s, 0.0);
    std::fill(alpha_rows_.begin(), alpha_rows_.end(), 0.0);
    if (entering.which >= 0) {
        const double* column = A_.column(entering.which);
        for (std::int64_t i = 0; i < s; ++i)
            gathered_[i] = column[kernel_.rows[i]];
        for (std::int64_t r = 0; r < m; ++r)
            alpha_rows_[r] = -column[r];
    } else {
        gathered_[-1 - entering.which] = -1.0;
    }
    std::fill(tau_rows_.begin(), tau_rows_.end(), 0.0);
    if (leaving.index < 0) tau_rows_[-1 - leaving.index] = 1.0;
    std::copy(flips_.begin(), flips_.end(), moved_rows_.begin());
    for (auto* one : {&alpha_, &tau_, &moved_})
        one->resize(s);
    const Combination in_kernel[] = {{gathered_.data(), alpha_.data()},
                                     {line_.data(), tau_.data()},
                                     {right_.data(), moved_.data()}};
    const Combination in_rows[] = {{alpha_.data(), alpha_rows_.data()},
                                   {tau_.data(), tau_rows_.data()},
                                   {moved_.data(), moved_rows_.data()}};
    const std::size_t wanted = flipped_ ? 3 : 2;
    kernel_.solve({in_kernel, wanted});
    A_.add_columns(kernel_.columns.data(), {in_rows, wanted}, s);
    return leaving.index >= 0 ? alpha_[leaving.index] : alpha_rows_[-1 - leaving.index];
}

double BoxedSimplex::squared_length(const Leaving& leaving) const {
    return std::inner_product(line_.begin(), line_.end(), line_.begin(),
                              leaving.index < 0 ? 1.0 : 0.0);
}

void BoxedSimplex::update_row_norms(const Leaving& leaving, double pivot) {
    const double mine = squared_length(leaving);
    for (std::int64_t r = 0; r < n_rows(); ++r) {
        if (row_place_[r] >= 0) continue;
        const double ratio = alpha_rows_[r] / pivot;
        row_norms_[r] = std::max(row_norms_[r] + ratio * (ratio * mine - 2.0 * tau_rows_[r]), 1.0);
    }
}

void BoxedSimplex::change_basis(const Leaving& leaving, const Crossing& entering, double pivot) {
    if (flipped_) {
        for (std::int64_t j = 0; j < kernel_.size(); ++j)
            basic_[j] += moved_[j];
        for (std::int64_t r = 0; r < n_rows(); ++r)
            slack_[r] += moved_rows_[r];
    }
    const double value = leaving.index >= 0 ? basic_[leaving.index] : slack_[-1 - leaving.index];
    const double move = (value - leaving.bound) / pivot;
    for (std::int64_t j = 0; j < kernel_.size(); ++j)
        basic_[j] -= move * alpha_[j];
    for (std::int64_t r = 0; r < n_rows(); ++r)
        slack_[r] -= move * alpha_rows_[r];
    update_row_norms(leaving, pivot);
    if (leaving.index >= 0) {
        const std::int32_t u = kernel_.columns[leaving.index];
        column_place_[u] = -1;
        open_[u] = width_[u];
        turn_[u] = leaving.sign < 0.0 ? -1.0 : 1.0;
    } else {
        side_[-1 - leaving.index] = -leaving.sign;
    }
    if (entering.which >= 0) {
        const auto column = static_cast<std::int32_t>(entering.which);
        leave_for_column(leaving, column, (at_high(column) ? width_[column] : 0.0) + move, pivot);
    } else {
        const std::int64_t i = -1 - entering.which;
        const std::int32_t r = kernel_.rows[i];
        leave_for_row(leaving, i, (side_[r] > 0.0 ? high_[r] : low_[r]) + move, pivot);
    }
}

void BoxedSimplex::leave_for_column(const Leaving& leaving, std::int32_t column, double value,
                                    double pivot) {
    open_[column] = 0.0;
    t_[column] = 0.0;
    if (leaving.index >= 0) {
        kernel_.column_for_column(leaving.index, column, alpha_.data());
        basic_[leaving.index] = value;
        column_place_[column] = static_cast<std::int32_t>(leaving.index);
        return;
    }
    const auto row = static_cast<std::int32_t>(-1 - leaving.index);
    row_place_[row] = column_place_[column] = static_cast<std::int32_t>(kernel_.size());
    kernel_.column_for_row(row, column, alpha_.data(), line_.data(), pivot);
    basic_.push_back(value);
}

void BoxedSimplex::leave_for_row(const Leaving& leaving, std::int64_t i, double value,
                                 double pivot) {
    const std::int32_t old = kernel_.rows[i];
    row_place_[old] = -1;
    y_[old] = 0.0;
    slack_[old] = value;
    row_norms_[old] = std::max(squared_length(leaving) / (pivot * pivot), 1.0);
    if (leaving.index < 0) {
        const auto row = static_cast<std::int32_t>(-1 - leaving.index);
        kernel_.row_for_row(row, i, alpha_.data(), line_.data(), pivot);
        row_place_[row] = static_cast<std::int32_t>(i);
        return;
    }
    const std::int64_t j = leaving.index, last = kernel_.size() - 1;
    kernel_.row_for_column(j, i, alpha_.data());
    basic_[j] = basic_[last];
    basic_.pop_back();
    if (j < last) column_place_[kernel_.columns[j]] = static_cast<std::int32_t>(j);
    if (i < last) row_place_[kernel_.rows[i]] = static_cast<std::int32_t>(i);
}

// Moves to another basis, or factorises anew where no pivot is usable; nothing unless that ends it.
std::optional<SimplexOutcome> BoxedSimplex::step(const Leaving& leaving, Interrupt& interrupt) {
    set_direction(leaving);
    // Most kinks lie far beyond the place to stop at.
    const auto is_left = [&](std::int64_t place) { return place == std::ssize(crossings_); };
    collect_crossings(kSoon * usual_step_);
    std::int64_t chosen = choose_crossing(-leaving.infeasibility);
    if (is_left(chosen)) {
        collect_crossings(kInfinity);
        chosen = choose_crossing(-leaving.infeasibility);
    }
    if (is_left(chosen)) return SimplexOutcome::unbounded;
    chosen = with_usable_pivot(chosen);
    if (chosen < 0) {
        if (kernel_.n_updates > 0)
            refresh(true, interrupt);
        else
            banned_.push_back(name_of(leaving));
        return std::nullopt;
    }
    const Crossing entering = crossings_[chosen];
    usual_step_ += kFollow * (entering.step - usual_step_);
    flip(chosen);
    const double pivot = image(leaving, entering);
    const double expected =
        -leaving.sign * (entering.which >= 0 ? dt_[entering.which] : dy_[-1 - entering.which]);
    if (!(std::fabs(pivot - expected) <= kMismatch * (1.0 + std::fabs(pivot)))) {
        if (kernel_.n_updates == 0) return SimplexOutcome::trouble;
        refresh(true, interrupt);
        return std::nullopt;
    }
    for (std::int64_t u = 0; u < n_columns(); ++u)
        t_[u] += entering.step * dt_[u];
    for (std::size_t i = 0; i < dy_.size(); ++i)
        y_[dy_rows_[i]] += entering.step * dy_[i];
    change_basis(leaving, entering, pivot);
    n_flat_ = entering.step > kFlat ? 0 : n_flat_ + 1;
    banned_.clear();
    ++n_steps_;
    return std::nullopt;
}

}  // namespace rectiline::simplex
