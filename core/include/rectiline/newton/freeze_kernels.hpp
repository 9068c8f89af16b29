// The passes over rows that choose a working set and freeze the others, without branches where all
// rows have one curve with few knots.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/rows/packed_curve.hpp"

#include <cstdint>
#include <limits>

namespace rectiline::newton {

// The arrays of both passes, over all rows.
struct FreezeArrays {
    const double *t, *s, *weight, *direction, *offset;
};

constexpr double kSameSlope = 1e-9;  // slopes closer than this are the same but for rounding

// Marks rows that may meet a knot while their predictions stay within [low, high], rows whose slope
// lies between those of two pieces, as they are on their way across a kink, and rows on curved
// pieces, whose slopes go out of date.
template <class Packed>
RECTILINE_MULTIVERSION std::int64_t near_pass(const Packed& curve, std::int64_t n,
                                              const FreezeArrays& a, const double* low,
                                              const double* high, double pad, double* keep) {
    const Packed f = curve;
    const double *t = a.t, *s = a.s, *weight = a.weight, *direction = a.direction;
    const double* offset = a.offset;
    double count = 0;
#pragma omp simd reduction(+ : count)
    for (std::int64_t i = 0; i < n; ++i) {
        const double one = direction[i] * low[i] + offset[i];
        const double other = direction[i] * high[i] + offset[i];
        double from = (one < other ? one : other) - pad, to = (one < other ? other : one) + pad;
        from = from < t[i] ? from : t[i];
        to = to > t[i] ? to : t[i];
        const double slope = f.slope_at(t[i]), off = s[i] - slope;
        const double size = slope < 0 ? 1 - slope : 1 + slope;
        double near = (off < 0 ? -off : off) > kSameSlope * size ? 1.0 : 0.0;
        near = f.curvature_at(t[i]) > 0 ? 1.0 : near;
        double inside = -1.0;  // of the knot deepest in the range: distance to its nearer end
        for (int k = 0; k < Packed::kKnots; ++k) {
            const double past = f.knot[k] - from, ahead = to - f.knot[k];
            const double least_of_both = past < ahead ? past : ahead;
            inside = inside > least_of_both ? inside : least_of_both;
        }
        near = inside >= 0 ? 1.0 : near;
        keep[i] = weight[i] > 0 ? near : 0.0;
        count += keep[i];
    }
    return static_cast<std::int64_t>(count);
}

// Sums of a freezing: slopes and losses of the frozen rows, weights of the kept ones by direction.
struct FreezeSums {
    double slopes, loss, kept_up, kept_down, curved;
};

// What a freezing fills: of the frozen rows slopes in the predictions (g) and weights times
// curvature, 0 for the others; slopes of their losses, NaN for the others.
struct FrozenArrays {
    double *g, *curved, *slope;
};

template <class Packed>
RECTILINE_MULTIVERSION FreezeSums freeze_pass(const Packed& curve, std::int64_t n,
                                              const FreezeArrays& a, const double* keep,
                                              const FrozenArrays& out) {
    const Packed f = curve;
    const double *t = a.t, *weight = a.weight, *direction = a.direction;
    double *g = out.g, *curved = out.curved, *slope_of = out.slope;
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    double slopes = 0, loss = 0, up = 0, down = 0, total = 0;
#pragma omp simd reduction(+ : slopes, loss, up, down, total)
    for (std::int64_t i = 0; i < n; ++i) {
        const double kept = keep[i] > 0 ? weight[i] : 0.0, frozen = weight[i] - kept;
        const double slope = f.slope_at(t[i]);
        g[i] = direction[i] * frozen * slope;
        slope_of[i] = keep[i] > 0 ? nothing : slope;
        curved[i] = frozen * f.curvature_at(t[i]);
        slopes += g[i];
        total += curved[i];
        loss += frozen * f.loss(t[i]);
        up += direction[i] > 0 ? kept : 0.0;
        down += direction[i] > 0 ? 0.0 : kept;
    }
    return {slopes, loss, up, down, total};
}

}  // namespace rectiline::newton
