// A convex piecewise linear-quadratic function phi of one variable, and the three questions every
// solver asks of it: its value, the slope of its Moreau envelope, and how far a (point, slope) pair
// is from being optimal (Fenchel-Young).
//
// Layout (the same as losses/_curve.py): K knots; value, left and right derivative at each knot;
// K + 1 curvatures, piece 0 left of the first knot, piece k between knots k-1 and k.
#pragma once

#include "rectiline/rooms.hpp"

namespace rectiline::rows {

// One piece: where it starts and ends; the point, value, slope and curvature it is written from;
// the slopes at its ends, and how far a slope moves the point where it touches; its end if slope or
// curvature change there, else infinity.
struct Piece {
    double from, to, at, value, slope, curvature, first_slope, last_slope, per_slope, bend;
};

// The quadratic function that a curve is on one of its pieces.
struct Quadratic {
    double at, value, slope, curvature;

    RECTILINE_INLINE double slope_at(double t) const { return slope + curvature * (t - at); }
};

// What a curve made of pieces can be asked, without branches. `Self` has the pieces 0 .. n_knots
// and the ends of the slopes, and may know that neither the first nor the last is curved.
//
// The Fenchel-Young term is the integral of |slope - s| between the argument and the point where s
// is a slope. Piece by piece: from `touch`, the point of the piece that is nearest to it, where the
// slope differs from s by `excess` >= 0, over a length to the nearest point to the argument. Every
// part is non-negative, so nothing cancels.
template <class Self>
struct CurveOfPieces {
    RECTILINE_INLINE double lowest_slope() const { return self().lowest; }
    RECTILINE_INLINE double highest_slope() const { return self().highest; }
    // The slope that is nearest to s.
    RECTILINE_INLINE double nearest_slope(double s) const {
        s = s < lowest_slope() ? lowest_slope() : s;
        return s > highest_slope() ? highest_slope() : s;
    }
    // The one at t; that of the piece on the left at a knot.
    RECTILINE_INLINE Quadratic quadratic_at(double t) const {
        double a = of(0).at, v = of(0).value, m = of(0).slope, q = of(0).curvature;
        for (int k = 1; k <= count(); ++k) {
            const bool past = t > of(k).from;
            a = past ? of(k).at : a, v = past ? of(k).value : v;
            m = past ? of(k).slope : m, q = past ? of(k).curvature : q;
        }
        return {a, v, m, q};
    }
    RECTILINE_INLINE double loss(double t) const {
        const auto [a, v, m, q] = quadratic_at(t);
        const double e = t - a;
        return v + e * (m + 0.5 * q * e);
    }
    // A slope at t; the one of the piece on the left at a kink.
    RECTILINE_INLINE double slope_at(double t) const { return quadratic_at(t).slope_at(t); }
    // Distance from t to the nearest knot at which slope or curvature changes.
    RECTILINE_INLINE double slack(double t) const {
        // Compilers make a branch of one choice alone: there is none with one knot, else several.
        const bool one = count() == 1;
        double nearest = one ? std::fabs(t - of(0).bend) : kInfinity;
        for (int k = 0; k < count(); ++k) {
            const double far = std::fabs(t - of(k).bend);
            nearest = far < nearest ? far : nearest;
        }
        return nearest;
    }
    RECTILINE_INLINE double curvature_at(double t) const {
        double q = of(0).curvature;
        for (int k = 1; k <= count(); ++k) {  // products, as compilers make branches of a choice
            const double past = t > of(k).from ? 1.0 : 0.0;
            q = past * of(k).curvature + (1.0 - past) * q;
        }
        return q;
    }
    // phi(t) + phi*(s) - s t >= 0; s must lie in the range of slopes.
    RECTILINE_INLINE double fenchel_young(double t, double s) const {
        double total = 0;
        for (int k = 0; k <= count(); ++k) {
            const Piece& p = of(k);
            if (Self::kStraightEnds && k == 0) {  // all slopes touch its end, as those of the last
                total += positive(p.to - t) * positive(s - p.slope);
            } else if (Self::kStraightEnds && k == count()) {
                total += positive(t - p.from) * positive(p.slope - s);
            } else {
                const double touch = clamped(p.at + (s - p.slope) * p.per_slope, k);
                const double gone = clamped(t, k) - touch, length = gone < 0 ? -gone : gone;
                const double under = p.first_slope - s, over = s - p.last_slope;
                const double excess = positive(under > over ? under : over);
                total += length * (excess + 0.5 * p.curvature * length);
            }
        }
        return total;
    }

  private:
    RECTILINE_INLINE const Self& self() const { return static_cast<const Self&>(*this); }
    RECTILINE_INLINE const Piece& of(int k) const { return self().pieces[k]; }
    RECTILINE_INLINE int count() const { return self().last_piece(); }
    RECTILINE_INLINE static double positive(double x) { return x > 0 ? x : 0.0; }
    RECTILINE_INLINE double clamped(double t, int k) const {
        if (k > 0) t = t > of(k).from ? t : of(k).from;
        if (k < count()) t = t < of(k).to ? t : of(k).to;
        return t;
    }
};

// A curve with any number of knots.
struct Curve : CurveOfPieces<Curve> {
    static constexpr bool kStraightEnds = false;

    std::int64_t n_knots;
    const double* knot;
    const double* value;
    const double* left;
    const double* right;
    const double* curvature;
    double lowest, highest;  // slopes
    double touched = -1;     // the largest |at| of a curved piece; negative: none is curved
    std::vector<Piece> pieces;

    Curve(std::int64_t n_knots, const double* knot, const double* value, const double* left,
          const double* right, const double* curvature)
        : n_knots(n_knots),
          knot(knot),
          value(value),
          left(left),
          right(right),
          curvature(curvature),
          lowest(curvature[0] > 0 ? -kInfinity : left[0]),
          highest(curvature[n_knots] > 0 ? kInfinity : right[n_knots - 1]) {
        for (std::int64_t k = 0; k <= n_knots; ++k) {
            pieces.push_back(piece(k));
            if (curvature[k] > 0) touched = std::max(touched, std::fabs(pieces.back().at));
        }
    }
    int last_piece() const { return static_cast<int>(n_knots); }
    // The same where s may lie outside the range of slopes: there it is infinite.
    double fenchel_young(double t, double s) const {
        return s < lowest || s > highest ? kInfinity : CurveOfPieces::fenchel_young(t, s);
    }

  private:
    static constexpr double kToAnEnd = 1e300;  // on straight pieces any other slope touches there

    Piece piece(std::int64_t k) const {
        const bool first = k == 0, last = k == n_knots, curved = curvature[k] > 0;
        // Written from the end that is nearer to the minimum.
        const bool right_end = !last && (first || left[k] <= 0);
        const std::int64_t j = right_end ? k : k - 1;
        const double slope = right_end ? left[j] : right[j];
        const double open = curved ? kInfinity : slope;
        const bool bends = !last && (left[k] != right[k] || curvature[k] != curvature[k + 1]);
        return {first ? -kInfinity : knot[k - 1],
                last ? kInfinity : knot[k],
                knot[j],
                value[j],
                slope,
                curvature[k],
                !curved ? slope
                : first ? -open
                        : right[k - 1],
                !curved ? slope
                : last  ? open
                        : left[k],
                curved ? 1.0 / curvature[k] : kToAnEnd,
                bends ? knot[k] : kInfinity};
    }
};

// What rows have of curves: all the same one, in registers, or each its own. Loops over rows are
// written once for both.
template <class T>
struct Shared {
    T one;
    RECTILINE_INLINE const T& operator[](std::int64_t) const { return one; }
};
template <class T>
struct Own {
    const T* all;
    const std::uint8_t* index;  // nullptr: every row has the first
    RECTILINE_INLINE const T& operator[](std::int64_t i) const { return all[index ? index[i] : 0]; }
};

// The slope s of phi at prox(w) = argmin phi(t) + (t - w)^2 / (2 step): the unique s with
// s in dphi(w - step s).
RECTILINE_INLINE double envelope_slope(const Curve& f, double w, double step) {
    double e = w - f.knot[0];
    if (e < step * f.left[0]) {
        const double q = f.curvature[0];
        return f.left[0] + q / (1.0 + step * q) * (e - step * f.left[0]);
    }
    for (std::int64_t k = 0;; ++k) {
        e = w - f.knot[k];
        if (e <= step * f.right[k]) {
            if (!(f.right[k] > f.left[k])) return f.right[k];
            const double s = e / step;
            return s < f.left[k] ? f.left[k] : (s > f.right[k] ? f.right[k] : s);
        }
        if (k + 1 == f.n_knots || w - f.knot[k + 1] < step * f.left[k + 1]) {
            const double q = f.curvature[k + 1];
            return f.right[k] + q / (1.0 + step * q) * (e - step * f.right[k]);
        }
    }
}

// How far t may move before the slope changes, nowhere on a curved piece.
RECTILINE_INLINE double slack_to_knot(const Curve& f, double t) {
    return f.curvature_at(t) > 0 ? 0.0 : f.slack(t);
}

}  // namespace rectiline::rows
