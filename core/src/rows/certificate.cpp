#include "rectiline/rows/certificate.hpp"

#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/compensated.hpp"
#include "rectiline/support/threads.hpp"

namespace rectiline::rows {

namespace {

// Sums over a block of rows are plain; the blocks are added with compensation.
template <class Curves>
RECTILINE_MULTIVERSION RowSums block_sums(const Curves& curves, const RowFunctions& rows,
                                          RowBlock block, const double* z, const double* g) {
    const Curves f = curves;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
    double loss = 0, gap = 0;
#pragma omp simd reduction(+ : loss, gap)
    for (std::int64_t i = block.first; i < block.last; ++i) {
        // Dividing by the weight can push a slope past its end by a rounding: bring it back.
        const double quotient = direction[i] * g[i] / weight[i];
        double slope = weight[i] > 0 ? quotient : 0.0;
        slope = slope < f[i].lowest_slope() ? f[i].lowest_slope() : slope;
        slope = slope > f[i].highest_slope() ? f[i].highest_slope() : slope;
        const double t = direction[i] * z[i] + offset[i];
        loss += weight[i] * f[i].loss(t);
        gap += weight[i] * f[i].fenchel_young(t, slope);
    }
    return {loss, gap};
}

template <class Curves>
RECTILINE_MULTIVERSION double block_loss(const Curves& curves, const RowFunctions& rows,
                                         RowBlock block, const double* z) {
    const Curves f = curves;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
    double loss = 0;
#pragma omp simd reduction(+ : loss)
    for (std::int64_t i = block.first; i < block.last; ++i)
        loss += weight[i] * f[i].loss(direction[i] * z[i] + offset[i]);
    return loss;
}

template <class Curves>
RECTILINE_MULTIVERSION void block_slopes(const Curves& curves, const RowFunctions& rows,
                                         RowBlock block, const double* z, double* g) {
    const Curves f = curves;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
#pragma omp simd
    for (std::int64_t i = block.first; i < block.last; ++i)
        g[i] = direction[i] * weight[i] * f[i].slope_at(direction[i] * z[i] + offset[i]);
}

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

RowSums row_sums(const RowFunctions& rows, std::span<const double> z, std::span<const double> g) {
    CompensatedSum loss, gap;
    with_curves(rows, [&](const auto& curves) {
        for (const RowBlock& block : row_blocks(rows, true)) {
            const RowSums part = block_sums(curves, rows, block, z.data(), g.data());
            loss.add(part.loss), gap.add(part.fenchel_young);
        }
    });
    return {loss.value(), gap.value()};
}

double loss_sum(const RowFunctions& rows, std::span<const double> z) {
    const auto parts = support::each_stretch(rows.n, [&](std::int64_t first, std::int64_t last) {
        CompensatedSum part;
        with_curves(rows, [&](const auto& curves) {
            for (std::int64_t i = first; i < last; i += kBlockRows)
                part.add(block_loss(curves, rows, {i, std::min(last, i + kBlockRows)}, z.data()));
        });
        return part.value();
    });
    CompensatedSum loss;
    for (const double part : parts)
        loss.add(part);
    return loss.value();
}

void slopes_at(const RowFunctions& rows, std::span<const double> z, std::span<double> g) {
    with_curves(rows, [&](const auto& curves) {
        for (const RowBlock& block : row_blocks(rows, false))
            block_slopes(curves, rows, block, z.data(), g.data());
    });
}

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
