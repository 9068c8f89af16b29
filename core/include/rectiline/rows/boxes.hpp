// The boxes of the multipliers, rounded inwards: a multiplier inside them is feasible exactly, not
// up to rounding.
#pragma once

#include "rectiline/rooms.hpp"

#include <bit>

namespace rectiline::rows {

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
