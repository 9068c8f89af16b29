// Derivatives on both sides of a common prediction, bends, and multipliers inside their boxes.
#include "rectiline/rows/certificate.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::rows;

namespace {

// One-sided derivatives of a row's cost by differences that do not reach the next knot.
void check_ranges_at(const RowFunctions& rows, double z) {
    std::vector<double> low(static_cast<std::size_t>(rows.n)), high(low);
    slope_ranges(rows, z, low, high);
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const auto cost = [&](double at) {
            return rows.weight[i] * rows.curve(i).loss(rows.argument(i, at));
        };
        const double h = 1e-7;
        CHECK_NEAR(high[i], (cost(z + h) - cost(z)) / h, 2e-5);
        CHECK_NEAR(low[i], (cost(z) - cost(z - h)) / h, 2e-5);
        CHECK(low[i] <= high[i]);
    }
}

// A prediction that puts a row on a knot is found to do so.
void check_bends(const RowFunctions& rows) {
    const Curve& f = rows.curves[0];
    std::vector<double> low(static_cast<std::size_t>(rows.n)), high(low);
    for (std::int64_t i = 0; i < rows.n; i += 41) {
        if (rows.weight[i] == 0) continue;
        const double bend = (f.knot[0] - rows.offset[i]) * rows.direction[i];
        check_ranges_at(rows, bend);
        slope_ranges(rows, bend, low, high);
        CHECK_NEAR(high[i] - low[i], rows.weight[i] * (f.right[0] - f.left[0]), 1e-14);
    }
}

// Knots so close that one prediction is at both: the slopes reach from the first to the last.
void check_close_knots() {
    for (const double width : {1e-17, 1e-40}) {
        const samples::OwnedCurve huber{
            "narrow huber",  {-width, width}, {0.5 * width * width, 0.5 * width * width},
            {-width, width}, {-width, width}, {0, 1, 0}};
        samples::OwnedRows rows(huber.view(), 1, 1);
        rows.weight[0] = 1.0, rows.direction[0] = -1.0, rows.offset[0] = 0.3;
        double low = 0, high = 0;
        slope_ranges(rows.view(), 0.3, {&low, 1}, {&high, 1});
        CHECK_NEAR(low / width, -1.0, 1e-14);
        CHECK_NEAR(high / width, 1.0, 1e-14);
    }
}

}  // namespace

int main() {
    check_close_knots();
    std::uint64_t seed = 1;
    for (const samples::OwnedCurve& owned : samples::curves()) {
        const int before = check::failures;
        samples::OwnedRows rows(owned.view(), 600, seed++);
        rows.weight.back() = 1.5;
        for (const double z : {-1.3, 0.0, 0.21})
            check_ranges_at(rows.view(), z);
        check_bends(rows.view());
        // the same rows with an index take the way of mixed curves
        const std::vector<std::uint8_t> index(rows.weight.size(), 0);
        RowFunctions mixed = rows.view();
        mixed.curve_index = index.data();
        check_ranges_at(mixed, 0.21);
        check_bends(mixed);
        if (check::failures > before) std::printf("the curve was: %s\n", owned.name.c_str());
    }
    return check::report();
}
