// A program of boxed units on rows, see `UnitInterior`. The rows themselves belong to the
// `NormalSystem`, which knows how they are stored.
#pragma once

#include "rectiline/rooms.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace rectiline::interior {

struct UnitProgram {
    // One entry per unit. `least` is added to the stiffness of its multiplier, so that the weights
    // of rows stay within the reach of refinement and those of free multipliers are finite. A unit
    // that is open on one side starts `room` away from the other.
    std::vector<std::int64_t> row;
    std::vector<double> shift, low, high, soft, least, room;
    // One entry per column; `price` is the unit of its absolute value, or -1.
    std::vector<double> rho, linear;
    std::vector<std::int64_t> price;
    double constant = 0;          // of the objective
    double reference = 0;         // what zero coefficients cost: the yardstick of rounding
    bool is_nonnegative = false;  // whether nothing can cost less than `constant`

    std::int64_t width() const { return static_cast<std::int64_t>(rho.size()); }
    bool is_boxed(std::int64_t k) const { return std::isfinite(low[k]) || std::isfinite(high[k]); }
    std::int64_t n_units() const { return static_cast<std::int64_t>(row.size()); }
};

}  // namespace rectiline::interior
