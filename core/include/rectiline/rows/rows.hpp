// The cost of each row of a problem: row i costs weight_i * phi_i(direction_i * z_i + offset_i) at
// the prediction z_i, where phi_i is one of a few curves and direction_i is -1 or +1.
#pragma once

#include "rectiline/rows/curve.hpp"

#include <bit>

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

// ---- blocks -------------------------------------------------------------------------------------

// Rows in blocks that stay in a cache from one loop to the next. Samples that a fold holds out have
// no weight; where they lie side by side whole blocks can be passed over.

struct RowBlock {
    std::int64_t first, last;

    std::int64_t size() const { return last - first; }
};

inline constexpr std::int64_t kBlockRows = 256;

// Blocks of all rows, or only those in which some row has a weight.
inline std::vector<RowBlock> row_blocks(const RowFunctions& rows, bool with_weight) {
    std::vector<RowBlock> used;
    used.reserve(rows.n / kBlockRows + 1);
    for (std::int64_t i = 0; i < rows.n; i += kBlockRows) {
        const RowBlock block{i, std::min(rows.n, i + kBlockRows)};
        if (!with_weight || std::any_of(rows.weight + block.first, rows.weight + block.last,
                                        [](double weight) { return weight > 0; }))
            used.push_back(block);
    }
    return used;
}

// ---- boxes --------------------------------------------------------------------------------------

// The boxes of the multipliers, rounded inwards: a multiplier inside them is feasible exactly, not
// up to rounding.

// Whether |x| is a power of two, zero or infinite: products with it are exact, short of overflow.
RECTILINE_INLINE bool is_power_of_two(double x) {
    constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
    return (std::bit_cast<std::uint64_t>(x) & kMantissa) == 0;
}

inline bool all_powers_of_two(const double* x, std::int64_t n) {
    return std::all_of(x, x + n, [](double one) { return is_power_of_two(one); });
}

struct Box {
    double low, high;
};

// Doubles within [weight * low, weight * high]; `low` <= 0 <= `high` need not hold.
RECTILINE_INLINE Box inward_box(double weight, double low, double high) {
    constexpr double kLastDigit = 0x1p-52;
    const double least = weight * low, most = weight * high;
    const double above = least + kLastDigit * (least < 0 ? -least : least);
    const double below = most - kLastDigit * (most < 0 ? -most : most);
    const bool exact = is_power_of_two(weight);
    return {exact || is_power_of_two(low) ? least : above,
            exact || is_power_of_two(high) ? most : below};
}

}  // namespace rectiline::rows
