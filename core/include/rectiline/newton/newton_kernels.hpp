// The passes over rows of the semismooth Newton method that touch vectors of their length only, not
// X: derivative along a direction, evaluation at a step, and the sums of an estimate. They have no
// branches where all rows share one curve with few knots.
#pragma once

#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/rows/ramps.hpp"

#include <cstdint>

namespace rectiline::newton {

// The passes take rows first to last of arrays over all rows.
template <class RampsOf>
RECTILINE_MULTIVERSION double derivative_pass(const RampsOf& ramps, std::int64_t first,
                                              std::int64_t last, const double* t, const double* dt,
                                              const double* multiplier, const double* weight,
                                              double step, double inverse_S) {
    const RampsOf of = ramps;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = first; i < last; ++i) {
        const double w = t[i] + step * dt[i] + multiplier[i] * inverse_S;
        sum += weight[i] * dt[i] * of[i].slope(w);
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

// What an evaluation returns besides the arrays it fills.
struct Evaluated {
    double squares;  // sum weight (s - multiplier)^2
    std::int64_t n_free;
};

struct EvaluationArrays {
    double *t, *dt, *s, *newton_weight;
    const double *multiplier, *weight;
};

// Moves t by step * dt; s and its rate of change there; rows on a flat part get Newton weight 0.
template <class RampsOf>
RECTILINE_MULTIVERSION Evaluated evaluate_pass(const RampsOf& ramps, std::int64_t first,
                                               std::int64_t last, const EvaluationArrays& a,
                                               double step, double inverse_S) {
    const RampsOf of = ramps;
    double *t = a.t, *dt = a.dt, *s = a.s, *newton_weight = a.newton_weight;
    const double *multiplier = a.multiplier, *weight = a.weight;
    double squares = 0, n_free = 0;
#pragma omp simd reduction(+ : squares, n_free)
    for (std::int64_t i = first; i < last; ++i) {
        t[i] += step * dt[i];
        dt[i] = 0;
        const double w = t[i] + multiplier[i] * inverse_S;
        double slope = of[i].slope(w);
        slope = slope < of[i].lowest ? of[i].lowest : slope;
        slope = slope > of[i].highest ? of[i].highest : slope;
        s[i] = slope;
        const double change = slope - multiplier[i];
        squares += weight[i] * change * change;
        newton_weight[i] = weight[i] * of[i].jacobian(w);
        n_free += newton_weight[i] > 0 ? 1.0 : 0.0;
    }
    return {squares, static_cast<std::int64_t>(n_free)};
}

// Sums of losses and Fenchel-Young terms; without the latter where every slope is that of its
// argument.
template <bool with_gap, class Curves>
RECTILINE_MULTIVERSION RowSums value_pass(const Curves& curves, std::int64_t first,
                                          std::int64_t last, const double* t, const double* s,
                                          const double* weight) {
    const Curves f = curves;
    double loss = 0, gap = 0;
#pragma omp simd reduction(+ : loss, gap)
    for (std::int64_t i = first; i < last; ++i) {
        loss += weight[i] * f[i].loss(t[i]);
        if constexpr (with_gap) gap += weight[i] * f[i].fenchel_young(t[i], s[i]);
    }
    return {loss, gap};
}

}  // namespace rectiline::newton
