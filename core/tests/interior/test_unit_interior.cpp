// Numbers of 32 digits, systems that doubles cannot solve, and programs with known answers.
#include "rectiline/interior/unit_interior.hpp"

#include "check.hpp"
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

using namespace rectiline::interior;
using rectiline::support::Interrupt;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class Real>
UnitInterior<Real> begun(UnitProgram program, const CompressedRows& rows, bool by_rows) {
    program.least.resize(program.row.size());
    for (std::size_t k = 0; k < program.row.size(); ++k)
        program.least[k] = program.is_boxed(k) || program.soft[k] > 0 ? 0.0 : 1e-10;
    program.room.assign(program.row.size(), 1.0);
    program.price.assign(program.rho.size(), -1);
    auto system = std::make_unique<DenseSystem<Real>>(program, rows, by_rows, 1e-13);
    return UnitInterior<Real>(std::move(program), std::move(system));
}

void numbers() {
    const Number third = Number(1.0) / Number(3.0);
    const Number left = third + third + third - Number(1.0);
    CHECK(std::fabs(left.hi) < 1e-31);
    const Number root = square_root(Number(2.0));
    CHECK(std::fabs((root * root - Number(2.0)).hi) < 1e-30);
    CHECK((Number(1e30) + Number(1.0) - Number(1e30)).hi == 1.0);
}

// The Hilbert matrix of order 12 has the condition 1e16; its inverse times its row sums is one.
void hilbert() {
    constexpr std::int64_t n = 12;
    SymmetricMatrix<Number> matrix(n);
    std::vector<Number> right(n, Number(0.0));
    std::vector<std::int64_t> at(n);
    std::iota(at.begin(), at.end(), 0);
    // A A' with A triangular of integers that grow: exact in doubles, and badly conditioned.
    for (std::int64_t k = 0; k < n; ++k) {
        std::vector<double> row(n, 0.0);
        for (std::int64_t i = k; i < n; ++i)
            row[i] = i == k ? 1.0 : 7.0;
        matrix.add_row(Number(1.0), at, row);
        const double sum = std::accumulate(row.begin(), row.end(), 0.0);
        for (std::int64_t i = 0; i < n; ++i)
            right[i] += Number(row[i]) * Number(sum);
    }
    matrix.factorise();
    matrix.solve(right);
    for (const Number one : right)
        CHECK_NEAR(one.hi, 1.0, 1e-12);
}

// min sum_i |x_i - t_i| over x_1 <= x_2 <= .. with rows in units of 10^-6 .. 10^6: all equal to the
// median of targets that fall.
void ordered_median() {
    constexpr std::int64_t n = 5;
    UnitProgram program;
    CompressedRows rows;
    rows.begin = {0};
    const auto add_row = [&](std::vector<std::int64_t> columns, std::vector<double> values) {
        rows.columns.insert(rows.columns.end(), columns.begin(), columns.end());
        rows.values.insert(rows.values.end(), values.begin(), values.end());
        rows.begin.push_back(static_cast<std::int64_t>(rows.columns.size()));
        program.row.push_back(rows.n_rows() - 1);
    };
    const auto unit = [&](double shift, double low, double high) {
        program.shift.push_back(shift);
        program.low.push_back(low);
        program.high.push_back(high);
        program.soft.push_back(0.0);
    };
    const auto scale = [](std::int64_t i) { return std::pow(1000.0, static_cast<double>(i - 2)); };
    for (std::int64_t i = 0; i < n; ++i) {
        add_row({i}, {scale(i)});
        unit(static_cast<double>(i) - 7.0, -1.0, 1.0);
    }
    for (std::int64_t i = 1; i < n; ++i) {
        add_row({i - 1, i}, {-scale(i - 1), scale(i)});
        unit(0.0, -kInf, 0.0);
    }
    program.rho.assign(n, 0.0);
    program.linear.assign(n, 0.0);
    auto method = begun<Number>(program, rows, false);
    Interrupt interrupt;
    for (int k = 0; k < 60 && method.verdict().mean_product > 1e-24; ++k)
        CHECK(method.step(interrupt));
    std::vector<double> x(n), y(program.row.size());
    method.pair().point(x, y);
    for (std::int64_t i = 0; i < n; ++i)
        CHECK_NEAR(scale(i) * x[i], 5.0, 1e-11);
    CHECK_NEAR(method.verdict().size, 6.0, 1e-11);
    for (std::size_t k = n; k < y.size(); ++k)
        CHECK(y[k] <= 0.0);
}

// min sum_j rho_j/2 x_j^2 + (x_1 + 2 x_2 + 3 x_3 - 6)^2/2 under x >= 0 and x_1 + x_2 + x_3 = 1, by
// either kind of system: all weight on x_3 while the others cost more.
template <class Real>
void portfolio(bool by_rows) {
    UnitProgram program;
    const CompressedRows rows{
        {0, 3, 6, 7, 8, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {1, 2, 3, 1, 1, 1, 1, 1, 1}};
    program.row = {0, 1, 2, 3, 4};
    program.shift = {-6, -1, 0, 0, 0};
    program.low = {-kInf, -kInf, -kInf, -kInf, -kInf};
    program.high = {kInf, kInf, 0, 0, 0};
    program.soft = {1, 0, 0, 0, 0};
    program.rho = {0.1, 0.2, 0.3};
    program.linear.assign(3, 0.0);
    auto method = begun<Real>(program, rows, by_rows);
    Interrupt interrupt;
    for (int k = 0; k < 60 && method.verdict().mean_product > 1e-13; ++k)
        CHECK(method.step(interrupt));
    std::vector<double> x(3), y(5);
    method.pair().point(x, y);
    CHECK_NEAR(x[0], 0.0, 1e-10);
    CHECK_NEAR(x[1], 0.0, 1e-10);
    CHECK_NEAR(x[2], 1.0, 1e-10);
    CHECK_NEAR(method.verdict().size, 4.65, 1e-10);
    CHECK(method.verdict().violation < 1e-10 && method.verdict().residual < 1e-10);
}

void stops_when_asked() {
    UnitProgram program;
    const std::int64_t width = 400;
    CompressedRows rows{
        {0, width}, std::vector<std::int64_t>(width), std::vector<double>(width, 1.0)};
    std::iota(rows.columns.begin(), rows.columns.end(), 0);
    program.row = {0};
    program.shift = {-1.0};
    program.low = {-1.0};
    program.high = {1.0};
    program.soft = {1.0};
    program.rho.assign(width, 1.0);
    program.linear.assign(width, 0.0);
    auto method = begun<Number>(program, rows, false);
    Interrupt never([](void*, std::int64_t) { return true; }, nullptr);
    CHECK(!method.step(never));
    Interrupt free;
    CHECK(method.step(free));
}

}  // namespace

int main() {
    numbers();
    hilbert();
    ordered_median();
    for (const bool by_rows : {false, true}) {
        portfolio<double>(by_rows);
        portfolio<Number>(by_rows);
    }
    stops_when_asked();
    return check::report();
}
