#include "rectiline/rows/labels.hpp"

#include "rectiline/support/multiversion.hpp"
#include "rectiline/support/threads.hpp"

#include <cassert>
#include <cmath>

namespace rectiline::rows {
namespace {

struct Range {
    double low, high;
};

RECTILINE_MULTIVERSION Range range_of(const double* y, std::int64_t n) {
    double low = y[0], high = y[0];
#pragma omp simd reduction(min : low) reduction(max : high)
    for (std::int64_t i = 0; i < n; ++i) {
        low = y[i] < low ? y[i] : low;
        high = y[i] > high ? y[i] : high;
    }
    return {low, high};
}

// Returns how many entries are neither of the two.
RECTILINE_MULTIVERSION std::int64_t set_signs(const double* y, std::int64_t n, double low,
                                              double high, double* sign) {
    std::int64_t others = 0;
#pragma omp simd reduction(+ : others)
    for (std::int64_t i = 0; i < n; ++i) {
        sign[i] = y[i] == high ? 1.0 : -1.0;
        others += y[i] != high && y[i] != low;
    }
    return others;
}

}  // namespace

Labels signs_of_labels(std::span<const double> y, std::span<double> sign) {
    assert(sign.size() == y.size());
    const std::int64_t n = std::ssize(y);
    if (n == 0) return {0, 0, false};
    Labels found{y[0], y[0], true};
    for (const Range& part : each_stretch(n, [&](std::int64_t first, std::int64_t last) {
             return range_of(y.data() + first, last - first);
         })) {
        found.low = std::min(found.low, part.low);
        found.high = std::max(found.high, part.high);
    }
    found.are_two = std::isfinite(found.low) && std::isfinite(found.high) && found.low < found.high;
    if (!found.are_two) return found;
    for (const std::int64_t others : each_stretch(n, [&](std::int64_t first, std::int64_t last) {
             return set_signs(y.data() + first, last - first, found.low, found.high,
                              sign.data() + first);
         }))
        found.are_two = found.are_two && others == 0;
    return found;
}

}  // namespace rectiline::rows
