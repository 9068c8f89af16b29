// The share of the rows in a certificate, with a bound on what rounding may have done to it.
//
// Row i is looked at with an argument that is known to lie within `radius[i]` of `argument[i]`. Its
// Fenchel-Young term phi(t) + phi*(s) - s t is convex in t and convex in s, so over a rectangle of
// both it is largest at a corner: the upper sum takes the worst corner of every row.
#pragma once

#include "rectiline/proof/products.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"

#include <cstdint>

namespace rectiline::proof {

struct RowBounds {
    double loss;        // sum_i weight_i phi_i(argument_i)
    double loss_error;  // the exact sum at the exact arguments is at most this far from it
    double gap;         // sum_i of the Fenchel-Young terms at the arguments
    double gap_upper;   // at least the sum of the exact terms at the exact arguments
};

// Arguments direction (z + intercept) + offset of predictions in plain doubles. The error of z_i is
// at most factor * row_size[i].
void plain_arguments(const RowFunctions& rows, const double* z, double intercept,
                     const double* row_size, double factor, double* argument, double* radius);

// Arguments of predictions in twofold arithmetic, rounded once at the end.
void twofold_arguments(const RowFunctions& rows, const TwofoldVector& z, double intercept,
                       double* argument, double* radius);

// The multipliers are `share` * g, with g exactly in the boxes of the rows (see clip_dual) and
// 0 <= share <= 1.
RowBounds row_bounds(const RowFunctions& rows, const double* argument, const double* radius,
                     const double* g, double share);

// The most that the Fenchel-Young term of one row can grow when its multiplier moves by up to
// |change| in the direction of `change`; infinite if it can leave its box.
double growth_of_row(const RowFunctions& rows, std::int64_t i, double argument, double radius,
                     double g, double change);

// The row whose multiplier can move by `change` inside its box, at the least cost among the rows
// strictly inside (or, if none is, among all); -1 if no row can.
std::int64_t row_to_move(const RowFunctions& rows, const double* argument, const double* g,
                         double change);

}  // namespace rectiline::proof
