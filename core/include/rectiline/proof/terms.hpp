// The shares of rows and columns in a certificate, with bounds on what rounding may have done to
// them.
//
// Row i is looked at with an argument that is known to lie within `radius[i]` of `argument[i]`. Its
// Fenchel-Young term phi(t) + phi*(s) - s t is convex in t and convex in s, so over a rectangle of
// both it is largest at a corner: the upper sum takes the worst corner of every row.
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/proof/free_columns.hpp"
#include "rectiline/proof/measure.hpp"
#include "rectiline/rows/rows.hpp"

namespace rectiline::proof {

// Sums over rows, or over columns.
struct BoundedTerms {
    double value;        // of the losses weight_i phi_i(argument_i), or of h_j(b_j), bounds ignored
    double value_error;  // the exact sum, at the exact arguments, is at most this far from it
    double gap;          // of the Fenchel-Young terms
    double gap_upper;  // at least the sum of the exact terms, for all arguments and q within errors
};

// Where the losses are evaluated, and how far the exact arguments may be from there.
struct Arguments {
    std::span<const double> value, radius;
};

// The multipliers are share * (g_i + d_i), where g lies exactly in the boxes of the rows (see
// clip_dual), 0 <= share <= 1, and the d_i are zero but for the rows in `moves`: of these no more
// is known than |d_i| <= by and that g_i + d_i is in its box.
BoundedTerms row_terms(const RowFunctions& rows, Arguments at, std::span<const double> g,
                       const Moves& moves, double share);

// q and all points within `error` of it lie where every h_j* is finite, b within its bounds.
BoundedTerms column_bounds(const ColumnFunctions& columns, std::span<const double> b,
                           std::span<const double> q, std::span<const double> error);

// A share of q, nearly the largest one, that lies where every h_j* is finite together with the same
// share of every point within `error` of q.
double dual_share(const ColumnFunctions& columns, std::span<const double> q,
                  std::span<const double> error);

// ---- small problems -----------------------------------------------------------------------------

// A whole proof of a small problem but for the penalty: the steps that `problems/proof` takes one
// by one, in one call, for problems without constraint rows whose penalty is a sum over columns.

struct ClosedPair {
    BoundedTerms terms;
    double share;  // of the multipliers that is in the dual range
};

// A problem: X with its norms, the free columns and which of X they are, rows, columns.
struct SmallProblem {
    const DesignView& X;
    DesignNorms norms;
    FreeColumns free;
    std::span<const std::int64_t> free_columns;
    const RowFunctions& rows;
    const ColumnFunctions& columns;
};

// Moves any finite multipliers g into their boxes and balances them. Sets q for the share of them
// that is in the dual range, zero on the free columns. Nothing if no exact balance was found.
std::optional<ClosedPair> close_pair(const SmallProblem& problem, std::span<const double> b,
                                     double intercept, bool twofold, std::span<double> g,
                                     PairProducts out);

}  // namespace rectiline::proof
