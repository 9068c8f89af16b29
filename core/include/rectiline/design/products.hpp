// Products with a design matrix, and sums, squares and norms of its columns and rows. All vectors
// are double, whatever X holds.
#pragma once

#include "rectiline/design/design.hpp"

namespace rectiline::design {

// z = X b
void multiply(const DesignView& X, std::span<const double> b, std::span<double> z);

// q = X' g
void multiply_transposed(const DesignView& X, std::span<const double> g, std::span<double> q);

// z = X b and q = X' g in one pass over the rows where the storage allows it.
void multiply_both(const DesignView& X, std::span<const double> b, std::span<const double> g,
                   std::span<double> z, std::span<double> q);

// r_i = sum_j x_ij^2 scale_j
void row_squares(const DesignView& X, std::span<const double> scale, std::span<double> r);

// s_j = sum_i scale_i |x_ij|
void column_sizes(const DesignView& X, std::span<const double> scale, std::span<double> s);

// s_j = sum_i scale_i x_ij^2
void column_squares(const DesignView& X, std::span<const double> scale, std::span<double> s);

// Sums, squares and norms.
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
