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

// s_j = sum_i scale_i x_ij^2
void column_squares(const DesignView& X, std::span<const double> scale, std::span<double> s);

}  // namespace rectiline::design
