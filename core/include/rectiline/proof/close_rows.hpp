// The rows' part of a certificate of a problem without constraint rows, from the products with X
// on: what an exact balance takes, by what the multipliers shrink, and the terms.
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/proof/free_columns.hpp"
#include "rectiline/proof/row_bounds.hpp"
#include "rectiline/rooms.hpp"

#include <optional>
#include <span>

namespace rectiline::proof {

// Where the losses are evaluated, and how far the exact arguments may be from there.
struct Arguments {
    std::span<const double> value, radius;
};

// Multipliers in their boxes, and a bound on their sum, which an intercept asks to be zero; 0
// without one.
struct BoxedMultipliers {
    std::span<const double> g;
    DualBoxes boxes;
    double total;
};

struct ClosedRows {
    RowBounds bounds;
    double growth;  // what an exact balance of the intercept alone may add to the gap
    double share;   // of the multipliers that is in the dual range
};

// q = -X'g, known up to `error`, becomes what it is for the share of the multipliers, and zero on
// the free columns. Nothing if no exact balance was found, or if the share is not above `least`.
std::optional<ClosedRows> close_rows(const FreeColumns& free, const RowFunctions& rows,
                                     const ColumnFunctions& columns, Arguments at,
                                     BoxedMultipliers dual, std::span<const double> column_norm,
                                     double least, std::span<double> q, std::span<double> error);

// Upper bounds on norms of X: rows of X / scale, and columns.
struct DesignNorms {
    std::span<const double> scale, row, column;
};

// Where arguments and q of a pair go, with what is known of their rounding.
struct PairProducts {
    std::span<double> argument, radius, q, error;
};

// close_rows for any finite multipliers, moved into their boxes and balanced here, with products in
// plain doubles or twofold: a whole proof of a small problem but for the penalty.
std::optional<ClosedRows> close_pair(const FreeColumns& free, const RowFunctions& rows,
                                     const ColumnFunctions& columns, std::span<const double> b,
                                     double intercept, const DesignNorms& norms, DualBoxes boxes,
                                     bool twofold, double least, std::span<double> g,
                                     PairProducts out);

}  // namespace rectiline::proof
