// Dense copies of some rows, or of some columns of them, shifted and scaled on the way.
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

// out = X[rows], in one piece; dense X only.
void copy_rows(const DesignView& X, std::span<const std::int64_t> rows, double* out);
void copy_rows(const DesignView& X, std::span<const std::int64_t> rows, float* out);

}  // namespace rectiline::design
