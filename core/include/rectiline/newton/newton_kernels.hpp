// The passes over rows of the semismooth Newton method that touch vectors of their length only, not
// X: derivative along a direction, settling at a step, and the sums of an estimate. One curve for
// all rows and few ramps go without branches; anything else row by row.
#pragma once

#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/rows/ramps.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/small_count.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rectiline::newton {

template <int M>
RECTILINE_INLINE double ramp_slope(const double* start, const double* low, const double* high,
                                   const double* rate, double base, double w) {
    double s = base;
    for (int m = 0; m < M; ++m) {
        double e = w - start[m];
        e = e < low[m] ? low[m] : e;
        e = e > high[m] ? high[m] : e;
        s += rate[m] * e;
    }
    return s;
}

template <int M>
RECTILINE_MULTIVERSION double derivative_pass(const Ramps& r, std::int64_t n, const double* t,
                                              const double* dt, const double* multiplier,
                                              const double* weight, double step, double inverse_S) {
    double start[M], low[M], high[M], rate[M];
    for (int m = 0; m < M; ++m)
        start[m] = r.start[m], low[m] = r.low[m], high[m] = r.high[m], rate[m] = r.rate[m];
    const double base = r.base;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) {
        const double w = t[i] + step * dt[i] + multiplier[i] * inverse_S;
        sum += weight[i] * dt[i] * ramp_slope<M>(start, low, high, rate, base, w);
    }
    return sum;
}

// How many entries of two vectors differ.
RECTILINE_MULTIVERSION inline std::int64_t count_changed(const double* one, const double* other,
                                                         std::int64_t n) {
    std::int64_t count = 0;
#pragma omp simd reduction(+ : count)
    for (std::int64_t i = 0; i < n; ++i)
        count += one[i] != other[i];
    return count;
}

// change = weight * direction * (s - from), and from = s; returns the sum of the changes.
RECTILINE_MULTIVERSION inline double change_pass(const double* weight, const double* direction,
                                                 const double* s, std::int64_t n, double* from,
                                                 double* change) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) {
        change[i] = weight[i] * direction[i] * (s[i] - from[i]);
        from[i] = s[i];
        sum += change[i];
    }
    return sum;
}

// What one settling pass returns besides the arrays it fills.
struct Settled {
    double squares;  // sum weight (s - multiplier)^2
    std::int64_t n_free;
};

// The arrays of a settling pass, at the first row of a chunk.
struct SettleArrays {
    double *t, *dt, *s, *newton_weight;
    const double *multiplier, *weight;
};

// Moves t by step * dt; s and its rate of change there; rows on a flat part get Newton weight 0.
template <int M>
RECTILINE_MULTIVERSION Settled settle_pass(const Ramps& r, std::int64_t n, const SettleArrays& a,
                                           double step, double inverse_S, double lowest,
                                           double highest) {
    double start[M], low[M], high[M], rate[M];
    for (int m = 0; m < M; ++m)
        start[m] = r.start[m], low[m] = r.low[m], high[m] = r.high[m], rate[m] = r.rate[m];
    const double base = r.base;
    double *t = a.t, *dt = a.dt, *s = a.s, *newton_weight = a.newton_weight;
    const double *multiplier = a.multiplier, *weight = a.weight;
    double squares = 0, n_free = 0;
#pragma omp simd reduction(+ : squares, n_free)
    for (std::int64_t i = 0; i < n; ++i) {
        t[i] += step * dt[i];
        dt[i] = 0;
        const double w = t[i] + multiplier[i] * inverse_S;
        double slope = base, jacobian = 0;
        for (int m = 0; m < M; ++m) {
            double e = w - start[m];
            jacobian += e > low[m] && e < high[m] ? rate[m] : 0.0;
            e = e < low[m] ? low[m] : e;
            e = e > high[m] ? high[m] : e;
            slope += rate[m] * e;
        }
        slope = slope < lowest ? lowest : slope;
        slope = slope > highest ? highest : slope;
        s[i] = slope;
        const double change = slope - multiplier[i];
        squares += weight[i] * change * change;
        newton_weight[i] = weight[i] * jacobian;
        n_free += newton_weight[i] > 0 ? 1.0 : 0.0;
    }
    return {squares, static_cast<std::int64_t>(n_free)};
}

// This pass for rows with curves of their own, or with many ramps.
inline Settled settle_rows(const std::vector<Ramps>& ramps, const RowFunctions& rows,
                           std::int64_t first, std::int64_t last, const SettleArrays& a,
                           double step, double inverse_S) {
    Settled out{0, 0};
    for (std::int64_t i = first; i < last; ++i) {
        const std::int64_t k = i - first;
        const Ramps& r = ramps[rows.curve_index ? rows.curve_index[i] : 0];
        const Curve& f = rows.curve(i);
        a.t[k] += step * a.dt[k];
        a.dt[k] = 0;
        const double w = a.t[k] + a.multiplier[k] * inverse_S;
        a.s[k] = std::clamp(r.slope(w), f.lowest_slope(), f.highest_slope());
        const double change = a.s[k] - a.multiplier[k];
        out.squares += a.weight[k] * change * change;
        a.newton_weight[k] = a.weight[k] * r.jacobian(w);
        out.n_free += a.newton_weight[k] > 0;
    }
    return out;
}

template <class Packed>
RECTILINE_MULTIVERSION RowValues value_pass(const Packed& curve, std::int64_t n, const double* t,
                                            const double* s, const double* weight) {
    const Packed f = curve;
    double loss = 0, gap = 0;
#pragma omp simd reduction(+ : loss, gap)
    for (std::int64_t i = 0; i < n; ++i) {
        loss += weight[i] * f.loss(t[i]);
        gap += weight[i] * f.fenchel_young(t[i], s[i]);
    }
    return {loss, gap};
}

// This pass where every slope is that of its argument.
template <class Packed>
RECTILINE_MULTIVERSION RowValues loss_pass(const Packed& curve, std::int64_t n, const double* t,
                                           const double* weight) {
    const Packed f = curve;
    double loss = 0;
#pragma omp simd reduction(+ : loss)
    for (std::int64_t i = 0; i < n; ++i)
        loss += weight[i] * f.loss(t[i]);
    return {loss, 0.0};
}

// Calls kernel<M>() for M = count of ramps, up to 4.
template <class Kernel>
bool with_ramp_count(std::size_t count, Kernel&& kernel) {
    return with_count<4>(static_cast<std::int64_t>(count), kernel);
}

}  // namespace rectiline::newton
