// In which units the rows of a problem count: how much their arguments vary, and how far their
// multipliers may range.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"

#include <span>

namespace rectiline::rows {

// The median distance of the offsets of rows that count from their median, or from zero; the mean
// distance where that is zero. Medians are upper ones. 0 where all offsets are equal.
double offset_spread(const RowFunctions& rows, bool about_median);

// The range of slopes of each row's cost in its prediction; slopes of curve c range over
// [least[c], most[c]].
void slope_boxes(const RowFunctions& rows, std::span<const double> least,
                 std::span<const double> most, std::span<double> low, std::span<double> high);

}  // namespace rectiline::rows
