#include "rectiline/simplex/simplex_lines.hpp"

#include "rectiline/support/multiversion.hpp"
#include "rectiline/support/small_count.hpp"

namespace rectiline::simplex {

namespace {

// The sum of scaled entries k of several lines, as a tree.
template <int Count>
RECTILINE_INLINE double scaled_sum(const double* const* lines, const double* scale,
                                   std::int64_t k) {
    if constexpr (Count == 1) {
        return scale[0] * lines[0][k];
    } else {
        constexpr int kHalf = (Count + 1) / 2;
        return scaled_sum<kHalf>(lines, scale, k) +
               scaled_sum<Count - kHalf>(lines + kHalf, scale + kHalf, k);
    }
}

template <int Count>
RECTILINE_MULTIVERSION void add_some(const double* const* lines, const double* scale,
                                     std::int64_t size, double* out) {
    const double* line[Count];
    double factor[Count];
    for (int i = 0; i < Count; ++i)
        line[i] = lines[i], factor[i] = scale[i];
#pragma omp simd
    for (std::int64_t k = 0; k < size; ++k)
        out[k] += scaled_sum<Count>(line, factor, k);
}

}  // namespace

void add_lines(const double* const* lines, const double* scale, std::int64_t count,
               std::int64_t size, double* out) {
    with_count<kMostLines>(count, [&]<int Count>() { add_some<Count>(lines, scale, size, out); });
}

RECTILINE_MULTIVERSION double edge_steps(const EdgeArrays& edge, std::int64_t size, double slowest,
                                         double within, double* step) {
    const double *t = edge.t, *dt = edge.dt, *turn = edge.turn, *open = edge.open;
    double rise = 0;
#pragma omp simd reduction(+ : rise)
    for (std::int64_t u = 0; u < size; ++u) {
        const double toward = turn[u] * dt[u], away = -turn[u] * t[u];
        const double moves = toward > slowest ? toward : 0.0;
        const double counts = open[u] > 0.0 ? moves : 0.0;
        const double ahead = away > 0.0 ? away : 0.0;
        const double reached = ahead / counts;  // not a number for those on a kink that stay there
        step[u] = counts > 0.0 ? reached : kInfinity;
        rise += step[u] <= within ? open[u] * counts : 0.0;
    }
    return rise;
}

}  // namespace rectiline::simplex
