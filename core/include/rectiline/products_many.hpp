// Products of a dense matrix with many vectors at once. One pass over the rows serves them all.
#pragma once

#include "rectiline/design.hpp"

#include <cstdint>

namespace rectiline {

// Whether X is stored so that these products take it: dense, rows in one piece.
bool takes_many(const DesignView& X);

// Z (count x n) = B X' + shift, for B (count x d) and one shift for each of its rows.
void multiply_many(const DesignView& X, std::int64_t count, const double* B, const double* shift,
                   double* Z);

// Q (count x d) = G X, for G (count x n).
void multiply_transposed_many(const DesignView& X, std::int64_t count, const double* G, double* Q);

}  // namespace rectiline
