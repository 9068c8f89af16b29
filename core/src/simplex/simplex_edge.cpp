// Which edge to follow, and where to stop on it.
#include "rectiline/simplex/simplex.hpp"
#include "rectiline/simplex/simplex_parts.hpp"

#include <algorithm>

namespace rectiline::simplex {
namespace {

constexpr double kFeasible = 1e-9;    // of the values, in a program scaled to ones
constexpr double kOnKink = 1e-9;      // distance at which a kink counts as reached
constexpr double kNoPivot = 1e-11;    // speeds that are rounding
constexpr double kSmallPivot = 1e-7;  // speeds that a basis should not rest on

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
    A_.subtract_rows(dy_rows_.data(), dy_.data(), static_cast<std::int64_t>(dy_.size()),
                     dt_.data());
}

// Those of rows with a free multiplier, which are few.
void BoxedSimplex::collect_all_rows() {
    row_crossings_.clear();
    for (std::int64_t i = 0; i < kernel_.size(); ++i) {
        const std::int32_t r = kernel_.rows[i];
        const double toward = -side_[r] * dy_[i], rise = high_[r] - low_[r];
        if (!((toward > kNoPivot) & (rise != 0.0))) continue;
        row_crossings_.push_back(
            {std::max(side_[r] * y_[r], 0.0) / toward, rise * toward, toward, -1 - i});
    }
}

// Crossings up to a step `within`, or to a longer one as long as the slope does not turn before.
void BoxedSimplex::collect_crossings(double slope, double within) {
    constexpr double kLonger = 16.0;
    constexpr int kTries = 2;
    const EdgeArrays edge{t_.data(), dt_.data(), turn_.data(), open_.data()};
    const auto rise_of_rows = [&] {
        double sum = 0;
        for (const Crossing& one : row_crossings_)
            sum += one.step <= within ? one.rise : 0.0;
        return sum;
    };
    collect_all_rows();
    const auto rise = [&] {
        return edge_steps(edge, n_columns(), kNoPivot, within, step_.data()) + rise_of_rows();
    };
    for (int tries = 0; slope + rise() < 0.0 && within < kInfinity; ++tries)
        within = tries < kTries && within > 0.0 ? kLonger * within : kInfinity;
    crossings_.clear();
    for (std::int64_t u = 0; u < n_columns(); ++u) {
        if (!(step_[u] <= within && step_[u] < kInfinity)) continue;
        const double toward = turn_[u] * dt_[u];
        crossings_.push_back({step_[u], open_[u] * toward, toward, u});
    }
    for (const Crossing& one : row_crossings_)
        if (one.step <= within) crossings_.push_back(one);
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

}  // namespace rectiline::simplex
