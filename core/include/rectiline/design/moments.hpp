// Sums and squares of the columns and rows of a design matrix, in one pass over it.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <span>

namespace rectiline::design {

struct Moments {
    std::span<double> sum;         // sum_i x_ij, one entry per column
    std::span<double> square;      // sum_i x_ij^2
    std::span<double> scale;       // about the size of the column, a power of two
    std::span<double> row_square;  // sum_j (x_ij / scale_j)^2, one entry per row
};

// The scales are those of a few rows, so that they are known before the pass begins.
void moments(const DesignView& X, const Moments& out);

}  // namespace rectiline::design
