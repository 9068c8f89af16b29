// A dense copy of some rows of some columns, shifted and scaled on the way.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>
#include <span>

namespace rectiline::design {

struct BlockOf {
    std::span<const std::int64_t> rows, columns;
    std::span<const double> centre;      // subtracted from each column; empty: nothing
    std::span<const double> factor;      // of each column
    std::span<const double> row_factor;  // empty: ones
};

// out[i * stride + j] = (X[rows_i, columns_j] - centre_j) * factor_j * row_factor_i; dense X only.
// `out` is a pointer because its lines may lie further apart than they are long.
void copy_block(const DesignView& X, const BlockOf& block, std::int64_t stride, double* out);
void copy_block(const DesignView& X, const BlockOf& block, std::int64_t stride, float* out);

}  // namespace rectiline::design
