#include "rectiline/rows/slope_ranges.hpp"

#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/compensated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rectiline::rows {
namespace {

constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
constexpr std::int64_t kBlock = 256;

RECTILINE_INLINE double size_of(double x) {
    return x < 0 ? -x : x;
}

// At a knot up to rounding.
RECTILINE_INLINE bool is_on(double t, double knot, double size) {
    return size_of(t - knot) <= kRounding * (size + size_of(knot));
}

template <class Curves>
RECTILINE_MULTIVERSION void block_ranges(const Curves& curves, const RowFunctions& rows, double z,
                                         std::int64_t first, std::int64_t last, double* low,
                                         double* high) {
    const Curves of = curves;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
    const double size = size_of(z);
#pragma omp simd
    for (std::int64_t i = first; i < last; ++i) {
        const auto& f = of[i];
        const double turn = direction[i], t = turn * z + offset[i];
        const double reach = size + size_of(offset[i]);
        double a = f.slope_at(t), b = a;
        for (int k = 0; k < f.last_piece(); ++k) {
            const bool on = is_on(t, f.pieces[k].to, reach);
            a = on ? f.pieces[k].last_slope : a, b = on ? f.pieces[k + 1].first_slope : b;
        }
        const double w = weight[i];
        low[i - first] = w * (turn > 0 ? a : -b);
        high[i - first] = w * (turn > 0 ? b : -a);
    }
}

// Writes the ranges block after block to low and high, or each over the one before unless they are
// kept, and calls take(count of rows) after each.
template <class Take>
void over_blocks(const RowFunctions& rows, double z, double* low, double* high, bool keep,
                 const Take& take) {
    with_curves(rows, [&](const auto& curves) {
        for (std::int64_t i = 0; i < rows.n; i += kBlock) {
            const std::int64_t last = std::min(rows.n, i + kBlock), at = keep ? i : 0;
            block_ranges(curves, rows, z, i, last, low + at, high + at);
            take(last - i);
        }
    });
}

RECTILINE_MULTIVERSION void add_block(CompensatedLanes& sum, const double* x, std::int64_t count) {
    CompensatedLanes local = sum;
    local.add(x, count);
    sum = local;
}

bool is_inside(const RowFunctions& rows, std::int64_t i, double g, double margin) {
    const double weight = rows.weight[i], own = rows.direction[i] * g;
    if (!(weight > 0)) return false;
    const Curve& f = rows.curve(i);
    const double low = weight * f.lowest_slope(), high = weight * f.highest_slope();
    const double width = high - low, room = std::min(own - low, high - own);
    return !std::isfinite(width) || room > margin * width;
}

}  // namespace

SlopeSums slope_sums(const RowFunctions& rows, double z) {
    double low[kBlock], high[kBlock];
    CompensatedLanes lows, highs;
    over_blocks(rows, z, low, high, false, [&](std::int64_t count) {
        add_block(lows, low, count);
        add_block(highs, high, count);
    });
    return {lows.value(), lows.size(), highs.value(), highs.size()};
}

void slope_ranges(const RowFunctions& rows, double z, std::span<double> low,
                  std::span<double> high) {
    over_blocks(rows, z, low.data(), high.data(), true, [](std::int64_t) {});
}

bool any_inside(const RowFunctions& rows, std::span<const double> g, double margin) {
    for (std::int64_t i = 0; i < rows.n; ++i)
        if (is_inside(rows, i, g[i], margin)) return true;
    return false;
}

}  // namespace rectiline::rows
