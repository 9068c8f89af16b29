// The two loops that almost everything is made of: products and sums of contiguous vectors.
// Whatever the entries are stored in, they are accumulated in double.
#pragma once

#include "rectiline/rooms.hpp"

namespace rectiline::support {

// Without branches, for loops over many numbers.
RECTILINE_INLINE double size_of(double x) {
    return x < 0 ? -x : x;
}
RECTILINE_INLINE double larger(double a, double b) {
    return a > b ? a : b;
}

template <class T>
RECTILINE_INLINE double dot(const T* x, const double* b, std::int64_t d) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < d; ++j)
        sum += static_cast<double>(x[j]) * b[j];
    return sum;
}

template <class T>
RECTILINE_INLINE void axpy(double a, const T* x, double* v, std::int64_t d) {
#pragma omp simd
    for (std::int64_t j = 0; j < d; ++j)
        v[j] += a * static_cast<double>(x[j]);
}

// The same for callers that are not compiled for several instruction sets themselves.
RECTILINE_MULTIVERSION inline double product(const double* x, const double* b, std::int64_t d) {
    return dot(x, b, d);
}

template <class T>
RECTILINE_MULTIVERSION void add_multiple(double a, const T* x, double* v, std::int64_t d) {
    axpy(a, x, v, d);
}

// Whether all numbers of an array are finite. Zero times a number is zero if it is finite and
// undefined if not. Several sums side by side, so that the loop is made of vectors.
inline bool all_finite(std::span<const double> values) {
    constexpr std::size_t kLanes = 16;
    double sum[kLanes] = {};
    std::size_t i = 0;
    for (; i + kLanes <= values.size(); i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            sum[lane] += 0.0 * values[i + lane];
    for (; i < values.size(); ++i)
        sum[0] += 0.0 * values[i];
    return std::all_of(sum, sum + kLanes, [](double one) { return one == 0.0; });
}

// From a small number known at run time to one known at compile time: calls kernel<N>() for
// N = count where 1 <= count <= Most; otherwise returns false.
template <int Most, class Kernel>
bool with_count(std::int64_t count, Kernel&& kernel) {
    if constexpr (Most == 0) {
        return false;
    } else {
        if (count != Most) return with_count<Most - 1>(count, kernel);
        kernel.template operator()<Most>();
        return true;
    }
}

}  // namespace rectiline::support
