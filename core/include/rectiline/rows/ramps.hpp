// The slope of a Moreau envelope as a sum of clamped ramps, free of branches.
//
// For a convex PLQ curve and a step 1/S, w -> slope at prox(w) is non-decreasing and piecewise
// affine: it climbs at rate S across each kink and at rate q/(1 + q/S) across each curved piece,
// and is flat on straight pieces. So it is  base + sum_m rate_m * clamp(w - start_m, 0, length_m),
// where the first ramp may reach back to minus infinity and the last one forward to plus infinity.
// A handful of ramps describes every loss of the library; the loop over rows then has no
// data-dependent branches. S = infinity gives the slope of the curve itself (for curves without
// kinks).
#pragma once

#include "rectiline/rows/curve.hpp"
#include "rectiline/support/vectors.hpp"

#include <array>

namespace rectiline::rows {

// slope(w) = base + rate[m] * clamp(w - start[m], low[m], high[m]) summed over m; `lowest` and
// `highest` are the ends of the slopes of the curve.
struct Ramp {
    double start, low, high, rate;
};

template <class Ramps>
struct RampTable {
    double base = 0, lowest = 0, highest = 0;
    Ramps all;

    RECTILINE_INLINE double slope(double w) const {
        double s = base;
        for (const Ramp& ramp : all) {
            double e = w - ramp.start;
            e = e < ramp.low ? ramp.low : e;
            e = e > ramp.high ? ramp.high : e;
            s += ramp.rate * e;
        }
        return s;
    }
    // d slope / d w at w: the rate of the ramp that holds w, 0 on flat parts.
    RECTILINE_INLINE double jacobian(double w) const { return rate_near(w, 0.0); }
    // No less than the jacobian anywhere within `reach` of w.
    RECTILINE_INLINE double rate_near(double w, double reach) const {
        double j = 0;
        for (const Ramp& ramp : all) {
            const double e = w - ramp.start;
            j += e + reach > ramp.low && e - reach < ramp.high ? ramp.rate : 0.0;
        }
        return j;
    }
};

struct Ramps : RampTable<std::vector<Ramp>> {
    Ramps() = default;
    Ramps(const Curve& f, double S) {
        lowest = f.lowest_slope(), highest = f.highest_slope();
        const double step = std::isinf(S) ? 0.0 : 1.0 / S;
        const std::int64_t K = f.n_knots;
        base = f.left[0];
        if (f.curvature[0] > 0)
            all.push_back({f.knot[0] + step * f.left[0], -kInfinity, 0.0,
                           f.curvature[0] / (1 + step * f.curvature[0])});
        for (std::int64_t k = 0; k < K; ++k) {
            if (f.right[k] > f.left[k] && step > 0)
                climb(f.knot[k] + step * f.left[k], step * (f.right[k] - f.left[k]), S, f.right[k]);
            const double q = f.curvature[k + 1];
            if (q <= 0) continue;
            const double from = f.knot[k] + step * f.right[k];
            if (k + 1 < K)
                climb(from, (f.knot[k + 1] - f.knot[k]) + step * (f.left[k + 1] - f.right[k]),
                      q / (1 + step * q), f.left[k + 1]);
            else
                climb(from, kInfinity, q / (1 + step * q), kInfinity);
        }
    }

  private:
    // A ramp that ends at slope `top`. While slopes are negative, ramps are measured from their
    // upper end and the base moves up with them: near the minimiser nothing large is added and
    // taken away.
    void climb(double from, double length, double r, double top) {
        const bool falling = top <= 0;
        all.push_back(
            {falling ? from + length : from, falling ? -length : 0.0, falling ? 0.0 : length, r});
        if (falling) base = top;
    }
};

// A few of them, in registers.
template <int M>
struct FewRamps : RampTable<std::array<Ramp, M>> {
    explicit FewRamps(const Ramps& r) {
        this->base = r.base, this->lowest = r.lowest, this->highest = r.highest;
        std::copy_n(r.all.begin(), M, this->all.begin());
    }
};

// Calls kernel(ramps): shared ones if there are up to four for all rows.
template <class Kernel>
void with_ramps(const std::vector<Ramps>& ramps, const std::uint8_t* index, Kernel&& kernel) {
    const auto count = index ? 0 : std::ssize(ramps[0].all);
    if (!with_count<4>(count, [&]<int M>() { kernel(Shared{FewRamps<M>(ramps[0])}); }))
        kernel(Own<Ramps>{ramps.data(), index});
}

}  // namespace rectiline::rows
