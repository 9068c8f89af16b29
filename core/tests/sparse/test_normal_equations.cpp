// Orders of elimination, sparse factors against dense residuals, and rows that stay unknowns.
#include "rectiline/sparse/normal_equations.hpp"

#include "check.hpp"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace rectiline::sparse;
using rectiline::support::Interrupt;

namespace {

// Rows of a grid of side x side nodes: each node alone, and differences of neighbours.
CompressedRows grid(std::int64_t side) {
    CompressedRows rows{{0}, {}, {}};
    const auto add = [&](std::vector<std::int64_t> columns, std::vector<double> values) {
        rows.columns.insert(rows.columns.end(), columns.begin(), columns.end());
        rows.values.insert(rows.values.end(), values.begin(), values.end());
        rows.begin.push_back(std::ssize(rows.columns));
    };
    for (std::int64_t i = 0; i < side * side; ++i) {
        add({i}, {1.0});
        if (i % side + 1 < side) add({i, i + 1}, {-1.0, 1.0});
        if (i + side < side * side) add({i, i + side}, {-1.0, 1.0});
    }
    return rows;
}

struct Solved {
    double error;
    NormalEquations equations;
};

// Solves with random weights, and returns by how much D x + R's = v and R x - s/W = r/W fail.
Solved solve(CompressedRows rows, std::int64_t width, bool keeps) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> number(0.1, 1.0);
    const auto draw = [&](std::int64_t n) {
        std::vector<double> found(static_cast<std::size_t>(n));
        std::generate(found.begin(), found.end(), [&] { return number(random); });
        return found;
    };
    const std::int64_t n = rows.n_rows();
    const std::vector<double> weight = draw(n), diagonal = draw(width), v = draw(width);
    const std::vector<double> r = draw(n);
    NormalEquations equations(std::move(rows), width, keeps);
    Interrupt interrupt;
    CHECK(equations.factorise(weight, diagonal, interrupt));
    std::vector<double> x = v, kept(static_cast<std::size_t>(n), std::nan(""));
    equations.solve(x, r, kept);
    std::vector<double> left = v;
    double error = 0;
    for (std::int64_t j = 0; j < width; ++j)
        left[j] -= diagonal[j] * x[j];
    const CompressedRows& R = equations.rows();
    for (std::int64_t k = 0; k < n; ++k) {
        double s = -r[k];
        for (std::int64_t e = R.begin[k]; e < R.begin[k + 1]; ++e)
            s += weight[k] * R.values[e] * x[R.columns[e]];
        if (!std::isnan(kept[k])) error = std::max(error, std::fabs(s - kept[k]));
        for (std::int64_t e = R.begin[k]; e < R.begin[k + 1]; ++e)
            left[R.columns[e]] -= R.values[e] * s;
    }
    for (const double one : left)
        error = std::max(error, std::fabs(one));
    return {error, std::move(equations)};
}

void grids() {
    for (const std::int64_t side : {1, 2, 3, 7, 40, 90}) {
        const Solved found = solve(grid(side), side * side, true);
        CHECK(found.error < 1e-11);
        CHECK(!found.equations.has_kept_rows());
    }
    // Minimum degree keeps about 8 n log2 n entries; the band of the natural order has n^1.5.
    const Solved large = solve(grid(90), 8100, true);
    CHECK(large.equations.factor().entries() < 8.0 * 8100 * std::log2(8100.0));
}

// Two columns that meet all others: the others have two entries each below the diagonal.
void effects() {
    constexpr std::int64_t groups = 500;
    CompressedRows rows{{0}, {}, {}};
    for (std::int64_t i = 0; i < 5 * groups; ++i) {
        for (const std::int64_t column : {std::int64_t{0}, std::int64_t{1}, 2 + i % groups})
            rows.columns.push_back(column);
        for (const double value : {0.5 + static_cast<double>(i % 7), -1.0, 1.0})
            rows.values.push_back(value);
        rows.begin.push_back(std::ssize(rows.columns));
    }
    const Solved found = solve(rows, 2 + groups, true);
    CHECK(found.error < 1e-9);
    CHECK(found.equations.factor().entries() < 6.0 * groups);
}

// Long rows beside a diagonal: kept, they cost as many unknowns as they are; eliminated, they fill.
void long_rows() {
    constexpr std::int64_t width = 300, count = 3;
    CompressedRows rows{{0}, {}, {}};
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t j = 0; j < width; ++j) {
            rows.columns.push_back(j);
            rows.values.push_back(std::sin(static_cast<double>((k + 1) * j)));
        }
        rows.begin.push_back(std::ssize(rows.columns));
    }
    const Solved kept = solve(rows, width, true), filled = solve(rows, width, false);
    CHECK(kept.error < 1e-10 && filled.error < 1e-10);
    CHECK(kept.equations.has_kept_rows() && !filled.equations.has_kept_rows());
    CHECK(kept.equations.factor().entries() < 6.0 * width);
    CHECK(filled.equations.factor().entries() > 0.5 * width * width);
}

void failures() {
    NormalEquations equations(grid(10), 100, true);
    Interrupt interrupt;
    const std::vector<double> weight(static_cast<std::size_t>(equations.rows().n_rows()), 1.0);
    CHECK(equations.factorise(weight, std::vector<double>(100, 0.0), interrupt));
    CHECK(equations.factor().growth() >= 5.0);  // at least a row sum of the matrix
    CHECK(equations.factor().most_terms() >= 10);
    CHECK(!equations.factorise(weight, std::vector<double>(100, -1.1), interrupt));
    const auto stop = [](void*, std::int64_t) { return true; };
    Interrupt stopped(stop, nullptr);
    NormalEquations large(grid(1000), 1000000, true);
    CHECK(!large.analyse(1e12, stopped) && !large.is_analysed());
    CHECK(!equations.analyse(100.0, interrupt));
}

}  // namespace

int main() {
    grids();
    effects();
    long_rows();
    failures();
    return check::report();
}
