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
#include <span>

namespace rectiline::proof {

struct RowBounds {
    double loss;        // sum_i weight_i phi_i(argument_i)
    double loss_error;  // the exact sum at the exact arguments is at most this far from it
    double gap;         // sum_i of the Fenchel-Young terms at the arguments
    double gap_upper;   // at least the sum of the exact terms at the exact arguments
};

// About the sizes of the columns of X, and upper bounds on the norms of the rows of X / scale.
struct NormBounds {
    std::span<const double> scale, row;
};

// Arguments direction (z + intercept) + offset of predictions z = X b in plain doubles.
void plain_arguments(const RowFunctions& rows, std::span<const double> z, double intercept,
                     std::span<const double> b, NormBounds norms, std::span<double> argument,
                     std::span<double> radius);

// q = -image for image = X'g in plain doubles, and its error.
void plain_slopes(std::span<const double> g, std::span<const double> image,
                  std::span<const double> column_norm, std::span<double> q,
                  std::span<double> error);

// Arguments of predictions in twofold arithmetic, rounded once at the end.
void twofold_arguments(const RowFunctions& rows, const TwofoldVector& z, double intercept,
                       std::span<double> argument, std::span<double> radius);

// The multipliers are share * (g_i + d_i), where g lies exactly in the boxes of the rows (see
// clip_dual), 0 <= share <= 1, and the d_i are not known beyond |d_i| <= move[i] and g_i + d_i
// being in its box. `move` may be empty: then d = 0.
RowBounds row_bounds(const RowFunctions& rows, std::span<const double> argument,
                     std::span<const double> radius, std::span<const double> g,
                     std::span<const double> move, double share);

// The most that the Fenchel-Young term of one row grows, beyond its share in gap_upper, where its
// multiplier moves by up to `move` inside its box.
double row_growth(const RowFunctions& rows, std::int64_t i, double argument, double radius,
                  double g, double move, double share);

// The first row whose multiplier lies inside its box by more than `margin`; -1 if there is none.
std::int64_t row_inside(const RowFunctions& rows, std::span<const double> g, double margin);

}  // namespace rectiline::proof
