// A step along a direction at which the derivative of a convex function is next to zero.
#pragma once

#include "rectiline/rooms.hpp"

namespace rectiline::newton {

constexpr double kSearchShare = 0.2;  // of the derivative at first that may be left
constexpr int kSearchSteps = 40;

// `derivative(step)` does not decrease; `at_zero` is its value at 0, which is negative. The first
// step tried is 1.
template <class Derivative>
double search_step(const Derivative& derivative, double at_zero) {
    double low = 0, high = kInfinity, at_low = at_zero, at_high = kInfinity, step = 1;
    const double enough = kSearchShare * std::fabs(at_zero);
    for (int k = 0; k < kSearchSteps; ++k) {
        const double here = derivative(step);
        if (std::fabs(here) <= enough) break;
        if (here < 0)
            low = step, at_low = here;
        else
            high = step, at_high = here;
        if (std::isinf(high)) {
            step *= 2;
            continue;
        }
        // regula falsi kept away from the ends, so that the bracket always shrinks
        const double width = high - low;
        step = low + width * (-at_low / (at_high - at_low));
        step = std::clamp(step, low + 0.1 * width, high - 0.1 * width);
        if (width <= 1e-14 * high) break;
    }
    return step;
}

}  // namespace rectiline::newton
