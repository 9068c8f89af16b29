// Which slopes the rows can have at one prediction for all of them.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"

#include <span>

namespace rectiline::rows {

// Sums over rows of the left and of the right derivative of their costs, with the sums of sizes.
struct SlopeSums {
    double low, low_size, high, high_size;
};

// All of this at the prediction z of every row. An argument within rounding of a knot is at the
// knot: predictions that come from knots are found there again.
SlopeSums slope_sums(const RowFunctions& rows, double z);
void slope_ranges(const RowFunctions& rows, double z, std::span<double> low,
                  std::span<double> high);

}  // namespace rectiline::rows
