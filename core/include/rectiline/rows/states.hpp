// On which knot or piece of its loss each row of a nearly optimal pair sits, for the polish.
#pragma once

#include "rectiline/rows/rows.hpp"

namespace rectiline::rows {

struct RowStates {
    std::span<double> g;       // the multiplier on that piece, or kept on that knot
    std::span<double> bend;    // the curvature of the piece in the prediction
    std::span<double> target;  // the prediction at the knot
    std::span<bool> held;      // whether the row sits on a knot
};

// Reads the states off t + sigma * slope, which orders knots and pieces without ties; sigma makes
// both terms vary alike. Of more than `most` rows on knots the surest ones stay.
void row_states(const RowFunctions& rows, std::span<const double> z, std::span<const double> g,
                std::int64_t most, RowStates states);

}  // namespace rectiline::rows
