// A curve with few knots in registers: loss and Fenchel-Young term of many rows without branches.
//
// The Fenchel-Young term is the integral of |slope - s| between the argument and the point where s
// is a slope (`touch`), taken piece by piece: every part is a trapezoid with non-negative sides, so
// nothing cancels.
#pragma once

#include "rectiline/curve.hpp"
#include "rectiline/small_count.hpp"

#include <cstdint>
#include <limits>

namespace rectiline {

template <int K>
struct PackedCurve {
    double knot[K];
    // Piece k: where it starts and ends, and the point, value, slope and curvature it is written
    // from.
    double from[K + 1], to[K + 1], at[K + 1], value[K + 1], slope[K + 1], curvature[K + 1];
    // Where a slope touches: knot[0], and how far each piece moves the point on.
    double first_slope[K + 1], width[K + 1], per_slope[K + 1], flat[K + 1];

    explicit PackedCurve(const Curve& f) {
        const double infinity = std::numeric_limits<double>::infinity();
        for (int k = 0; k < K; ++k)
            knot[k] = f.knot[k];
        for (int k = 0; k <= K; ++k) {
            from[k] = k == 0 ? -infinity : f.knot[k - 1];
            to[k] = k == K ? infinity : f.knot[k];
            // From the end that is nearer to the minimum, as Curve does.
            const bool right_end = k < K && (k == 0 || f.left[k] <= 0);
            const int j = right_end ? k : k - 1;
            at[k] = f.knot[j];
            value[k] = f.value[j];
            slope[k] = right_end ? f.left[j] : f.right[j];
            curvature[k] = f.curvature[k];
            first_slope[k] = k == 0 ? f.left[0] : f.right[k - 1];
            width[k] = k == K ? infinity : (k == 0 ? 0.0 : f.left[k] - f.right[k - 1]);
            per_slope[k] = curvature[k] > 0 ? 1.0 / curvature[k] : 0.0;
            flat[k] = curvature[k] > 0 || k == 0 || k == K ? 0.0 : f.knot[k] - f.knot[k - 1];
        }
    }

    // s must lie in the range of slopes.
    RECTILINE_INLINE void evaluate(double t, double s, double& loss, double& gap) const {
        double a = at[0], v = value[0], m = slope[0], q = curvature[0];
        double below = s - first_slope[0];
        below = below < 0 ? below : 0.0;
        double touch = knot[0] + below * per_slope[0];
        for (int k = 1; k <= K; ++k) {
            const bool past = t > knot[k - 1];
            a = past ? at[k] : a, v = past ? value[k] : v;
            m = past ? slope[k] : m, q = past ? curvature[k] : q;
            double over = s - first_slope[k];
            touch += over > 0 ? flat[k] : 0.0;
            over = over > 0 ? over : 0.0;
            over = over < width[k] ? over : width[k];
            // an infinite width on a straight last piece is never entered: s is in range
            touch += over * per_slope[k];
        }
        const double e = t - a;
        loss = v + e * (m + 0.5 * q * e);
        const double low = touch < t ? touch : t, high = touch < t ? t : touch;
        double total = 0;
        for (int k = 0; k <= K; ++k) {
            const double lo = low > from[k] ? low : from[k], hi = high < to[k] ? high : to[k];
            const double length = hi > lo ? hi - lo : 0.0;
            const double start = slope[k] + curvature[k] * (lo - at[k]) - s;
            const double end = slope[k] + curvature[k] * (hi - at[k]) - s;
            const double sides = (start < 0 ? -start : start) + (end < 0 ? -end : end);
            total += length > 0 ? 0.5 * length * sides : 0.0;
        }
        gap = total;
    }
};

// Calls kernel<K>() for K = the number of knots of the curve, up to 3.
template <class Kernel>
bool with_knot_count(const Curve& f, Kernel&& kernel) {
    return with_count<3>(f.n_knots, kernel);
}

}  // namespace rectiline
