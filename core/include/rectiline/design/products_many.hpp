// Products of a dense matrix with many vectors at once. One pass over the rows serves them all.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>

namespace rectiline::design {

// Whether X is stored so that these products take it: dense, rows in one piece.
bool takes_many(const DesignView& X);

// Rows whose weight is zero may be left out where many lie side by side; no weights: all count.

// Z (count x n) = B X' + shift, for B (count x d) and one shift for each of its rows. Rows left out
// get the shift.
void multiply_many(const DesignView& X, std::int64_t count, const double* B, const double* shift,
                   const double* weight, double* Z);

// Q (count x d) = G X, for G (count x n), which is zero on rows without weight.
void multiply_transposed_many(const DesignView& X, std::int64_t count, const double* G,
                              const double* weight, double* Q);

}  // namespace rectiline::design
