// The sums behind a proof, and the repair of multipliers for an intercept.
#include "rectiline/rows/certificate.hpp"
#include "rectiline/support/compensated.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::rows;

namespace {

struct Box {
    double low, high;
};

Box box_of(const RowFunctions& rows, std::int64_t i) {
    const double w = rows.weight[i];
    if (w == 0) return {0, 0};
    const double low = w * rows.curve(i).lowest_slope(), high = w * rows.curve(i).highest_slope();
    return rows.direction[i] > 0 ? Box{low, high} : Box{-high, -low};
}

std::vector<double> random_vector(std::int64_t n, double scale, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(static_cast<std::size_t>(n));
    for (double& v : values)
        v = scale * samples::uniform(random, -1, 1);
    return values;
}

void check_sums(const RowFunctions& rows) {
    const std::vector<double> z = random_vector(rows.n, 3, 1);
    std::vector<double> g = random_vector(rows.n, 4, 2);
    clip_dual(rows, g);
    double loss = 0, gap = 0;
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const Box box = box_of(rows, i);
        CHECK(g[i] >= box.low && g[i] <= box.high);
        if (rows.weight[i] == 0) continue;
        const double t = rows.direction[i] * z[i] + rows.offset[i];
        loss += rows.weight[i] * rows.curve(i).loss(t);
        gap += rows.weight[i] *
               rows.curve(i).fenchel_young(t, rows.direction[i] * g[i] / rows.weight[i]);
    }
    const RowSums sums = row_sums(rows, z, g);
    CHECK_NEAR(sums.loss, loss, 1e-10 * (1 + std::fabs(loss)));
    if (std::isfinite(gap)) CHECK_NEAR(sums.fenchel_young, gap, 1e-10 * (1 + gap));
    CHECK(std::isfinite(sums.fenchel_young) && sums.fenchel_young >= 0);
    CHECK_NEAR(loss_sum(rows, z), loss, 1e-10 * (1 + std::fabs(loss)));

    // slopes at the predictions close every row's gap
    slopes_at(rows, z, g);
    for (std::int64_t i = 0; i < rows.n; ++i)
        CHECK_NEAR(
            g[i],
            rows.direction[i] * rows.weight[i] * rows.curve(i).slope_at(rows.argument(i, z[i])),
            1e-13 * (1 + std::fabs(g[i])));
    CHECK_NEAR(row_sums(rows, z, g).fenchel_young, 0.0, 1e-12 * (1 + loss));
}

void check_balance(const RowFunctions& rows, double scale, std::uint64_t seed) {
    std::vector<double> g = random_vector(rows.n, scale, seed);
    clip_dual(rows, g);
    double lowest = 0, highest = 0;
    for (std::int64_t i = 0; i < rows.n; ++i)
        lowest += box_of(rows, i).low, highest += box_of(rows, i).high;
    const Balance left = balance_dual(rows, g);
    double sum = 0, size = 0;
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const Box box = box_of(rows, i);
        CHECK(g[i] >= box.low && g[i] <= box.high);
        CHECK(std::isfinite(g[i]));
        sum += g[i], size += std::fabs(g[i]);
    }
    CHECK_NEAR(sum, left.sum, 1e-13 * size);
    CHECK_NEAR(size, left.size, 1e-13 * size);
    if (lowest < 0 && highest > 0) CHECK_NEAR(left.sum, 0.0, 1e-13 * size);
}

// What is nearly balanced is balanced by a few rows.
void check_small_imbalance() {
    const samples::OwnedCurve absolute{"absolute", {0}, {0}, {-1}, {1}, {0, 0}};
    const samples::OwnedRows owned(absolute.view(), 5000, 9);
    const RowFunctions rows = owned.view();
    std::vector<double> g = random_vector(rows.n, 0.05, 4);
    balance_dual(rows, g);
    const std::vector<double> before(g);
    for (std::int64_t i = 4000; i < 4100; ++i)
        g[i] += rows.weight[i] > 0 ? 1e-5 : 0.0;
    const Balance found = balance_dual(rows, g);
    double sum = 0, size = 0;
    std::int64_t moved = 0;
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const bool mine = i >= 4000 && i < 4100 && rows.weight[i] > 0;
        moved += std::fabs(g[i] - (before[i] + (mine ? 1e-5 : 0.0))) > 1e-17;
        sum += g[i], size += std::fabs(g[i]);
    }
    CHECK(moved > 0 && moved < 3000);
    CHECK_NEAR(sum, 0.0, 1e-14 * size);
    CHECK_NEAR(found.size, size, 1e-13 * size);
}

// Boxes that exclude zero: what is left is the nearest sum there is.
void check_impossible_balance() {
    const samples::OwnedCurve rising{"rising", {0}, {0}, {0.5}, {2}, {0, 0}};
    samples::OwnedRows owned(rising.view(), 10, 3);
    std::fill(owned.direction.begin(), owned.direction.end(), 1.0);
    std::fill(owned.weight.begin(), owned.weight.end(), 1.0);
    std::vector<double> g(10, 1.0);
    CHECK_NEAR(balance_dual(owned.view(), g).sum, 5.0, 1e-12);
    for (const double v : g)
        CHECK_NEAR(v, 0.5, 1e-12);
}

// Two curves, chosen row by row.
void check_mixed_curves() {
    const auto all = samples::curves();
    const std::vector<Curve> curves = {all[0].view(), all[4].view()};
    const std::vector<std::uint8_t> index = {0, 1, 1, 0};
    const std::vector<double> ones(4, 1.0), offset(4, 0.0), z = {3, 3, -2, -2};
    const RowFunctions rows{4,           curves.data(), index.data(),
                            ones.data(), offset.data(), ones.data()};
    // hinge(3) + 9/2 + 4/2 + hinge(-2)
    CHECK_NEAR(loss_sum(rows, z), 0 + 4.5 + 2 + 3, 1e-14);
    for (const double scale : {0.5, 3.0})
        check_balance(rows, scale, 7);
}

// Numbers whose plain sum is nothing but rounding.
void check_compensated_lanes() {
    std::vector<double> values;
    for (int k = 0; k < 1000; ++k)
        for (const double v : {1e16, 1.0, -1e16, 0.5})
            values.push_back(k % 2 ? v : -v);
    values.push_back(0.25);
    CompensatedLanes sum;
    sum.add(values.data(), 3001);
    sum.add(values.data() + 3001, static_cast<std::int64_t>(values.size()) - 3001);
    CHECK_NEAR(sum.value(), 0.25, 1e-14);
    CHECK_NEAR(sum.size(), 2e19, 1e8);
}

}  // namespace

int main() {
    std::uint64_t seed = 1;
    for (const samples::OwnedCurve& owned : samples::curves()) {
        const int before = check::failures;
        const samples::OwnedRows rows(owned.view(), 200, seed);
        check_sums(rows.view());
        for (const double scale : {0.0, 1e-9, 0.3, 1.0, 50.0, 1e9})
            check_balance(rows.view(), scale, seed++);
        if (check::failures > before) std::printf("the curve was: %s\n", owned.name.c_str());
    }
    check_small_imbalance();
    check_impossible_balance();
    check_mixed_curves();
    check_compensated_lanes();
    return check::report();
}
