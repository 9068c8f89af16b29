// Products with a design matrix. All vectors are double, whatever X holds.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <span>

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

// sum_j = sum_i x_ij, square_j = sum_i x_ij^2 and row_square_i = sum_j x_ij^2 inverse_j in one
// pass; false, and nothing is done, unless the rows of X are dense and lie in one piece.
bool moments_of_rows(const DesignView& X, std::span<const double> inverse, std::span<double> sum,
                     std::span<double> square, std::span<double> row_square);

// s_j = sum_i scale_i |x_ij|
void column_sizes(const DesignView& X, std::span<const double> scale, std::span<double> s);

// s_j = sum_i scale_i x_ij^2
void column_squares(const DesignView& X, std::span<const double> scale, std::span<double> s);

}  // namespace rectiline::design
