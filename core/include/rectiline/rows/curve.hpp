// A convex piecewise linear-quadratic function phi of one variable, and the three questions every
// solver asks of it: its value, the slope of its Moreau envelope, and how far a (point, slope) pair
// is from being optimal (Fenchel-Young).
//
// Layout (the same as losses/_curve.py): K knots; value, left and right derivative at each knot;
// K + 1 curvatures, piece 0 left of the first knot, piece k between knots k-1 and k.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/support/multiversion.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace rectiline::rows {

struct Curve {
    std::int64_t n_knots;
    const double* knot;
    const double* value;
    const double* left;
    const double* right;
    const double* curvature;

    RECTILINE_INLINE double lowest_slope() const {
        return curvature[0] > 0 ? -std::numeric_limits<double>::infinity() : left[0];
    }
    RECTILINE_INLINE double highest_slope() const {
        return curvature[n_knots] > 0 ? std::numeric_limits<double>::infinity()
                                      : right[n_knots - 1];
    }
    // Index of the piece that holds t: the number of knots strictly below t.
    RECTILINE_INLINE std::int64_t piece(double t) const {
        std::int64_t k = 0;
        while (k < n_knots && t > knot[k])
            ++k;
        return k;
    }
    RECTILINE_INLINE double loss(double t) const {
        const std::int64_t k = piece(t);
        if (k == 0) {
            const double e = t - knot[0];
            return value[0] + e * (left[0] + 0.5 * curvature[0] * e);
        }
        if (k < n_knots && left[k] <= 0) {  // falling piece: its right end is nearer to the minimum
            const double e = t - knot[k];
            return value[k] + e * (left[k] + 0.5 * curvature[k] * e);
        }
        const double e = t - knot[k - 1];
        return value[k - 1] + e * (right[k - 1] + 0.5 * curvature[k] * e);
    }
    // A slope at t; the one of the piece on the left at a kink.
    RECTILINE_INLINE double slope_at(double t) const {
        double unused;
        return continued_slope(t, t, unused);
    }
    RECTILINE_INLINE double curvature_at(double t) const { return curvature[piece(t)]; }
    // Slope at t of the piece that `on` lies on, continued, and its curvature.
    RECTILINE_INLINE double continued_slope(double on, double t, double& bend) const {
        const std::int64_t k = piece(on);
        bend = curvature[k];
        if (k < n_knots && (k == 0 || left[k] <= 0)) return left[k] + bend * (t - knot[k]);
        return right[k - 1] + bend * (t - knot[k - 1]);
    }
    // Distance from t to the nearest knot at which slope or curvature changes.
    RECTILINE_INLINE double slack(double t) const {
        double nearest = std::numeric_limits<double>::infinity();
        for (std::int64_t k = 0; k < n_knots; ++k) {
            const double far = std::fabs(t - knot[k]);
            const bool bends = left[k] != right[k] || curvature[k] != curvature[k + 1];
            nearest = bends && far < nearest ? far : nearest;
        }
        return nearest;
    }
    // phi(t) + phi*(s) - s t >= 0, summed as an integral of (slope - s) between the point where s
    // is a slope and t: every term is non-negative, so nothing cancels. Infinite outside the domain
    // of phi*.
    RECTILINE_INLINE double fenchel_young(double t, double s) const;
};

// The slope s of phi at prox(w) = argmin phi(t) + (t - w)^2 / (2 step): the unique s with
// s in dphi(w - step s). `jacobian` is ds/dw, the curvature of the envelope: 1/step at a kink,
// q/(1 + step q) on a piece of curvature q.
struct EnvelopeSlope {
    double slope;
    double jacobian;
};

RECTILINE_INLINE EnvelopeSlope envelope_slope(const Curve& f, double w, double step) {
    double e = w - f.knot[0];
    if (e < step * f.left[0]) {
        const double q = f.curvature[0], jacobian = q / (1.0 + step * q);
        return {f.left[0] + jacobian * (e - step * f.left[0]), jacobian};
    }
    for (std::int64_t k = 0;; ++k) {
        e = w - f.knot[k];
        if (e <= step * f.right[k]) {
            if (f.right[k] > f.left[k]) {
                const double s = e / step;
                return {s < f.left[k] ? f.left[k] : (s > f.right[k] ? f.right[k] : s), 1.0 / step};
            }
            const double q = f.curvature[k + 1];
            return {f.right[k], q / (1.0 + step * q)};
        }
        if (k + 1 == f.n_knots || w - f.knot[k + 1] < step * f.left[k + 1]) {
            const double q = f.curvature[k + 1], jacobian = q / (1.0 + step * q);
            return {f.right[k] + jacobian * (e - step * f.right[k]), jacobian};
        }
    }
}

RECTILINE_INLINE double Curve::fenchel_young(double t, double s) const {
    const std::int64_t K = n_knots;
    // touch: a point with s in dphi(touch); k: number of knots at or below it.
    double touch = 0.0;
    std::int64_t below = 0;  // knots <= touch
    bool on_knot = false;
    if (s < left[0]) {
        if (!(curvature[0] > 0)) return std::numeric_limits<double>::infinity();
        touch = knot[0] + (s - left[0]) / curvature[0];
    } else {
        for (std::int64_t k = 0; k < K; ++k) {
            if (s <= right[k]) {
                touch = knot[k], below = k + 1, on_knot = true;
                break;
            }
            if (k + 1 == K || s < left[k + 1]) {
                if (!(curvature[k + 1] > 0)) {
                    if (k + 1 == K) return std::numeric_limits<double>::infinity();
                    touch = knot[k + 1], below = k + 2, on_knot = true;  // s is the piece's slope
                    break;
                }
                touch = knot[k] + (s - right[k]) / curvature[k + 1], below = k + 1;
                if (k + 1 < K && left[k + 1] <= 0)  // this end is nearer to the minimum
                    touch = knot[k + 1] + (s - left[k + 1]) / curvature[k + 1];
                break;
            }
        }
    }
    double total = 0.0, position = touch;
    if (t >= touch) {
        double excess = on_knot ? right[below - 1] - s : 0.0;
        std::int64_t k = below;  // piece to the right of touch
        for (; k < K && knot[k] < t; ++k) {
            const double e = knot[k] - position;
            total += e * (excess + 0.5 * curvature[k] * e);
            position = knot[k];
            excess = right[k] - s;
        }
        const double e = t - position;
        return total + e * (excess + 0.5 * curvature[k] * e);
    }
    std::int64_t k = on_knot ? below - 1 : below;  // piece to the left of touch
    double excess = on_knot ? s - left[k] : 0.0;
    for (; k > 0 && knot[k - 1] > t; --k) {
        const double e = position - knot[k - 1];
        total += e * (excess + 0.5 * curvature[k] * e);
        position = knot[k - 1];
        excess = s - left[k - 1];
    }
    const double e = position - t;
    return total + e * (excess + 0.5 * curvature[k] * e);
}

// Distance from t to the nearest knot, or 0 on a curved piece: how far t may move before the slope
// changes. `slope` receives the slope there.
RECTILINE_INLINE double slack_to_knot(const Curve& f, double t, double& slope) {
    const std::int64_t k = f.piece(t);
    slope = k == 0 ? f.left[0] : f.right[k - 1];
    if (f.curvature[k] > 0) return 0.0;
    double slack = std::numeric_limits<double>::infinity();
    if (k > 0) slack = t - f.knot[k - 1];
    if (k < f.n_knots && f.knot[k] - t < slack) slack = f.knot[k] - t;
    return slack;
}

}  // namespace rectiline::rows
