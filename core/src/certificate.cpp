#include "rectiline/certificate.hpp"

#include "rectiline/compensated.hpp"
#include "rectiline/packed_curve.hpp"

#include <algorithm>
#include <vector>

namespace rectiline {
namespace {

// Plain sums over a block of rows with one curve; the blocks are added with compensation.
constexpr std::int64_t kBlock = 128;

// What the rows of a block share between pairs.
struct Block {
    std::int64_t first, count;
    double turn_by_weight[kBlock];  // direction / weight; 0 without weight

    RECTILINE_INLINE void fill(const RowFunctions& rows, std::int64_t i) {
        first = i, count = std::min(kBlock, rows.n - i);
        for (std::int64_t k = 0; k < count; ++k)
            turn_by_weight[k] =
                rows.weight[i + k] > 0 ? rows.direction[i + k] / rows.weight[i + k] : 0.0;
    }
};

RECTILINE_MULTIVERSION void fill_block(const RowFunctions& rows, std::int64_t i, Block& block) {
    block.fill(rows, i);
}

template <class Packed>
RECTILINE_MULTIVERSION RowSums block_sums(const Packed& curve, const RowFunctions& rows,
                                          const Block& block, const double* z, const double* g,
                                          double lowest, double highest) {
    const Packed f = curve;
    const double* weight = rows.weight + block.first;
    const double* direction = rows.direction + block.first;
    const double* offset = rows.offset + block.first;
    z += block.first, g += block.first;
    double loss = 0, gap = 0;
#pragma omp simd reduction(+ : loss, gap)
    for (std::int64_t i = 0; i < block.count; ++i) {
        // Dividing by the weight can push a slope past its end by a rounding: bring it back.
        double slope = g[i] * block.turn_by_weight[i];
        slope = slope < lowest ? lowest : slope;
        slope = slope > highest ? highest : slope;
        const double t = direction[i] * z[i] + offset[i];
        loss += weight[i] * f.loss(t);
        gap += weight[i] * f.fenchel_young(t, slope);
    }
    return {loss, gap};
}

template <class Packed>
RECTILINE_MULTIVERSION double block_loss(const Packed& curve, const RowFunctions& rows,
                                         std::int64_t first, std::int64_t last, const double* z) {
    const Packed f = curve;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
    double loss = 0;
#pragma omp simd reduction(+ : loss)
    for (std::int64_t i = first; i < last; ++i)
        loss += weight[i] * f.loss(direction[i] * z[i] + offset[i]);
    return loss;
}

template <class Packed>
RECTILINE_MULTIVERSION void all_slopes(const Packed& curve, const RowFunctions& rows,
                                       const double* z, double* g) {
    const Packed f = curve;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
#pragma omp simd
    for (std::int64_t i = 0; i < rows.n; ++i)
        g[i] = direction[i] * weight[i] * f.slope_at(direction[i] * z[i] + offset[i]);
}

// One pair, row by row: any curves.
RowSums mixed_sums(const RowFunctions& rows, const double* z, const double* g) {
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

void row_sums_of_many(const RowFunctions& rows, std::int64_t count, const double* z,
                      const double* g, RowSums* sums) {
    const bool done = with_one_curve(rows, [&](const auto& packed) {
        const double lowest = rows.curves[0].lowest_slope();
        const double highest = rows.curves[0].highest_slope();
        std::vector<CompensatedSum> loss(static_cast<std::size_t>(count)), gap(loss);
        Block block;
        for (std::int64_t i = 0; i < rows.n; i += kBlock) {
            fill_block(rows, i, block);
            for (std::int64_t k = 0; k < count; ++k) {
                const RowSums part = block_sums(packed, rows, block, z + k * rows.n, g + k * rows.n,
                                                lowest, highest);
                loss[k].add(part.loss), gap[k].add(part.fenchel_young);
            }
        }
        for (std::int64_t k = 0; k < count; ++k)
            sums[k] = {loss[k].value(), gap[k].value()};
    });
    for (std::int64_t k = 0; !done && k < count; ++k)
        sums[k] = mixed_sums(rows, z + k * rows.n, g + k * rows.n);
}

RowSums row_sums(const RowFunctions& rows, const double* z, const double* g) {
    RowSums sums;
    row_sums_of_many(rows, 1, z, g, &sums);
    return sums;
}

double loss_sum(const RowFunctions& rows, const double* z) {
    CompensatedSum loss;
    if (!with_one_curve(rows, [&](const auto& packed) {
            for (std::int64_t i = 0; i < rows.n; i += kBlock)
                loss.add(block_loss(packed, rows, i, std::min(rows.n, i + kBlock), z));
        }))
        for (std::int64_t i = 0; i < rows.n; ++i)
            if (rows.weight[i] != 0)
                loss.add(rows.weight[i] * rows.curve(i)(rows.argument(i, z[i])));
    return loss.value();
}

void slopes_at(const RowFunctions& rows, const double* z, double* g) {
    if (with_one_curve(rows, [&](const auto& packed) { all_slopes(packed, rows, z, g); })) return;
    for (std::int64_t i = 0; i < rows.n; ++i)
        g[i] = rows.weight[i] == 0 ? 0.0
                                   : rows.direction[i] * rows.weight[i] *
                                         rows.curve(i).slope(rows.argument(i, z[i]));
}

}  // namespace rectiline
