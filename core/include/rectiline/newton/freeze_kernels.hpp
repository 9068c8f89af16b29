// The pass over rows that freezes those outside a working set.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/rows/packed_curve.hpp"

#include <cstdint>

namespace rectiline::newton {

// The arrays of the pass, over all rows.
struct FreezeArrays {
    const double *t, *weight, *direction;
};

// Sums of a freezing: slopes and losses of the frozen rows, weights of the kept ones by direction.
struct FreezeSums {
    double slopes, loss, kept_up, kept_down, curved;
};

// What a freezing fills: of the frozen rows slopes in the predictions (g) and weights times
// curvature, 0 for the others.
struct FrozenArrays {
    double *g, *curved;
};

template <class Curves>
RECTILINE_MULTIVERSION FreezeSums freeze_pass(const Curves& curves, std::int64_t first,
                                              std::int64_t last, const FreezeArrays& a,
                                              const double* keep, const FrozenArrays& out) {
    const Curves f = curves;
    const double *t = a.t, *weight = a.weight, *direction = a.direction;
    double *g = out.g, *curved = out.curved;
    double slopes = 0, loss = 0, up = 0, down = 0, total = 0;
#pragma omp simd reduction(+ : slopes, loss, up, down, total)
    for (std::int64_t i = first; i < last; ++i) {
        const double kept = keep[i] > 0 ? weight[i] : 0.0, frozen = weight[i] - kept;
        const double slope = f[i].slope_at(t[i]);
        g[i] = direction[i] * frozen * slope;
        curved[i] = frozen * f[i].curvature_at(t[i]);
        slopes += g[i];
        total += curved[i];
        loss += frozen * f[i].loss(t[i]);
        up += direction[i] > 0 ? kept : 0.0;
        down += direction[i] > 0 ? 0.0 : kept;
    }
    return {slopes, loss, up, down, total};
}

}  // namespace rectiline::newton
