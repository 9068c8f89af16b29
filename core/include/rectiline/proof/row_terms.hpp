// The share of the rows in a certificate, with a bound on what rounding may have done to it.
//
// Row i is looked at with an argument that is known to lie within `radius[i]` of `argument[i]`. Its
// Fenchel-Young term phi(t) + phi*(s) - s t is convex in t and convex in s, so over a rectangle of
// both it is largest at a corner: the upper sum takes the worst corner of every row.
#pragma once

#include "rectiline/proof/free_columns.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"

#include <span>

namespace rectiline::proof {

struct RowTerms {
    double loss;        // sum_i weight_i phi_i(argument_i)
    double loss_error;  // the exact sum at the exact arguments is at most this far from it
    double gap;         // sum_i of the Fenchel-Young terms at the arguments
    double gap_upper;   // at least the sum of the exact terms at the exact arguments
};

// Where the losses are evaluated, and how far the exact arguments may be from there.
struct Arguments {
    std::span<const double> value, radius;
};

// The multipliers are share * (g_i + d_i), where g lies exactly in the boxes of the rows (see
// clip_dual), 0 <= share <= 1, and the d_i are zero but for the rows in `moves`: of these no more
// is known than |d_i| <= by and that g_i + d_i is in its box.
RowTerms row_terms(const RowFunctions& rows, Arguments at, std::span<const double> g,
                   const Moves& moves, double share);

}  // namespace rectiline::proof
