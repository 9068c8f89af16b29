// Whether all numbers of an array are finite.
#pragma once

#include "rectiline/rooms.hpp"

#include <limits>
#include <span>

namespace rectiline::support {

// Without a branch, so that the loop is made of vectors.
inline bool all_finite(std::span<const double> values) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    bool finite = true;
    for (const double x : values)
        finite &= (-kLargest <= x) & (x <= kLargest);
    return finite;
}

}  // namespace rectiline::support
