#include "rectiline/interior/twofold_interior.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace rectiline::interior {

namespace {

// Added to D of a free multiplier, whose row is met up to this much of its move (so that the next
// step meets it), and to the diagonal, so that a column that nothing holds stays where it is.
constexpr double kFree = 1e-12;
constexpr double kProximal = 1e-20;
constexpr double kShare = 0.995;  // of the way to the nearest bound
constexpr double kShortest = 1e-12;
constexpr double kLargeProduct = 1e8;  // at the start
constexpr std::int64_t kCost = 8;      // multiply-adds of doubles in the time of one of numbers

Number largest(Number a, Number b) {
    return a.hi < b.hi ? b : a;
}

Number starting_room(Number multiplier) {
    return multiplier.hi > kLargeProduct ? Number(kLargeProduct) / multiplier : Number(1.0);
}

double size_of(Number a) {
    return std::fabs(a.hi);
}

}  // namespace

TwofoldInterior::TwofoldInterior(UnitProgram program)
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
      matrix_(program_.width()) {
    for (std::size_t k = 0; k < y_.size(); ++k) {
        const double low = program_.low[k], high = program_.high[k];
        below_[k].is_finite = std::isfinite(low);
        above_[k].is_finite = std::isfinite(high);
        n_products_ += below_[k].is_finite + above_[k].is_finite;
        // p - r takes up what is missing at x = 0, and both keep clear of zero. With one end only,
        // the room keeps their product from being very large.
        Number slack = Number(program_.shift[k]);
        if (below_[k].is_finite && above_[k].is_finite) {
            y_[k] = Number(0.5 * (low + high));
            slack -= Number(program_.soft[k]) * y_[k];
        }
        below_[k].multiplier = largest(-slack, Number(0.0)) + Number(1.0);
        above_[k].multiplier = largest(slack, Number(0.0)) + Number(1.0);
        if (below_[k].is_finite && !above_[k].is_finite)
            y_[k] = Number(low) + starting_room(below_[k].multiplier);
        else if (above_[k].is_finite && !below_[k].is_finite)
            y_[k] = Number(high) - starting_room(above_[k].multiplier);
        below_[k].room = y_[k] - Number(low);
        above_[k].room = Number(high) - y_[k];
    }
    evaluate();
}

void TwofoldInterior::evaluate() {
    const auto& [begin, columns, values, row, shift, low, high, soft, rho, linear] = program_;
    Number objective = 0.0, products = 0.0;
    for (std::size_t j = 0; j < x_.size(); ++j) {
        const Number bend = Number(rho[j]) * x_[j];
        residual_[j] = bend + Number(linear[j]);
        objective += (Number(0.5) * bend + Number(linear[j])) * x_[j];
    }
    for (std::size_t r = 0; r < row_value_.size(); ++r) {
        Number sum = 0.0;
        for (std::int64_t e = begin[r]; e < begin[r + 1]; ++e)
            sum += Number(values[e]) * x_[columns[e]];
        row_value_[r] = sum;
    }
    double violation = 0.0;
    std::vector<Number>& pull = per_row_;
    std::fill(pull.begin(), pull.end(), Number(0.0));
    for (std::size_t k = 0; k < y_.size(); ++k) {
        const Number argument = row_value_[row[k]] + Number(shift[k]);
        miss_[k] = argument - Number(soft[k]) * y_[k];
        if (below_[k].is_finite) {
            miss_[k] += below_[k].multiplier;
            products += below_[k].multiplier * below_[k].room;
        }
        if (above_[k].is_finite) {
            miss_[k] -= above_[k].multiplier;
            products += above_[k].multiplier * above_[k].room;
        }
        violation = std::max(violation, size_of(miss_[k]));
        objective += y_[k] * (argument - Number(0.5 * soft[k]) * y_[k]);
        pull[row[k]] += y_[k];
    }
    double residual = 0.0;
    for (std::size_t r = 0; r < row_value_.size(); ++r)
        for (std::int64_t e = begin[r]; e < begin[r + 1]; ++e)
            residual_[columns[e]] += Number(values[e]) * pull[r];
    for (std::size_t j = 0; j < x_.size(); ++j)
        residual += size_of(residual_[j]) * (1.0 + size_of(x_[j]));
    quality_ = {products.hi, residual, violation, objective.hi};
}

bool TwofoldInterior::factorise(support::Interrupt& interrupt) {
    std::vector<Number>& total = per_row_;
    std::fill(total.begin(), total.end(), Number(0.0));
    for (std::size_t k = 0; k < y_.size(); ++k) {
        const bool is_boxed = below_[k].is_finite || above_[k].is_finite;
        Number D = Number(program_.soft[k] > 0 || is_boxed ? program_.soft[k] : kFree);
        if (below_[k].is_finite) D += below_[k].multiplier / below_[k].room;
        if (above_[k].is_finite) D += above_[k].multiplier / above_[k].room;
        weight_[k] = Number(1.0) / D;
        total[program_.row[k]] += weight_[k];
    }
    matrix_.clear();
    for (std::int64_t j = 0; j < program_.width(); ++j)
        matrix_.add_to_diagonal(j, Number(program_.rho[j]) + Number(kProximal));
    for (std::int64_t r = 0; r < program_.n_rows(); ++r) {
        const std::int64_t first = program_.begin[r], count = program_.begin[r + 1] - first;
        const auto size = static_cast<std::size_t>(count);
        matrix_.add_row(total[r], {program_.columns.data() + first, size},
                        {program_.values.data() + first, size});
        if (interrupt.poll(kCost * count * count / 2)) return false;
    }
    const std::int64_t width = program_.width();
    if (interrupt.poll_ahead(kCost * width * width * width / 6)) return false;
    matrix_.factorise();
    return true;
}

// The direction towards products of size `target`; `corrects` counts the products of the moves of
// the direction before it (Mehrotra's second-order term).
void TwofoldInterior::find_direction(Number target, bool corrects) {
    const auto& [begin, columns, values, row, shift, low, high, soft, rho, linear] = program_;
    const auto wanted = [&](const Side& side) {
        Number change = target - side.multiplier * side.room;
        if (corrects) change -= side.room_move * side.multiplier_move;
        return change;
    };
    std::vector<Number>& pull = per_row_;
    std::fill(pull.begin(), pull.end(), Number(0.0));
    for (std::size_t k = 0; k < y_.size(); ++k) {
        Number h = miss_[k];
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
            x_move_[columns[e]] -= Number(values[e]) * pull[r];
    matrix_.solve(x_move_);
    for (std::size_t r = 0; r < row_value_.size(); ++r) {
        Number sum = 0.0;
        for (std::int64_t e = begin[r]; e < begin[r + 1]; ++e)
            sum += Number(values[e]) * x_move_[columns[e]];
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

Number TwofoldInterior::longest_step() const {
    Number longest = 1.0 / kShare;
    for (const auto* sides : {&below_, &above_})
        for (const Side& side : *sides) {
            if (!side.is_finite) continue;
            if (side.room_move.hi < 0 && (side.room + longest * side.room_move).hi < 0)
                longest = -side.room / side.room_move;
            if (side.multiplier_move.hi < 0 &&
                (side.multiplier + longest * side.multiplier_move).hi < 0)
                longest = -side.multiplier / side.multiplier_move;
        }
    return longest;
}

Number TwofoldInterior::mean_product(Number step) const {
    Number sum = 0.0;
    for (const auto* sides : {&below_, &above_})
        for (const Side& side : *sides)
            if (side.is_finite)
                sum += (side.room + step * side.room_move) *
                       (side.multiplier + step * side.multiplier_move);
    return sum / Number(static_cast<double>(std::max<std::int64_t>(n_products_, 1)));
}

bool TwofoldInterior::step(support::Interrupt& interrupt) {
    if (!factorise(interrupt)) return false;
    find_direction(0.0, false);
    const Number mean = mean_product(0.0);
    const double ratio =
        mean.hi > 0 ? mean_product(std::min(longest_step().hi, 1.0)).hi / mean.hi : 0.0;
    find_direction(mean * Number(ratio * ratio * ratio), true);
    const Number step = Number(kShare) * longest_step();
    if (!(step.hi > kShortest)) return false;
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

void TwofoldInterior::point(std::span<double> x, std::span<double> y) const {
    assert(x.size() == x_.size() && y.size() == y_.size());
    for (std::size_t j = 0; j < x.size(); ++j)
        x[j] = x_[j].hi;
    for (std::size_t k = 0; k < y.size(); ++k)
        y[k] = std::clamp(y_[k].hi, program_.low[k], program_.high[k]);
}

}  // namespace rectiline::interior
