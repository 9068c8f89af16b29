#include "rectiline/path_ranges.hpp"

#include "rectiline/multiversion.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline {
namespace {

constexpr std::int64_t kBlock = 512;  // rows whose ends stay in the nearest cache

struct Moments {
    double sum, squares;
};

RECTILINE_MULTIVERSION Moments moments(const double* a, const double* b, std::int64_t n,
                                       double center) {
    double sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
    for (std::int64_t i = 0; i < n; ++i) {
        const double away = a[i] - b[i] - center;
        sum += away;
        squares += away * away;
    }
    return {sum, squares};
}

RECTILINE_MULTIVERSION void ends(const double* there, std::int64_t count, std::int64_t n,
                                 std::int64_t size, const double* here, double margin, double* low,
                                 double* high) {
    for (std::int64_t i = 0; i < size; ++i)
        low[i] = high[i] = there[i];
    for (std::int64_t k = 1; k < count; ++k) {
        const double* z = there + k * n;
#pragma omp simd
        for (std::int64_t i = 0; i < size; ++i) {
            low[i] = z[i] < low[i] ? z[i] : low[i];
            high[i] = z[i] > high[i] ? z[i] : high[i];
        }
    }
#pragma omp simd
    for (std::int64_t i = 0; i < size; ++i) {
        const double away = here[i] - there[i];
        low[i] += (away < 0 ? away : 0.0) - margin;
        high[i] += (away > 0 ? away : 0.0) + margin;
    }
}

}  // namespace

void path_ranges(const double* there, std::int64_t count, std::int64_t n, const double* here,
                 double margin, double* low, double* high) {
    const double size = static_cast<double>(std::max<std::int64_t>(n, 1));
    const double mean = moments(here, there, n, 0.0).sum / size;
    const double spread = std::sqrt(moments(here, there, n, mean).squares / size);
    for (std::int64_t i = 0; i < n; i += kBlock)
        ends(there + i, count, n, std::min(kBlock, n - i), here + i, margin * spread, low + i,
             high + i);
}

}  // namespace rectiline
