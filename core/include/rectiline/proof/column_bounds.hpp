// The share of the columns in a certificate, with a bound on what rounding may have done to it.
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/rooms.hpp"

#include <span>

namespace rectiline::proof {

struct ColumnBounds {
    double value;        // sum_j h_j(b_j), bounds ignored
    double value_error;  // the exact sum is at most this far from it
    double gap;          // sum_j h_j(b_j) + h_j*(q_j) - q_j b_j
    double gap_upper;    // at least the sum of the exact terms, for every q within its error
};

// q and all points within `error` of it lie where every h_j* is finite, b within its bounds.
ColumnBounds column_bounds(const ColumnFunctions& columns, std::span<const double> b,
                           std::span<const double> q, std::span<const double> error);

// A share of q, nearly the largest one, that lies where every h_j* is finite together with the same
// share of every point within `error` of q.
double dual_share(const ColumnFunctions& columns, std::span<const double> q,
                  std::span<const double> error);

}  // namespace rectiline::proof
