// Steps along a direction leave at most the promised share of the derivative, in few evaluations.
#include "rectiline/newton/line_search.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <cmath>
#include <vector>

using namespace rectiline::newton;
using samples::uniform;

namespace {

// A non-decreasing derivative: a line and some jumps.
struct Derivative {
    double at_zero, slope;
    std::vector<double> place, height;
    mutable int calls = 0;

    double operator()(double step) const {
        ++calls;
        double sum = at_zero + slope * step;
        for (std::size_t k = 0; k < place.size(); ++k)
            if (step > place[k]) sum += height[k];
        return sum;
    }
};

void check_smooth(Random& random) {
    Derivative derivative{-uniform(random, 0.01, 5), uniform(random, 1e-4, 100), {}, {}};
    const double step = search_step(derivative, derivative.at_zero);
    CHECK(step > 0);
    CHECK(std::fabs(derivative(step)) <= kSearchShare * -derivative.at_zero);
    CHECK(derivative.calls <= kSearchSteps);
}

// Across a jump there may be no such step: then the root is enclosed next to the last digit, or the
// number of evaluations is at its limit with the root within a small bracket.
void check_jumps(Random& random) {
    Derivative derivative{-1.0, uniform(random, 0, 0.1), {}, {}};
    for (int k = 0; k < 5; ++k) {
        derivative.place.push_back(uniform(random, 0.01, 20));
        derivative.height.push_back(uniform(random, 0.2, 3));
    }
    const double step = search_step(derivative, derivative.at_zero);
    const bool is_enough = std::fabs(derivative(step)) <= kSearchShare;
    const bool is_crossing = derivative(step * (1 - 1e-2)) < 0 && derivative(step * (1 + 1e-2)) > 0;
    CHECK(is_enough || is_crossing);
    CHECK(derivative.calls <= kSearchSteps + 3);
}

}  // namespace

int main() {
    Random random(4);
    for (int trial = 0; trial < 500; ++trial) {
        check_smooth(random);
        check_jumps(random);
    }
    // A step of one that is good enough is taken after one evaluation.
    const Derivative line{-2.0, 2.0, {}, {}};
    CHECK(search_step(line, -2.0) == 1.0 && line.calls == 1);
    return check::report();
}
