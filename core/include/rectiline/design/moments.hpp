// Sums, squares and norms of the columns and rows of a design matrix.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <span>

namespace rectiline::design {

struct Moments {
    std::span<double> sum;          // sum_i x_ij, one entry per column
    std::span<double> square;       // sum_i x_ij^2
    std::span<double> scale;        // about the size of the column, a power of two
    std::span<double> column_norm;  // at least the norm of the column, whatever rounding did
    std::span<double> row_norm;     // at least that of (x_ij / scale_j)_j, one entry per row
};

void moments(const DesignView& X, const Moments& out);

// In which units columns with these means and mean squares count: what to subtract from each, and
// one over its deviation. A column whose mean dwarfs its spread stays as it is, because centring by
// formula would lose digits; so do all with `centred` false. Returns whether anything is
// subtracted.
bool column_units(std::span<const double> mean, std::span<const double> square, bool centred,
                  std::span<double> shift, std::span<double> unit);

}  // namespace rectiline::design
