// The three ways to solve a Newton system against each other, and the dense factors behind them.
#include "rectiline/newton/newton_system.hpp"
#include "rectiline/support/dense_algebra.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <cmath>
#include <limits>
#include <vector>

using namespace rectiline::newton;
using samples::Compressed;
using samples::Dense;
using samples::Matrix;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> random_vector(std::int64_t size, double low, double high, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double& value : values)
        value = samples::uniform(random, low, high);
    return values;
}

void check_cholesky(std::int64_t n) {
    const std::vector<double> root = random_vector(n * (n + 2), -1, 1, 5);
    std::vector<double> A(static_cast<std::size_t>(n * n));
    square_of_rows(root.data(), n, n + 2, n + 2, A.data());
    const std::vector<double> matrix = A, x = random_vector(n, -1, 1, 6);
    std::vector<double> right(static_cast<std::size_t>(n), 0.0);
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
            right[i] += (i >= j ? matrix[j * n + i] : matrix[i * n + j]) * x[j];
    CHECK(cholesky(A.data(), n));
    cholesky_solve(A.data(), n, right.data(), 1);
    for (std::int64_t i = 0; i < n; ++i)
        CHECK_NEAR(right[i], x[i], 1e-6);
    std::vector<double> singular(static_cast<std::size_t>(n * n), 1.0);
    singular[0] = -1.0;
    CHECK(!cholesky(singular.data(), n));
}

// Terms of d columns, with an intercept, some columns nearly free, and two constraints.
struct Terms {
    std::vector<double> scale, center, rho, l1, lower, upper, rows, offset;
    std::vector<std::uint8_t> equality{1, 0};
    NewtonTerms view;

    explicit Terms(std::int64_t d)
        : scale(random_vector(d + 1, 0.5, 2, 11)),
          center(random_vector(d, -0.3, 0.3, 12)),
          rho(random_vector(d + 1, 0.1, 1, 13)),
          l1(static_cast<std::size_t>(d + 1), 0.0),
          lower(static_cast<std::size_t>(d + 1), -kInfinity),
          upper(static_cast<std::size_t>(d + 1), kInfinity),
          rows(random_vector(2 * (d + 1), -0.1, 0.1, 14)),
          offset(2, 0.0) {
        view = {d, scale, center, rho, l1, lower, upper, {}, {}, rows, offset, equality, 1.0};
    }
};

void check_ways(const DesignView& X, const RowFunctions& rows, std::int64_t d) {
    NewtonRows set(X, rows, true);
    const std::vector<double> b = random_vector(d + 1, -0.2, 0.2, 21);
    set.place(b);
    set.set_multiplier({});
    set.evaluate(0.0, 2.0);
    Terms terms(d);
    std::vector<double> diagonal = terms.rho;
    diagonal[2] = diagonal.back() = 1e-12;  // nearly free: kept explicit in the system of the rows
    const std::vector<std::int64_t> active{0, 1};
    const FrozenTerms frozen;
    NewtonSystem system;
    Interrupt never;
    const NewtonSystem::Parts parts{set, terms.view, frozen, diagonal, active, 3.0};
    const std::vector<double> v = random_vector(d + 1, -1, 1, 22);
    std::vector<double> matrix(v.size()), by_rows(v.size()), cg(v.size()), steady(v.size());
    CHECK(system.solve(parts, v, matrix, never, NewtonSystem::Way::matrix));
    CHECK(system.solve(parts, v, by_rows, never, NewtonSystem::Way::rows));
    const NewtonSystem::Parts tame{set, terms.view, frozen, terms.rho, active, 3.0};
    CHECK(system.solve(tame, v, steady, never, NewtonSystem::Way::matrix));
    CHECK(system.solve(tame, v, cg, never, NewtonSystem::Way::cg));
    double largest = 0;
    for (const double x : matrix)
        largest = std::fmax(largest, std::fabs(x));
    for (std::size_t j = 0; j < v.size(); ++j) {
        CHECK_NEAR(by_rows[j], matrix[j], 1e-7 * largest);
        CHECK_NEAR(cg[j], steady[j], 1e-2 * largest);
    }
    // Weights that change are followed: the same answers after a move as from scratch.
    std::vector<double> step = random_vector(d + 1, -0.1, 0.1, 23);
    set.set_direction(step);
    set.evaluate(1.0, 2.0);
    CHECK(system.solve(parts, v, matrix, never, NewtonSystem::Way::matrix));
    NewtonRows fresh(X, rows, true);
    for (std::size_t j = 0; j < step.size(); ++j)
        step[j] += b[j];
    fresh.place(step);
    fresh.set_multiplier({});
    fresh.evaluate(0.0, 2.0);
    const NewtonSystem::Parts again{fresh, terms.view, frozen, diagonal, active, 3.0};
    CHECK(system.solve(again, v, by_rows, never, NewtonSystem::Way::matrix));
    for (std::size_t j = 0; j < v.size(); ++j)
        CHECK_NEAR(by_rows[j], matrix[j], 1e-8 * largest);
}

}  // namespace

int main() {
    for (const std::int64_t n : {1, 5, 16, 40})
        check_cholesky(n);
    for (const auto& owned : samples::curves()) {
        const std::int64_t n = 60, d = 25;
        const Matrix X(n, d, 3);
        const samples::OwnedRows rows(owned.view(), n, 4);
        check_ways(Dense<double>(X, d, 1).view, rows.view(), d);
        check_ways(Dense<double>(X, 1, n).view, rows.view(), d);
        check_ways(Compressed<double, std::int32_t>(X, true).view, rows.view(), d);
    }
    return check::report();
}
