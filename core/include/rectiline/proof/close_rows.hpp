// The rows' part of a certificate of a problem without free columns and constraint rows, from the
// products with X on: what the intercept takes, by what the multipliers shrink, and the terms.
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/proof/row_bounds.hpp"
#include "rectiline/rooms.hpp"

#include <optional>
#include <span>

namespace rectiline::proof {

// Where the losses are evaluated, and how far the exact arguments may be from there.
struct Arguments {
    std::span<const double> value, radius;
};

struct ClosedRows {
    RowBounds bounds;
    double growth;  // what an exact balance of the intercept may add to the gap
    double share;   // of the multipliers that is in the dual range
};

// `total` bounds the sum of the multipliers, which a free intercept asks to be zero; 0 without one.
// q = -X'g, known up to `error`, becomes what it is for the share of the multipliers. Nothing if no
// row can take the sum, or if the share is not above `least`.
std::optional<ClosedRows> close_rows(const DesignView& X, const RowFunctions& rows,
                                     const ColumnFunctions& columns, Arguments at,
                                     std::span<const double> g, double total, double least,
                                     std::span<double> q, std::span<double> error);

}  // namespace rectiline::proof
