#include "rectiline/path/path_ranges.hpp"

#include "rectiline/support/multiversion.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline::path {
namespace {

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

RECTILINE_MULTIVERSION void ends(const KnownPath& known, std::int64_t n, const double* here,
                                 double margin, double* low, double* high) {
    const double *there = known.there, *least = known.least, *most = known.most;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        const double away = here[i] - there[i];
        low[i] = least[i] + (away < 0 ? away : 0.0) - margin;
        high[i] = most[i] + (away > 0 ? away : 0.0) + margin;
    }
}

}  // namespace

void path_ranges(const KnownPath& known, std::int64_t n, const double* here, double margin,
                 double* low, double* high) {
    const double size = static_cast<double>(std::max<std::int64_t>(n, 1));
    const double mean = moments(here, known.there, n, 0.0).sum / size;
    const double spread = std::sqrt(moments(here, known.there, n, mean).squares / size);
    ends(known, n, here, margin * spread, low, high);
}

}  // namespace rectiline::path
