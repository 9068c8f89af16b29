// What the simplex method says at the end: each outcome where it is true, and no loop that an
// interrupt cannot end.
#include "rectiline/simplex/simplex.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include <limits>
#include <numeric>
#include <vector>

using namespace rectiline::simplex;

namespace {

BoxedSimplex program(const std::vector<double>& cost, const std::vector<double>& width,
                     const std::vector<double>& low, const std::vector<double>& high,
                     const std::vector<double>& A) {
    std::vector<std::int32_t> named(cost.size());
    std::iota(named.begin(), named.end(), 0);
    BoxedSimplex model;
    model.add_columns(cost, width, {}, nullptr);
    model.add_rows(low, high, named, A.data());
    return model;
}

BoxedSimplex random_program(std::int64_t m, std::int64_t k, std::uint64_t seed) {
    Random random(seed);
    const auto uniform = [&] { return static_cast<double>(random.below(1000000)) * 2e-6 - 1.0; };
    std::vector<double> cost(k), width(k, 1.0), low(m, -0.3), high(m, 0.3), A(m * k);
    for (auto* part : {&cost, &A})
        for (double& one : *part)
            one = uniform();
    return program(cost, width, low, high, A);
}

void names_the_outcome() {
    Interrupt never;
    // v <= 1 cannot give 3.
    BoxedSimplex open = program({1.0, 1.0}, {1.0, 1.0}, {3.0}, {4.0}, {1.0, 1.0});
    CHECK(open.solve(100, never) == SimplexOutcome::unbounded);

    BoxedSimplex usual = random_program(20, 60, 1);
    CHECK(usual.solve(1, never) == SimplexOutcome::step_limit);
    CHECK(usual.solve(10000, never, 1.0) == SimplexOutcome::limit);
    CHECK(usual.solve(10000, never) == SimplexOutcome::optimal);

    // The only edge out of an infeasible vertex has a pivot that a basis should not rest on.
    BoxedSimplex tiny = program({0.0}, {1.0}, {5e-9}, {5e-9}, {1e-8});
    CHECK(tiny.solve(1000, never) == SimplexOutcome::stalled);

    const double nan = std::numeric_limits<double>::quiet_NaN();
    BoxedSimplex broken = program({1.0}, {1.0}, {-1.0}, {1.0}, {nan});
    CHECK(broken.solve(1000, never) == SimplexOutcome::trouble);
}

// Stops at the n-th question and counts them.
struct Stopper {
    std::int64_t after, asked = 0;
    static bool check(void* self, std::int64_t) {
        auto& me = *static_cast<Stopper*>(self);
        return ++me.asked > me.after;
    }
};

void stops_when_asked_and_goes_on() {
    BoxedSimplex model = random_program(200, 500, 2), whole = random_program(200, 500, 2);
    Interrupt never;
    CHECK(whole.solve(100000, never) == SimplexOutcome::optimal);
    std::int64_t stops = 0;
    for (; stops < 1000; ++stops) {
        Stopper stopper{stops % 3};
        Interrupt interrupt(&Stopper::check, &stopper);
        const SimplexOutcome outcome = model.solve(100000, interrupt);
        if (outcome == SimplexOutcome::optimal) break;
        CHECK(outcome == SimplexOutcome::limit && stopper.asked == stopper.after + 1);
    }
    CHECK(stops > 2);
    std::vector<double> v(500), w(500);
    model.values(v);
    whole.values(w);
    for (std::size_t u = 0; u < v.size(); ++u)
        CHECK_NEAR(v[u], w[u], 1e-8);
}

}  // namespace

int main() {
    names_the_outcome();
    stops_when_asked_and_goes_on();
    return check::report();
}
