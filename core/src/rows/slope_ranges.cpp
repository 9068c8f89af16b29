#include "rectiline/rows/slope_ranges.hpp"

#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/compensated.hpp"

#include <limits>
#include <vector>

namespace rectiline::rows {
namespace {

constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();

RECTILINE_INLINE double size_of(double x) {
    return x < 0 ? -x : x;
}

// At a knot up to rounding.
RECTILINE_INLINE bool is_on(double t, double knot, double size) {
    return size_of(t - knot) <= kRounding * (size + size_of(knot));
}

template <class Curves>
RECTILINE_MULTIVERSION void find_ranges(const Curves& curves, const RowFunctions& rows, double z,
                                        double* low, double* high) {
    const Curves of = curves;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
    const double size = size_of(z);
#pragma omp simd
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const auto& f = of[i];
        const double turn = direction[i], t = turn * z + offset[i];
        const double reach = size + size_of(offset[i]);
        double a = f.slope_at(t), b = a;
        for (int k = 0; k < f.last_piece(); ++k) {
            const bool on = is_on(t, f.pieces[k].to, reach);
            a = on ? f.pieces[k].last_slope : a, b = on ? f.pieces[k + 1].first_slope : b;
        }
        const double w = weight[i];
        low[i] = w * (turn > 0 ? a : -b);
        high[i] = w * (turn > 0 ? b : -a);
    }
}

}  // namespace

void slope_ranges(const RowFunctions& rows, double z, std::span<double> low,
                  std::span<double> high) {
    with_curves(rows,
                [&](const auto& curves) { find_ranges(curves, rows, z, low.data(), high.data()); });
}

SlopeSums slope_sums(const RowFunctions& rows, double z) {
    std::vector<double> low(static_cast<std::size_t>(rows.n)), high(low.size());
    slope_ranges(rows, z, low, high);
    CompensatedLanes lows, highs;
    lows.add(low.data(), rows.n), highs.add(high.data(), rows.n);
    return {lows.value(), lows.size(), highs.value(), highs.size()};
}

}  // namespace rectiline::rows
