// The cost of each row of a problem: row i costs weight_i * phi_i(direction_i * z_i + offset_i) at
// the prediction z_i, where phi_i is one of a few curves and direction_i is -1 or +1.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/rows/curve.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rectiline::rows {

struct RowFunctions {
    std::int64_t n;
    const Curve* curves;
    const std::uint8_t* curve_index;  // nullptr: every row has curves[0]
    const double* direction;
    const double* offset;
    const double* weight;

    RECTILINE_INLINE const Curve& curve(std::int64_t i) const {
        return curve_index ? curves[curve_index[i]] : curves[0];
    }
    // How many curves are in use: those up to the last one.
    std::size_t n_curves() const {
        return curve_index && n > 0
                   ? std::size_t{1} + *std::max_element(curve_index, curve_index + n)
                   : 1;
    }
    RECTILINE_INLINE double argument(std::int64_t i, double z) const {
        return direction[i] * z + offset[i];
    }
};

}  // namespace rectiline::rows
