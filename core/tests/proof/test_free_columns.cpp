// Multipliers that balance free columns: found in their boxes, and shown to exist exactly.
#include "rectiline/proof/free_columns.hpp"
#include "rectiline/proof/twofold.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::proof;

namespace {

using Numbers = std::vector<double>;

struct Boxes {
    Numbers low, high;
    Boxes(std::int64_t n, double width) : low(n, -width), high(n, width) {}
    DualBoxes view() const { return {low, high}; }
};

Numbers norms_of(const samples::Matrix& X) {
    Numbers norms(X.d);
    for (std::int64_t j = 0; j < X.d; ++j) {
        for (std::int64_t i = 0; i < X.n; ++i)
            norms[j] += X(i, j) * X(i, j);
        norms[j] = std::sqrt(norms[j]);
    }
    return norms;
}

Numbers random_numbers(std::int64_t n, double scale, std::uint64_t seed) {
    rectiline::support::Random random(seed);
    Numbers out(static_cast<std::size_t>(n));
    for (double& one : out)
        one = samples::uniform(random, -scale, scale);
    return out;
}

// The largest entry of Z'g - target.
double leftover(const FreeColumns& Z, const Numbers& g, const Numbers& target) {
    Numbers image(target.size());
    Z.multiply_transposed(g, image);
    double most = 0;
    for (std::size_t j = 0; j < image.size(); ++j)
        most = std::max(most, std::fabs(image[j] - target[j]));
    return most;
}

// Few columns, more than any fixed number of them, and more than rows.
void check_balance(std::int64_t n, std::int64_t d, bool intercept, bool by_columns) {
    const samples::Matrix X(n, d, 2, 0.9);
    const samples::Dense<double> dense(X, by_columns ? 1 : d, by_columns ? n : 1);
    const DesignView view = dense.view;
    const FreeColumns Z{view, intercept};
    const Boxes boxes(n, 1.0);
    Numbers g = random_numbers(n, 0.5, 3), target(static_cast<std::size_t>(Z.order()), 0.0);
    if (d < n / 4)
        for (std::size_t j = 0; j < target.size(); ++j)
            target[j] = 0.1 * static_cast<double>(j % 3);
    rectiline::support::Interrupt never;
    const SolveNormal system = dense_solver(Z, never);
    const double left = balance_columns(Z, system, boxes.view(), norms_of(X), target, target, g);
    CHECK(left <= 1e-12);
    CHECK(leftover(Z, g, target) <= 1e-11);
    for (const double one : g)
        CHECK(std::fabs(one) <= 1.0);
}

// Whoever solves the normal equations, the rounds are the same.
void check_system() {
    const samples::Matrix ones(10, 1, 1, 1.0);
    samples::Dense<double> dense(ones, 1, 1);
    std::fill(dense.data.begin(), dense.data.end(), 1.0);
    const DesignView view = dense.view;
    const FreeColumns Z{view, false};
    const Boxes boxes(10, 1.0);
    int calls = 0;
    const SolveNormal system = [&](auto weight, auto right, auto out) {
        ++calls;
        Z.multiply(Numbers{right[0] / 10.0}, out);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] *= weight[i] > 0 ? 1.0 : 0.0;
        return calls < 5;
    };
    Numbers g = random_numbers(10, 0.5, 4);
    const Numbers zero{0.0}, norm{std::sqrt(10.0)};
    CHECK(balance_columns(Z, system, boxes.view(), norm, zero, zero, g) <= 1e-15);
    CHECK(calls >= 1 && std::fabs(leftover(Z, g, zero)) <= 1e-15);
}

// Sets x to the solution of A x = x, by elimination with pivots.
void eliminate(std::vector<std::vector<long double>> A, std::vector<long double>& x) {
    for (std::size_t k = 0; k < x.size(); ++k) {
        std::size_t pivot = k;
        for (std::size_t i = k; i < x.size(); ++i)
            if (std::fabs(A[i][k]) > std::fabs(A[pivot][k])) pivot = i;
        std::swap(A[k], A[pivot]), std::swap(x[k], x[pivot]);
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (i == k) continue;
            const long double factor = A[i][k] / A[k][k];
            for (std::size_t j = k; j < x.size(); ++j)
                A[i][j] -= factor * A[k][j];
            x[i] -= factor * x[k];
        }
    }
    for (std::size_t k = 0; k < x.size(); ++k)
        x[k] /= A[k][k];
}

void check_moves(std::int64_t n, std::int64_t d, bool intercept) {
    const samples::Matrix X(n, d, 6, 0.9);
    const samples::Dense<double> dense(X, d, 1);
    const DesignView view = dense.view;
    const FreeColumns Z{view, intercept};
    const Boxes boxes(n, 1.0);
    Numbers g = random_numbers(n, 1.2, 7);
    for (double& one : g)
        one = std::clamp(one, -1.0, 1.0);
    const std::size_t k = static_cast<std::size_t>(Z.order());
    const Numbers left(k, 1e-9);
    const auto moves = exact_moves(Z, boxes.view(), g, left);
    CHECK(moves.has_value());
    if (!moves) return;
    // Least squares in half the room that the boxes leave balances what is left.
    const auto z = [&](std::int64_t i, std::size_t j) {
        return static_cast<std::int64_t>(j) < d ? X(i, static_cast<std::int64_t>(j)) : 1.0;
    };
    const auto room = [&](std::int64_t i) { return 0.5 * (1.0 - std::fabs(g[i])); };
    std::vector<std::vector<long double>> gram(k, std::vector<long double>(k, 0.0L));
    std::vector<long double> x(left.begin(), left.end());
    for (const std::int64_t i : moves->row)
        for (std::size_t a = 0; a < k; ++a)
            for (std::size_t b = 0; b < k; ++b)
                gram[a][b] += static_cast<long double>(room(i) * room(i)) * z(i, a) * z(i, b);
    eliminate(gram, x);
    for (std::size_t r = 0; r < moves->row.size(); ++r) {
        const std::int64_t i = moves->row[r];
        long double along = 0;
        for (std::size_t j = 0; j < k; ++j)
            along += z(i, j) * x[j];
        const auto change = static_cast<double>(room(i) * room(i) * along);
        CHECK(std::fabs(change) <= moves->by[r] * (1 + 1e-9));
        CHECK(moves->by[r] <= room(i));
    }
    const Numbers infinite(k, kInfinity), nothing(k, 0.0);
    CHECK(!exact_moves(Z, boxes.view(), g, infinite));
    CHECK(exact_moves(Z, boxes.view(), g, nothing)->row.empty());
}

void check_dependent_columns() {
    samples::Matrix X(80, 3, 8, 1.0);
    for (std::int64_t i = 0; i < X.n; ++i)
        X.entries[i * 3 + 2] = X(i, 0) + X(i, 1);
    const samples::Dense<double> dense(X, 3, 1);
    const DesignView view = dense.view;
    const Boxes boxes(80, 1.0);
    const Numbers g = random_numbers(80, 0.5, 9), left(3, 1e-16);
    CHECK(!exact_moves({view, false}, boxes.view(), g, left));
    const Boxes shut(80, 0.0);  // nowhere to move
    const Numbers zero(80, 0.0);
    CHECK(!exact_moves({view, false}, shut.view(), zero, left));
}

void check_intercept_alone() {
    const DesignView view = rectiline::design::DenseView<double>{nullptr, 4, 0, 0, 1};
    const Boxes boxes(4, 1.0);
    const Numbers g{1.0, -1.0, 0.99, 0.2}, little{0.001}, much{0.3};
    const auto moves = exact_moves({view, true}, boxes.view(), g, little);
    CHECK(moves && moves->row == std::vector<std::int64_t>{2} && moves->by == little);
    CHECK(!exact_moves({view, true}, boxes.view(), g, much));
}

void check_moved_sizes() {
    const samples::Matrix X(20, 4, 10);
    const Moves moves{{1, 5, 6, 19}, {0.5, 1e-3, 2.0, 0.25}};
    Numbers expected(4, 1.0);
    for (std::size_t k = 0; k < moves.row.size(); ++k)
        for (std::int64_t j = 0; j < 4; ++j)
            expected[j] += moves.by[k] * std::fabs(X(moves.row[k], j));
    const auto check = [&](const DesignView& view) {
        Numbers error(4, 1.0);
        add_moved_sizes(view, moves, error);
        for (std::int64_t j = 0; j < 4; ++j)
            CHECK_NEAR(error[j], expected[j], 1e-13 * expected[j]);
    };
    const samples::Dense<double> dense(X, 4, 1);
    const samples::Compressed<double, std::int32_t> by_rows(X, true), by_columns(X, false);
    check(dense.view);
    check(by_rows.view);
    check(by_columns.view);
}

}  // namespace

int main() {
    for (const bool intercept : {false, true}) {
        check_balance(200, 3, intercept, false);
        check_balance(200, 40, intercept, true);
        check_balance(12, 40, intercept, false);
        check_moves(400, 3, intercept);
        check_moves(400, 40, intercept);
    }
    check_system();
    check_dependent_columns();
    check_intercept_alone();
    check_moved_sizes();
    return check::report();
}
