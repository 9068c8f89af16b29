// Bounds on the errors of products in plain doubles: a sum of k products is off by at most gamma(k)
// times the sum of their absolute values, for any order of summation (Higham, "Accuracy and
// Stability of Numerical Algorithms", section 3.1), and norms bound that sum.
#include "rectiline/proof/measure.hpp"

#include "rectiline/proof/products.hpp"
#include "rectiline/support/threads.hpp"
#include "rectiline/support/vectors.hpp"

#include <cassert>

namespace rectiline::proof {
namespace {

constexpr double kMinimum = 0x1p-1022;  // squares below this may lose all their digits

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
    const double squares = scale.empty() ? support::product(x.data(), x.data(), n)
                                         : sum_of_squares(x.data(), scale.data(), n);
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

// Arguments of predictions in twofold arithmetic, rounded once at the end.
void set_twofold_arguments(const RowFunctions& rows, const TwofoldVector& z, double intercept,
                           PairProducts out) {
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double turn = rows.direction[i];
        const Pair first = two_sum(rows.offset[i], turn * z.hi[i]);
        const Pair second = two_sum(first.value, turn * intercept);
        const double rests = (first.rest + second.rest) + turn * z.lo[i];
        const double sizes = size_of(first.rest) + size_of(second.rest) + size_of(z.lo[i]);
        const Pair total = two_sum(second.value, rests);
        out.argument[i] = total.value;
        out.radius[i] = size_of(total.rest) + z.error[i] + 4 * kUnit * sizes;
    }
}

double entry(std::span<const double> values, std::size_t j) {
    return values.empty() ? 0.0 : values[j];
}

void set_undefined_errors(std::span<double> error) {
    for (double& one : error)
        if (!(one >= 0)) one = kInfinity;
}

}  // namespace

double gamma(std::size_t count) {
    return 1.01 * (static_cast<double>(count) + 4) * kUnit;
}

void measure_plain(const RowFunctions& rows, const Candidate& pair, std::span<const double> z,
                   std::span<const double> image, const DesignNorms& norms, const Shift& shift,
                   PairProducts out) {
    const auto [b, intercept, g] = pair;
    assert(std::ssize(z) == rows.n && norms.row.size() == z.size() && image.size() == b.size());
    assert(norms.scale.size() == b.size() && norms.column.size() == b.size());
    const double reach = gamma(b.size()) * norm_bound(b, norms.scale);
    support::over_stretches(rows.n, [&](std::int64_t first, std::int64_t last) {
        set_arguments(rows, z.data(), intercept, norms.row.data(), reach, first, last,
                      out.argument.data(), out.radius.data());
    });
    const double slope = gamma(g.size()) * norm_bound(g);
    for (std::size_t j = 0; j < b.size(); ++j) {
        out.q[j] = entry(shift.value, j) - image[j];
        out.error[j] = slope * norms.column[j] + 2 * kUnit * size_of(out.q[j]);
        out.error[j] += size_of(entry(shift.rest, j)) + entry(shift.error, j);
    }
    set_undefined_errors(out.error);
}

void measure_twofold(const DesignView& X, const RowFunctions& rows, const Candidate& pair,
                     const Shift& shift, PairProducts out) {
    const auto [b, intercept, g] = pair;
    const std::size_t n = g.size(), d = b.size();
    std::vector<double> space(4 * std::max(n, d));
    const auto vector = [&](std::size_t size) {
        double* at = space.data();
        return TwofoldVector{static_cast<std::int64_t>(size), at, at + size, at + 2 * size,
                             at + 3 * size};
    };
    multiply(X, b, vector(n));
    set_twofold_arguments(rows, vector(n), intercept, out);
    const TwofoldVector image = vector(d);
    multiply_transposed(X, g, image);
    for (std::size_t j = 0; j < d; ++j) {
        const auto [hi, lo, error, size] = image[static_cast<std::int64_t>(j)];
        const double rest = entry(shift.rest, j);
        const Pair sum = two_sum(entry(shift.value, j), -hi);
        const Pair total = two_sum(sum.value, (sum.rest - lo) + rest);
        out.q[j] = total.value;
        out.error[j] = size_of(total.rest) + error + entry(shift.error, j) +
                       9 * kUnit * (size_of(sum.rest) + size_of(lo) + size_of(rest));
    }
    set_undefined_errors(out.error);
}

BoundedSum bounded_sum(std::span<const double> g) {
    const Twofold total = sum(g);
    return {total.hi, total.error + size_of(total.lo)};
}

}  // namespace rectiline::proof
