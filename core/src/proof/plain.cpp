// Bounds on the errors of products in plain doubles. A sum of k products is off by at most gamma(k)
// times the sum of their absolute values, for any order of summation (Higham, "Accuracy and
// Stability of Numerical Algorithms", section 3.1); norms bound that sum.
#include "rectiline/proof/row_bounds.hpp"
#include "rectiline/support/multiversion.hpp"
#include "rectiline/support/threads.hpp"

#include <cassert>
#include <cmath>

namespace rectiline::proof {
namespace {

constexpr double kMinimum = 0x1p-1022;  // squares below this may lose all their digits

// The largest relative error of a sum of `count` products, with a small margin.
double gamma(std::size_t count) {
    return 1.01 * (static_cast<double>(count) + 4) * kUnit;
}

RECTILINE_MULTIVERSION double sum_of_squares(const double* x, std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i)
        sum += x[i] * x[i];
    return sum;
}

RECTILINE_MULTIVERSION double sum_of_squares(const double* x, const double* scale, std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i)
        sum += (scale[i] * x[i]) * (scale[i] * x[i]);
    return sum;
}

// An upper bound on the Euclidean norm of x, or of scale * x; infinite where squares overflow.
double norm_bound(std::span<const double> x, std::span<const double> scale = {}) {
    const std::int64_t n = std::ssize(x);
    const double squares =
        scale.empty() ? sum_of_squares(x.data(), n) : sum_of_squares(x.data(), scale.data(), n);
    const double sum = squares + static_cast<double>(n) * kMinimum;
    return sum < kInfinity ? std::sqrt(sum) * (1 + gamma(x.size() + 2)) : kInfinity;
}

RECTILINE_MULTIVERSION void set_arguments(const RowFunctions& rows, const double* z,
                                          double intercept, const double* row_norm, double factor,
                                          std::int64_t first, std::int64_t last, double* argument,
                                          double* radius) {
    const double *direction = rows.direction, *offset = rows.offset;
    const double shift = size_of(intercept);
    for (std::int64_t i = first; i < last; ++i) {
        argument[i] = direction[i] * (z[i] + intercept) + offset[i];
        radius[i] = factor * row_norm[i] + 4 * kUnit * (size_of(z[i]) + shift + size_of(offset[i]));
    }
}

}  // namespace

void plain_arguments(const RowFunctions& rows, std::span<const double> z, double intercept,
                     std::span<const double> b, NormBounds norms, std::span<double> argument,
                     std::span<double> radius) {
    assert(std::ssize(z) == rows.n && norms.row.size() == z.size() &&
           norms.scale.size() == b.size());
    assert(argument.size() == z.size() && radius.size() == z.size());
    const double factor = gamma(b.size()) * norm_bound(b, norms.scale);
    support::over_stretches(rows.n, [&](std::int64_t first, std::int64_t last) {
        set_arguments(rows, z.data(), intercept, norms.row.data(), factor, first, last,
                      argument.data(), radius.data());
    });
}

void plain_slopes(std::span<const double> g, std::span<const double> image,
                  std::span<const double> column_norm, std::span<double> q,
                  std::span<double> error) {
    assert(column_norm.size() == image.size() && q.size() == image.size());
    assert(error.size() == image.size());
    const double factor = gamma(g.size()) * norm_bound(g);
    for (std::size_t j = 0; j < image.size(); ++j) {
        q[j] = -image[j];
        error[j] = factor * column_norm[j] + 2 * kUnit * size_of(q[j]);
        if (!(error[j] >= 0)) error[j] = kInfinity;  // undefined
    }
}

}  // namespace rectiline::proof
