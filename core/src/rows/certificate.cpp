#include "rectiline/rows/certificate.hpp"

#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/rows/row_blocks.hpp"
#include "rectiline/support/compensated.hpp"

#include <algorithm>
#include <vector>

namespace rectiline::rows {
namespace {

// Sums over a block of rows with one curve are plain; the blocks are added with compensation.
// turn_by_weight: direction / weight, and 0 without weight.
template <class Packed>
RECTILINE_MULTIVERSION RowSums block_sums(const Packed& curve, const RowFunctions& rows,
                                          RowBlock block, const double* turn_by_weight,
                                          const double* z, const double* g, double lowest,
                                          double highest) {
    const Packed f = curve;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
    double loss = 0, gap = 0;
#pragma omp simd reduction(+ : loss, gap)
    for (std::int64_t i = block.first; i < block.last; ++i) {
        // Dividing by the weight can push a slope past its end by a rounding: bring it back.
        double slope = g[i] * turn_by_weight[i];
        slope = slope < lowest ? lowest : slope;
        slope = slope > highest ? highest : slope;
        const double t = direction[i] * z[i] + offset[i];
        loss += weight[i] * f.loss(t);
        gap += weight[i] * f.fenchel_young(t, slope);
    }
    return {loss, gap};
}

RECTILINE_MULTIVERSION void divide_by_weight(const RowFunctions& rows, double* turn_by_weight) {
    const double *weight = rows.weight, *direction = rows.direction;
#pragma omp simd
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double quotient = direction[i] / weight[i];
        turn_by_weight[i] = weight[i] > 0 ? quotient : 0.0;
    }
}

template <class Packed>
RECTILINE_MULTIVERSION double block_loss(const Packed& curve, const RowFunctions& rows,
                                         RowBlock block, const double* z) {
    const Packed f = curve;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
    double loss = 0;
#pragma omp simd reduction(+ : loss)
    for (std::int64_t i = block.first; i < block.last; ++i)
        loss += weight[i] * f.loss(direction[i] * z[i] + offset[i]);
    return loss;
}

template <class Packed>
RECTILINE_MULTIVERSION void block_slopes(const Packed& curve, const RowFunctions& rows,
                                         RowBlock block, const double* z, double* g) {
    const Packed f = curve;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
#pragma omp simd
    for (std::int64_t i = block.first; i < block.last; ++i)
        g[i] = direction[i] * weight[i] * f.slope_at(direction[i] * z[i] + offset[i]);
}

// One pair, row by row: any curves.
RowSums mixed_sums(const RowFunctions& rows, std::span<const double> z, std::span<const double> g) {
    CompensatedSum loss, gap;
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double weight = rows.weight[i];
        if (weight == 0) continue;
        const Curve& f = rows.curve(i);
        const double t = rows.argument(i, z[i]);
        const double slope =
            std::clamp(rows.direction[i] * g[i] / weight, f.lowest_slope(), f.highest_slope());
        loss.add(weight * f(t));
        gap.add(weight * std::max(0.0, fenchel_young(f, slope, t)));
    }
    return {loss.value(), gap.value()};
}

// Calls kernel(packed) if all rows have one curve with few knots.
template <class Kernel>
bool with_one_curve(const RowFunctions& rows, Kernel&& kernel) {
    return !rows.curve_index && with_packed(rows.curves[0], kernel);
}

}  // namespace

RowSums row_sums(const RowFunctions& rows, std::span<const double> z, std::span<const double> g) {
    CompensatedSum loss, gap;
    std::vector<double> turn_by_weight;
    const double lowest = rows.curves[0].lowest_slope();
    const double highest = rows.curves[0].highest_slope();
    if (!with_one_curve(rows, [&](const auto& packed) {
            turn_by_weight.resize(static_cast<std::size_t>(rows.n));
            divide_by_weight(rows, turn_by_weight.data());
            for (const RowBlock& block : RowBlocks::with_weight(rows)) {
                const RowSums part = block_sums(packed, rows, block, turn_by_weight.data(),
                                                z.data(), g.data(), lowest, highest);
                loss.add(part.loss), gap.add(part.fenchel_young);
            }
        }))
        return mixed_sums(rows, z, g);
    return {loss.value(), gap.value()};
}

double loss_sum(const RowFunctions& rows, std::span<const double> z) {
    CompensatedSum loss;
    if (!with_one_curve(rows, [&](const auto& packed) {
            const RowBlocks blocks = RowBlocks::all(rows);
            std::vector<double> parts(blocks.size());
            over_blocks(blocks.size(), [&](std::size_t k) {
                parts[k] = block_loss(packed, rows, blocks[k], z.data());
            });
            for (const double part : parts)
                loss.add(part);
        }))
        for (std::int64_t i = 0; i < rows.n; ++i)
            if (rows.weight[i] != 0)
                loss.add(rows.weight[i] * rows.curve(i)(rows.argument(i, z[i])));
    return loss.value();
}

void slopes_at(const RowFunctions& rows, std::span<const double> z, std::span<double> g) {
    if (with_one_curve(rows, [&](const auto& packed) {
            for (const RowBlock& block : RowBlocks::all(rows))
                block_slopes(packed, rows, block, z.data(), g.data());
        }))
        return;
    for (std::int64_t i = 0; i < rows.n; ++i)
        g[i] = rows.weight[i] == 0 ? 0.0
                                   : rows.direction[i] * rows.weight[i] *
                                         rows.curve(i).slope(rows.argument(i, z[i]));
}

}  // namespace rectiline::rows
