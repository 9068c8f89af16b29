// The simplex method ends at points that prove each other optimal, also on degenerate programs, and
// goes on after rows and columns were added.
#include "rectiline/simplex/simplex.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <vector>

using namespace rectiline::simplex;

namespace {

struct Program {
    std::int64_t m, k;
    std::vector<double> cost, width, low, high, A;  // A by rows

    Program(std::int64_t rows, std::int64_t columns, std::uint64_t seed, bool rounded)
        : m(rows), k(columns), cost(k), width(k), low(m), high(m), A(m * k) {
        Random random(seed);
        const auto uniform = [&] {
            return static_cast<double>(random.below(1000000)) * 2e-6 - 1.0;
        };
        for (double& one : A)
            one = rounded ? std::round(2.0 * uniform()) : uniform();
        for (std::int64_t u = 0; u < k; ++u) {
            cost[u] = rounded ? std::round(2.0 * uniform()) : uniform();
            width[u] = rounded ? 1.0 : 1.1 + uniform();
        }
        for (std::int64_t r = 0; r < m; ++r) {
            high[r] = 1.0 + uniform();
            low[r] = -high[r];
        }
        if (seed % 2 == 0) low[0] = high[0] = 0.0;
    }

    // Adds columns [first, last) with entries in all rows that are there already.
    void add_columns(BoxedSimplex& model, std::int64_t first, std::int64_t last) const {
        const std::int64_t rows = model.n_rows(), count = last - first;
        std::vector<std::int32_t> named(rows);
        std::iota(named.begin(), named.end(), 0);
        std::vector<double> values(rows * count);
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t u = 0; u < count; ++u)
                values[r * count + u] = A[r * k + first + u];
        const auto size = static_cast<std::size_t>(count);
        model.add_columns({cost.data() + first, size}, {width.data() + first, size}, named,
                          values.data());
    }

    void add_rows(BoxedSimplex& model, std::int64_t first, std::int64_t last) const {
        const std::int64_t columns = model.n_columns();
        std::vector<std::int32_t> named(columns);
        std::iota(named.begin(), named.end(), 0);
        std::vector<double> values;
        for (std::int64_t r = first; r < last; ++r)
            values.insert(values.end(), A.begin() + r * k, A.begin() + r * k + columns);
        const auto size = static_cast<std::size_t>(last - first);
        model.add_rows({low.data() + first, size}, {high.data() + first, size}, named,
                       values.data());
    }

    void check(const BoxedSimplex& model) const {
        std::vector<double> v(k), t(cost);
        model.values(v);
        const std::vector<double>& y = model.multipliers();
        double value = 0.0, kinks = 0.0;
        for (std::int64_t r = 0; r < m; ++r) {
            double activity = 0.0;
            for (std::int64_t u = 0; u < k; ++u) {
                activity += A[r * k + u] * v[u];
                t[u] -= A[r * k + u] * y[r];
            }
            CHECK(activity <= high[r] + 1e-8 && activity >= low[r] - 1e-8);
            kinks += std::max(high[r] * y[r], low[r] * y[r]);
        }
        for (std::int64_t u = 0; u < k; ++u) {
            CHECK(v[u] >= -1e-8 && v[u] <= width[u] + 1e-8);
            value += cost[u] * v[u];
            kinks += width[u] * std::max(t[u], 0.0);
        }
        CHECK_NEAR(value, kinks, 1e-7 * (1.0 + std::fabs(kinks)));
    }
};

void grows(std::int64_t m, std::int64_t k, std::uint64_t seed, bool rounded) {
    const Program program(m, k, seed, rounded);
    BoxedSimplex model;
    Interrupt never;
    program.add_columns(model, 0, k / 2);
    program.add_rows(model, 0, m / 2);
    CHECK(model.solve(100000, never) == SimplexOutcome::optimal);
    program.add_columns(model, k / 2, k);
    program.add_rows(model, m / 2, m);
    while (model.n_steps() < 10000) {  // in small portions of work
        const double before = model.work();
        const SimplexOutcome outcome = model.solve(100000, never, 1.0);
        if (outcome == SimplexOutcome::optimal) break;
        CHECK(outcome == SimplexOutcome::limit && model.work() > before);
    }
    CHECK(model.solve(100000, never) == SimplexOutcome::optimal);
    program.check(model);

    std::vector<std::uint8_t> columns(k), rows(m);
    model.basis(columns, rows);
    BoxedSimplex other;
    program.add_columns(other, 0, k);
    program.add_rows(other, 0, m);
    other.set_basis(columns, rows);
    CHECK(other.solve(100000, never) == SimplexOutcome::optimal);
    program.check(other);
}

// Steps to kinks against their definition.
void meets_kinks(std::int64_t size, std::uint64_t seed) {
    constexpr double kSlowest = 1e-11, kNever = std::numeric_limits<double>::infinity();
    Random random(seed);
    const auto choice = [&](std::initializer_list<double> from) {
        return from.begin()[random.below(from.size())];
    };
    std::vector<double> t(size), dt(size), turn(size), open(size), step(size, -1.0);
    for (std::int64_t u = 0; u < size; ++u) {
        turn[u] = choice({-1.0, 1.0});
        // On the right side of the kink, on it, and beyond it by rounding.
        t[u] = -turn[u] * choice({0.0, 0.5, 3.0, -1e-12});
        dt[u] = choice({0.0, 1e-13, -1e-13, 2.0, -2.0, 0.25});
        open[u] = choice({0.0, 1.0, 0.7});
    }
    const EdgeArrays edge{t.data(), dt.data(), turn.data(), open.data()};
    edge_steps(edge, size, kSlowest, step.data());
    for (std::int64_t u = 0; u < size; ++u) {
        const double toward = turn[u] * dt[u];
        const bool counts = toward > kSlowest && open[u] > 0;
        const double expected = counts ? std::max(-turn[u] * t[u], 0.0) / toward : kNever;
        CHECK(step[u] == expected);
    }
}

}  // namespace

int main() {
    for (const std::int64_t size : {0, 1, 7, 64, 65, 500})
        meets_kinks(size, static_cast<std::uint64_t>(size) + 3);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        grows(2 + static_cast<std::int64_t>(seed % 9), 5 + static_cast<std::int64_t>(seed), seed,
              seed % 3 == 0);
    }
    grows(60, 300, 1, false);
    grows(200, 150, 2, false);
    return check::report();
}
