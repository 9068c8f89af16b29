// The sums over rows that prove how good a primal-dual pair is. Everything is summed with
// compensation and no term can be negative, so a gap of 1e-12 of the objective is still meaningful.
#pragma once

#include "rectiline/rows/rows.hpp"

namespace rectiline::rows {

struct RowSums {
    double loss;           // sum_i weight_i phi_i(t_i)
    double fenchel_young;  // sum_i f_i(z_i) + f_i*(g_i) - g_i z_i, each term >= 0
};

// z: predictions; g: a slope of row i's cost in its prediction (inside its box, see clip_dual).
RowSums row_sums(const RowFunctions& rows, std::span<const double> z, std::span<const double> g);

// Loss alone, summed with compensation.
double loss_sum(const RowFunctions& rows, std::span<const double> z);

// g_i = a slope of row i's cost at z_i.
void slopes_at(const RowFunctions& rows, std::span<const double> z, std::span<double> g);

// Moves every g_i into the range of slopes of its row.
void clip_dual(const RowFunctions& rows, std::span<double> g);

struct Balance {
    double sum = 0;   // sum_i g_i
    double size = 0;  // sum_i |g_i|
};

// Moves every g_i into its box, and then inside the boxes until sum_i g_i = 0, as the dual of an
// unpenalised intercept requires. Rows strictly inside their boxes move first, in proportion to the
// room they have: at an optimum they sit on a kink and moving them costs nothing. As soon as some
// of them have plenty of room, the others stay. Returns the sum that is left (rounding level, or
// larger when the boxes do not allow 0).
Balance balance_dual(const RowFunctions& rows, std::span<double> g);

// Where the multiplier of each row may be: between the least and the largest slope of its cost.
void dual_boxes(const RowFunctions& rows, std::span<double> low, std::span<double> high);

// The left and the right derivative of each row's cost at the prediction z of every row. An
// argument within rounding of knots is at all of them: predictions that come from knots are found
// there again.
void slope_ranges(const RowFunctions& rows, double z, std::span<double> low,
                  std::span<double> high);

// ---- states of rows -----------------------------------------------------------------------------

// On which knot or piece of its loss each row of a nearly optimal pair sits, for the polish.

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
