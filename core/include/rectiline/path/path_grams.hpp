// Newton matrices of a loss along a path: for each of several vectors of predictions, the Gram
// matrix of the rows weighted by the curvature of their cost there.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"

#include <cstdint>

namespace rectiline::path {

// `z` is count x n, `out` count x order^2, order = columns (and the intercept). `weight` are the
// weights of the rows, n of them.
void path_grams(const DesignView& X, const RowFunctions& rows, const double* weight,
                const double* z, std::int64_t count, bool intercept, double* out, int n_threads);

}  // namespace rectiline::path
