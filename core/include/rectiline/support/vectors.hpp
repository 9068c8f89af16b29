// The two loops that almost everything is made of: products and sums of contiguous vectors.
// Whatever the entries are stored in, they are accumulated in double.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/support/multiversion.hpp"

#include <cstdint>

namespace rectiline::support {

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

}  // namespace rectiline::support
