// A curve with few knots in registers: loss, slope and Fenchel-Young term of many rows without
// branches.
//
// The Fenchel-Young term is the integral of |slope - s| between the argument and the point where s
// is a slope. Piece by piece: from `touch`, the point of the piece that is nearest to it, where the
// slope differs from s by `excess` >= 0, over a length to the nearest point to the argument. Every
// part is non-negative, so nothing cancels.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/rows/curve.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/small_count.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace rectiline::rows {

enum class Pieces { any, straight_ends, straight };  // straight: none is curved

template <int K, Pieces Kind = Pieces::any>
struct PackedCurve {
    static constexpr bool kStraight = Kind == Pieces::straight;
    static constexpr bool kStraightEnds = Kind != Pieces::any;

    static constexpr int kKnots = K;
    double knot[K];
    double bend[K];          // knots at which nothing changes are infinite
    double lowest, highest;  // slopes
    // Piece k: where it starts and ends, and the point, value, slope and curvature it is written
    // from.
    double from[K + 1], to[K + 1], at[K + 1], value[K + 1], slope[K + 1], curvature[K + 1];
    // The slopes at its ends, and how far a slope moves the point where it touches.
    double first_slope[K + 1], last_slope[K + 1], per_slope[K + 1];

    explicit PackedCurve(const Curve& f) : lowest(f.lowest_slope()), highest(f.highest_slope()) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        constexpr double to_an_end = 1e300;  // on straight pieces any other slope touches there
        for (int k = 0; k < K; ++k) {
            const bool bends = f.left[k] != f.right[k] || f.curvature[k] != f.curvature[k + 1];
            knot[k] = f.knot[k], bend[k] = bends ? f.knot[k] : infinity;
        }
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
            const bool curved = curvature[k] > 0;
            per_slope[k] = curved ? 1.0 / curvature[k] : to_an_end;
            first_slope[k] = k > 0 ? f.right[k - 1] : curved ? -infinity : slope[k];
            last_slope[k] = k < K ? f.left[k] : curved ? infinity : slope[k];
            if (!curved) first_slope[k] = last_slope[k] = slope[k];
        }
    }

    RECTILINE_INLINE double loss(double t) const {
        double a = at[0], v = value[0], m = slope[0], q = curvature[0];
        for (int k = 1; k <= K; ++k) {
            const bool past = t > knot[k - 1];
            a = past ? at[k] : a, v = past ? value[k] : v;
            m = past ? slope[k] : m, q = past ? curvature[k] : q;
        }
        const double e = t - a;
        return kStraight ? v + e * m : v + e * (m + 0.5 * q * e);
    }

    RECTILINE_INLINE double lowest_slope() const { return lowest; }
    RECTILINE_INLINE double highest_slope() const { return highest; }
    // A slope at t; the one of the piece on the left at a kink.
    RECTILINE_INLINE double slope_at(double t) const {
        double unused;
        return continued_slope(t, t, unused);
    }
    // Slope at t of the piece that `on` lies on, continued, and its curvature.
    RECTILINE_INLINE double continued_slope(double on, double t, double& bent) const {
        double a = at[0], m = slope[0], q = curvature[0];
        for (int k = 1; k <= K; ++k) {
            const bool past = on > knot[k - 1];
            a = past ? at[k] : a, m = past ? slope[k] : m, q = past ? curvature[k] : q;
        }
        bent = q;
        return kStraight ? m : m + q * (t - a);
    }
    // Distance from t to the nearest knot at which slope or curvature changes.
    RECTILINE_INLINE double slack(double t) const {
        // Compilers make a branch of one choice alone: there is none with one knot, else several.
        double nearest = K == 1 ? std::fabs(t - bend[0]) : std::numeric_limits<double>::infinity();
        for (int k = 0; k < K; ++k) {
            const double far = std::fabs(t - bend[k]);
            nearest = far < nearest ? far : nearest;
        }
        return nearest;
    }

    RECTILINE_INLINE double curvature_at(double t) const {
        if (kStraight) return 0.0;
        double q = curvature[0];
        for (int k = 1; k <= K; ++k) {  // products, as compilers make branches of a choice here
            const double past = t > knot[k - 1] ? 1.0 : 0.0;
            q = past * curvature[k] + (1.0 - past) * q;
        }
        return q;
    }

    // s must lie in the range of slopes.
    RECTILINE_INLINE double fenchel_young(double t, double s) const {
        double total = 0;
        for (int k = 0; k <= K; ++k) {
            if (kStraightEnds && k == 0) {  // touched at its end by all slopes, as is the last one
                total += positive(to[k] - t) * positive(s - slope[k]);
            } else if (kStraightEnds && k == K) {
                total += positive(t - from[k]) * positive(slope[k] - s);
            } else {
                const double touch = clamped(at[k] + (s - slope[k]) * per_slope[k], k);
                const double gone = clamped(t, k) - touch, length = gone < 0 ? -gone : gone;
                const double under = first_slope[k] - s, over = s - last_slope[k];
                const double excess = positive(under > over ? under : over);
                total += length * (excess + 0.5 * curvature[k] * length);
            }
        }
        return total;
    }

  private:
    RECTILINE_INLINE static double positive(double x) { return x > 0 ? x : 0.0; }
    RECTILINE_INLINE double clamped(double t, int k) const {
        if (k > 0) t = t > from[k] ? t : from[k];
        if (k < K) t = t < to[k] ? t : to[k];
        return t;
    }
};

// Calls kernel(packed curve) if it has up to 3 knots; returns whether it has.
template <class Kernel>
bool with_packed(const Curve& f, Kernel&& kernel) {
    bool straight = true;
    for (std::int64_t k = 0; k <= f.n_knots; ++k)
        straight = straight && f.curvature[k] == 0;
    const bool ends = f.curvature[0] == 0 && f.curvature[f.n_knots] == 0;
    return with_count<3>(f.n_knots, [&]<int K>() {
        if (straight)
            kernel(PackedCurve<K, Pieces::straight>(f));
        else if (ends)
            kernel(PackedCurve<K, Pieces::straight_ends>(f));
        else
            kernel(PackedCurve<K>(f));
    });
}

// The curves of rows: of all rows the same one, in registers, or of each row its own. Loops over
// rows are written once for both.
template <class Packed>
struct SharedCurve {
    Packed curve;
    RECTILINE_INLINE const Packed& operator[](std::int64_t) const { return curve; }
};
struct OwnCurves {
    RowFunctions rows;
    RECTILINE_INLINE const Curve& operator[](std::int64_t i) const { return rows.curve(i); }
};

// Calls kernel(curves): a shared curve if there is one for all rows and it has few knots.
template <class Kernel>
void with_curves(const RowFunctions& rows, Kernel&& kernel) {
    const bool is_packed =
        !rows.curve_index && with_packed(rows.curves[0], [&]<class Packed>(const Packed& packed) {
            kernel(SharedCurve<Packed>{packed});
        });
    if (!is_packed) kernel(OwnCurves{rows});
}

}  // namespace rectiline::rows
