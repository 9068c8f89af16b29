// Whether all numbers of an array are finite.
#pragma once

#include "rectiline/rooms.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace rectiline::support {

// Zero times a number is zero if it is finite and undefined if not. Several sums side by side, so
// that the loop is made of vectors.
inline bool all_finite(std::span<const double> values) {
    constexpr std::size_t kLanes = 16;
    double sum[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            sum[lane] += 0.0 * values[i + lane];
    for (; i < values.size(); ++i)
        sum[0] += 0.0 * values[i];
    return std::all_of(sum, sum + kLanes, [](double one) { return one == 0.0; });
}

}  // namespace rectiline::support
