#include "rectiline/interior/unit_interior.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <type_traits>

namespace rectiline::interior {

namespace {

// Added to D of a free multiplier, whose row is met up to this much of its move, so that the next
// step meets it; in doubles to all, so that weights leave the system some digits.
template <class Real>
constexpr double kFree = std::is_same_v<Real, Number> ? 1e-12 : 1e-10;
constexpr double kShare = 0.995;  // of the way to the nearest bound
constexpr double kShortest = 1e-12;
constexpr double kLargeProduct = 1e8;  // at the start

template <class Real>
Real largest(Real a, Real b) {
    return leading(a) < leading(b) ? b : a;
}

template <class Real>
Real starting_room(Real multiplier) {
    return leading(multiplier) > kLargeProduct ? Real(kLargeProduct) / multiplier : Real(1.0);
}

template <class Real>
double size_of(Real a) {
    return std::fabs(leading(a));
}

}  // namespace

template <class Real>
UnitInterior<Real>::UnitInterior(UnitProgram program, bool by_rows)
    : program_(std::move(program)),
      x_(program_.rho.size()),
      y_(program_.row.size()),
      x_move_(x_.size()),
      y_move_(y_.size()),
      residual_(x_.size()),
      miss_(y_.size()),
      weight_(y_.size()),
      below_(y_.size()),
      above_(y_.size()),
      row_value_(static_cast<std::size_t>(program_.n_rows())),
      per_row_(row_value_.size()),
      system_(program_, by_rows) {
    for (std::size_t k = 0; k < y_.size(); ++k) {
        const double low = program_.low[k], high = program_.high[k];
        below_[k].is_finite = std::isfinite(low);
        above_[k].is_finite = std::isfinite(high);
        n_products_ += below_[k].is_finite + above_[k].is_finite;
        // p - r takes up what is missing at x = 0, and both keep clear of zero. With one end only,
        // the room keeps their product from being very large.
        Real slack = Real(program_.shift[k]);
        if (below_[k].is_finite && above_[k].is_finite) {
            y_[k] = Real(0.5 * (low + high));
            slack -= Real(program_.soft[k]) * y_[k];
        }
        below_[k].multiplier = largest(-slack, Real(0.0)) + Real(1.0);
        above_[k].multiplier = largest(slack, Real(0.0)) + Real(1.0);
        if (below_[k].is_finite && !above_[k].is_finite)
            y_[k] = Real(low) + starting_room(below_[k].multiplier);
        else if (above_[k].is_finite && !below_[k].is_finite)
            y_[k] = Real(high) - starting_room(above_[k].multiplier);
        below_[k].room = y_[k] - Real(low);
        above_[k].room = Real(high) - y_[k];
    }
    evaluate();
}

template <class Real>
void UnitInterior<Real>::evaluate() {
    const auto& [begin, columns, values, row, shift, low, high, soft, rho, linear] = program_;
    Real objective = 0.0, products = 0.0;
    for (std::size_t j = 0; j < x_.size(); ++j) {
        const Real bend = Real(rho[j]) * x_[j];
        residual_[j] = bend + Real(linear[j]);
        objective += (Real(0.5) * bend + Real(linear[j])) * x_[j];
    }
    for (std::size_t r = 0; r < row_value_.size(); ++r) {
        Real sum = 0.0;
        for (std::int64_t e = begin[r]; e < begin[r + 1]; ++e)
            sum += Real(values[e]) * x_[columns[e]];
        row_value_[r] = sum;
    }
    double violation = 0.0;
    std::vector<Real>& pull = per_row_;
    std::fill(pull.begin(), pull.end(), Real(0.0));
    for (std::size_t k = 0; k < y_.size(); ++k) {
        const Real argument = row_value_[row[k]] + Real(shift[k]);
        miss_[k] = argument - Real(soft[k]) * y_[k];
        if (below_[k].is_finite) {
            miss_[k] += below_[k].multiplier;
            products += below_[k].multiplier * below_[k].room;
        }
        if (above_[k].is_finite) {
            miss_[k] -= above_[k].multiplier;
            products += above_[k].multiplier * above_[k].room;
        }
        violation = std::max(violation, size_of(miss_[k]));
        objective += y_[k] * (argument - Real(0.5 * soft[k]) * y_[k]);
        pull[row[k]] += y_[k];
    }
    double residual = 0.0;
    for (std::size_t r = 0; r < row_value_.size(); ++r)
        for (std::int64_t e = begin[r]; e < begin[r + 1]; ++e)
            residual_[columns[e]] += Real(values[e]) * pull[r];
    for (std::size_t j = 0; j < x_.size(); ++j)
        residual += size_of(residual_[j]) * (1.0 + size_of(x_[j]));
    quality_ = {leading(products), residual, violation, leading(objective)};
}

template <class Real>
bool UnitInterior<Real>::factorise(support::Interrupt& interrupt) {
    std::vector<Real>& total = per_row_;
    std::fill(total.begin(), total.end(), Real(0.0));
    for (std::size_t k = 0; k < y_.size(); ++k) {
        const bool is_boxed = below_[k].is_finite || above_[k].is_finite;
        Real D = Real(program_.soft[k]);
        if (program_.soft[k] == 0 && (!is_boxed || std::is_same_v<Real, double>))
            D = Real(kFree<Real>);
        if (below_[k].is_finite) D += below_[k].multiplier / below_[k].room;
        if (above_[k].is_finite) D += above_[k].multiplier / above_[k].room;
        weight_[k] = Real(1.0) / D;
        total[program_.row[k]] += weight_[k];
    }
    return system_.factorise(program_, total, interrupt);
}

// The direction towards products of size `target`; `corrects` counts the products of the moves of
// the direction before it (Mehrotra's second-order term).
template <class Real>
void UnitInterior<Real>::find_direction(Real target, bool corrects) {
    const auto& [begin, columns, values, row, shift, low, high, soft, rho, linear] = program_;
    const auto wanted = [&](const Side& side) {
        Real change = target - side.multiplier * side.room;
        if (corrects) change -= side.room_move * side.multiplier_move;
        return change;
    };
    std::vector<Real>& pull = per_row_;
    std::fill(pull.begin(), pull.end(), Real(0.0));
    for (std::size_t k = 0; k < y_.size(); ++k) {
        Real h = miss_[k];
        Side &below = below_[k], &above = above_[k];
        // The wanted changes are kept where the multipliers' moves will be.
        if (below.is_finite) h += (below.multiplier_move = wanted(below)) / below.room;
        if (above.is_finite) h -= (above.multiplier_move = wanted(above)) / above.room;
        y_move_[k] = h;
        pull[row[k]] += weight_[k] * h;
    }
    for (std::size_t j = 0; j < x_.size(); ++j)
        x_move_[j] = -residual_[j];
    for (std::size_t r = 0; r < pull.size(); ++r)
        for (std::int64_t e = begin[r]; e < begin[r + 1]; ++e)
            x_move_[columns[e]] -= Real(values[e]) * pull[r];
    system_.solve(x_move_);
    for (std::size_t r = 0; r < row_value_.size(); ++r) {
        Real sum = 0.0;
        for (std::int64_t e = begin[r]; e < begin[r + 1]; ++e)
            sum += Real(values[e]) * x_move_[columns[e]];
        pull[r] = sum;
    }
    for (std::size_t k = 0; k < y_.size(); ++k) {
        y_move_[k] = weight_[k] * (pull[row[k]] + y_move_[k]);
        Side &below = below_[k], &above = above_[k];
        below.room_move = y_move_[k];
        above.room_move = -y_move_[k];
        for (Side* side : {&below, &above})
            if (side->is_finite)
                side->multiplier_move =
                    (side->multiplier_move - side->multiplier * side->room_move) / side->room;
    }
}

template <class Real>
Real UnitInterior<Real>::longest_step() const {
    Real longest = 1.0 / kShare;
    for (const auto* sides : {&below_, &above_})
        for (const Side& side : *sides) {
            if (!side.is_finite) continue;
            if (leading(side.room_move) < 0 && leading(side.room + longest * side.room_move) < 0)
                longest = -side.room / side.room_move;
            if (leading(side.multiplier_move) < 0 &&
                leading(side.multiplier + longest * side.multiplier_move) < 0)
                longest = -side.multiplier / side.multiplier_move;
        }
    return longest;
}

template <class Real>
Real UnitInterior<Real>::mean_product(Real step) const {
    Real sum = 0.0;
    for (const auto* sides : {&below_, &above_})
        for (const Side& side : *sides)
            if (side.is_finite)
                sum += (side.room + step * side.room_move) *
                       (side.multiplier + step * side.multiplier_move);
    return sum / Real(static_cast<double>(std::max<std::int64_t>(n_products_, 1)));
}

template <class Real>
bool UnitInterior<Real>::step(support::Interrupt& interrupt) {
    if (!factorise(interrupt)) return false;
    find_direction(0.0, false);
    const Real mean = mean_product(0.0);
    const double ratio =
        leading(mean) > 0
            ? leading(mean_product(std::min(leading(longest_step()), 1.0))) / leading(mean)
            : 0.0;
    find_direction(mean * Real(ratio * ratio * ratio), true);
    const Real step = Real(kShare) * longest_step();
    if (!(leading(step) > kShortest)) return false;
    for (std::size_t j = 0; j < x_.size(); ++j)
        x_[j] += step * x_move_[j];
    for (std::size_t k = 0; k < y_.size(); ++k) {
        y_[k] += step * y_move_[k];
        for (Side* side : {&below_[k], &above_[k]}) {
            side->room += step * side->room_move;
            side->multiplier += step * side->multiplier_move;
        }
    }
    evaluate();
    return std::isfinite(quality_.products) && std::isfinite(quality_.residual);
}

template <class Real>
void UnitInterior<Real>::point(std::span<double> x, std::span<double> y) const {
    assert(x.size() == x_.size() && y.size() == y_.size());
    for (std::size_t j = 0; j < x.size(); ++j)
        x[j] = leading(x_[j]);
    for (std::size_t k = 0; k < y.size(); ++k)
        y[k] = std::clamp(leading(y_[k]), program_.low[k], program_.high[k]);
}

template class UnitInterior<double>;
template class UnitInterior<Number>;

}  // namespace rectiline::interior
