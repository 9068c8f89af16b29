// What a pass does per row once predictions are known: loops over a chunk of rows without X.
#pragma once

#include "rectiline/passes/pass.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/vectors.hpp"

#include <iterator>

namespace rectiline::passes {

constexpr std::int64_t kChunk = 64;  // rows whose part of X stays in a cache

// One chunk. Inputs: predictions z and z_split, the sizes of the terms of z, the sums that bound
// the squared lengths of rows; which rows are left out, and which are near in any case. Outputs:
// multipliers g of frozen rows, slack to the nearest knot, the rows to look at closely and their
// squared lengths, and for the next split the slopes g_next and weights times curvatures before and
// after.
struct Chunk {
    std::int64_t count = 0;
    double z[kChunk], z_split[kChunk], size[kChunk], listed[kChunk], kept[kChunk];
    double g[kChunk], g_next[kChunk], curved[kChunk], curved_next[kChunk], slack[kChunk];
    double crossed[kChunk], length[kChunk], close[kChunk], square[kChunk];
    int candidates[kChunk];
};

// Evaluates the rows of a chunk that are not listed. `unit`: bound on the relative error of a
// prediction against the sizes of its terms. The Fenchel-Young term is convex in the argument, so
// the larger of its values at both ends of the argument's error is an upper bound. Adds to the sums
// over rows, and raises the steepest slope.
template <class Curves>
RECTILINE_MULTIVERSION void evaluate_rows(const Curves& curves, const rows::RowFunctions& rows,
                                          std::int64_t first, double unit, Chunk& c, RowSums& sums,
                                          double& largest) {
    const Curves of = curves;
    const double *direction = rows.direction + first, *offset = rows.offset + first;
    const double* weight = rows.weight + first;
    double loss = 0, gap = 0, error = 0, total = 0, size = 0, steepest = 0, all = 0;
#pragma omp simd reduction(+ : loss, gap, error, total, size, all) reduction(max : steepest)
    for (std::int64_t i = 0; i < c.count; ++i) {
        const auto& f = of[first + i];
        const double w = weight[i] * (1.0 - c.listed[i]);
        const double t = direction[i] * c.z[i] + offset[i];
        const auto frozen = f.quadratic_at(direction[i] * c.z_split[i] + offset[i]);
        const double s = f.nearest_slope(frozen.slope_at(t)), q = frozen.curvature;
        const double own = f.slope_at(t);
        const double err = unit * (c.size[i] + size_of(offset[i]));
        const double worst = larger(f.fenchel_young(t - err, s), f.fenchel_young(t + err, s));
        const double slope = larger(size_of(s), size_of(own));
        loss += w * f.loss(t);
        gap += w * worst;
        error += w * err;
        all += w;
        steepest = larger(steepest, w > 0 ? slope : 0.0);
        c.crossed[i] = s != own ? 1.0 : 0.0;
        const double g = direction[i] * w * s;
        c.g[i] = g;
        c.curved[i] = w * q;
        total += g, size += size_of(g);
    }
    const double found[] = {loss, gap, error, total, size, all};
    for (std::size_t k = 0; k < std::size(found); ++k)
        sums[k] += found[k];
    largest = larger(largest, steepest);
}

// Slopes, curvatures and slack at the candidate, for the next split.
template <class Curves>
RECTILINE_MULTIVERSION void look_at_rows(const Curves& curves, const rows::RowFunctions& rows,
                                         std::int64_t first, Chunk& c) {
    const Curves of = curves;
    const double *direction = rows.direction + first, *offset = rows.offset + first;
    const double* weight = rows.weight + first;
#pragma omp simd
    for (std::int64_t i = 0; i < c.count; ++i) {
        const auto& f = of[first + i];
        const double t = direction[i] * c.z[i] + offset[i];
        c.slack[i] = f.slack(t);
        c.g_next[i] =
            direction[i] * weight[i] * f.slope_at(t) + 0.0 * t;  // shows what is not finite
        c.curved_next[i] = weight[i] * f.curvature_at(t);
    }
}

// Lists the rows that are to be looked at closely: those with a weight that are within reach of a
// knot by the bound on their length, or across it and not listed; and those near in any case.
// Returns their number.
template <bool Evaluated>
RECTILINE_MULTIVERSION int list_close(const double* weight, double reach, double least, Chunk& c) {
    const double factor = reach * reach, base = factor * least;
    double any = 0;
#pragma omp simd reduction(+ : any)
    for (std::int64_t i = 0; i < c.count; ++i) {
        double close = c.slack[i] * c.slack[i] <= base + factor * c.length[i] ? 1.0 : 0.0;
        if constexpr (Evaluated) close = larger(close, c.crossed[i] * (1.0 - c.listed[i]));
        close = larger(weight[i] > 0 ? close : 0.0, c.kept[i]);
        c.close[i] = close;
        any += close;
    }
    if (any == 0) return 0;
    int found = 0;
    for (int i = 0; i < c.count; ++i) {  // without branches: which rows are close is hard to guess
        c.candidates[found] = i;
        found += c.close[i] > 0 ? 1 : 0;
    }
    return found;
}

// What `take_changes` finds: the sum of the changes of slopes, and how many rows change their slope
// and their curvature.
struct Changes {
    double total, slopes, curvatures;
};

// g_next and curved_next become what they change by.
template <bool Evaluated>
RECTILINE_MULTIVERSION Changes take_changes(Chunk& c) {
    double total = 0, slopes = 0, any = 0;
#pragma omp simd reduction(+ : total, slopes, any)
    for (std::int64_t i = 0; i < c.count; ++i) {
        const double change = Evaluated ? c.g_next[i] - c.g[i] : c.g_next[i];
        const double curved = Evaluated ? c.curved_next[i] - c.curved[i] : c.curved_next[i];
        c.g_next[i] = change, c.curved_next[i] = curved;
        total += change;
        slopes += change != 0 ? 1.0 : 0.0;
        any += curved != 0 ? 1.0 : 0.0;
    }
    return {total, slopes, any};
}

}  // namespace rectiline::passes
