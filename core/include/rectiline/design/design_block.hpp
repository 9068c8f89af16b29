// A dense copy of some rows of some columns, shifted and scaled on the way.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>

namespace rectiline::design {

struct BlockOf {
    const std::int64_t* rows;
    const std::int64_t* columns;
    std::int64_t n_rows, n_columns;
    const double* centre;      // subtracted from each column; nullptr: nothing
    const double* factor;      // of each column
    const double* row_factor;  // nullptr: ones
};

// out[i * stride + j] = (X[rows_i, columns_j] - centre_j) * factor_j * row_factor_i; dense X only.
void copy_block(const DesignView& X, const BlockOf& block, std::int64_t stride, double* out);
void copy_block(const DesignView& X, const BlockOf& block, std::int64_t stride, float* out);

}  // namespace rectiline::design
