#include "rectiline/design/moments.hpp"

#include "rectiline/design/dense_rows.hpp"
#include "rectiline/design/row_chunks.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace rectiline::design {
namespace {

constexpr std::int64_t kSample = 64;     // rows that the scales are taken from
constexpr double kDenormal = 0x1p-1022;  // squares below this may have lost all their digits
constexpr double kLeastSpread = 1e-12;   // of the mean square of a column that is centred
constexpr int kLargestExponent = 500;    // of a scale: its square does not overflow

std::int64_t sample_step(std::int64_t n) {
    return std::max<std::int64_t>(1, n / kSample);
}

template <class T>
void sample_squares(const DenseView<T>& X, double* s) {
    for (std::int64_t i = 0; i < X.n; i += sample_step(X.n))
        for (std::int64_t j = 0; j < X.d; ++j) {
            const double v = static_cast<double>(X.row(i)[j * X.column_stride]);
            s[j] += v * v;
        }
}

template <class T, class I>
void sample_squares(const SparseView<T, I>& X, double* s) {
    const std::int64_t lines = X.by_rows ? X.n : X.d, step = X.by_rows ? sample_step(X.n) : 1;
    for (std::int64_t i = 0; i < lines; i += step)
        for (I k = X.pointers[i]; k < X.pointers[i + 1]; ++k) {
            const double v = static_cast<double>(X.values[k]);
            s[X.by_rows ? static_cast<std::int64_t>(X.indices[k]) : i] += v * v;
        }
}

// Turns squares into powers of two. Columns without an entry in the sample get the mean exponent
// of the others.
void set_scales(std::span<double> s) {
    const std::int64_t d = std::ssize(s);
    std::int64_t total = 0, seen = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        if (!(s[j] > 0) || !std::isfinite(s[j])) {
            s[j] = 0;
            continue;
        }
        const int exponent = std::clamp(std::ilogb(s[j]) / 2, -kLargestExponent, kLargestExponent);
        s[j] = std::ldexp(1.0, exponent);
        total += exponent, ++seen;
    }
    const double other = seen > 0 ? std::ldexp(1.0, static_cast<int>(total / seen)) : 1.0;
    for (std::int64_t j = 0; j < d; ++j)
        if (s[j] == 0) s[j] = other;
}

template <class T>
RECTILINE_MULTIVERSION void add_rows(const T* x, std::int64_t stride, std::int64_t n,
                                     std::int64_t d, const double* inverse, double* sum,
                                     double* square, double* r) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const T *x0 = x + i * stride, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
        double r0 = 0, r1 = 0, r2 = 0, r3 = 0;
#pragma omp simd reduction(+ : r0, r1, r2, r3)
        for (std::int64_t j = 0; j < d; ++j) {
            const double v0 = static_cast<double>(x0[j]), v1 = static_cast<double>(x1[j]);
            const double v2 = static_cast<double>(x2[j]), v3 = static_cast<double>(x3[j]);
            const double s0 = v0 * v0, s1 = v1 * v1, s2 = v2 * v2, s3 = v3 * v3;
            sum[j] += (v0 + v1) + (v2 + v3);
            square[j] += (s0 + s1) + (s2 + s3);
            r0 += s0 * inverse[j], r1 += s1 * inverse[j];
            r2 += s2 * inverse[j], r3 += s3 * inverse[j];
        }
        r[i] = r0, r[i + 1] = r1, r[i + 2] = r2, r[i + 3] = r3;
    }
    for (; i < n; ++i) {
        const T* row = x + i * stride;
        double total = 0;
#pragma omp simd reduction(+ : total)
        for (std::int64_t j = 0; j < d; ++j) {
            const double v = static_cast<double>(row[j]);
            sum[j] += v;
            square[j] += v * v;
            total += v * v * inverse[j];
        }
        r[i] = total;
    }
}

template <class T>
RECTILINE_MULTIVERSION void add_column(const T* x, std::int64_t stride, std::int64_t n,
                                       double inverse, double* sum, double* square, double* r) {
    double total = 0, squares = 0;
    const auto add = [&](std::int64_t step) RECTILINE_INLINE_LAMBDA {
#pragma omp simd reduction(+ : total, squares)
        for (std::int64_t i = 0; i < n; ++i) {
            const double v = static_cast<double>(x[i * step]);
            total += v;
            squares += v * v;
            r[i] += v * v * inverse;
        }
    };
    if (stride == 1)
        add(1);
    else
        add(stride);
    *sum += total, *square += squares;
}

// Adds the rows first to last; `sums` holds the sums of the columns and then their squares.
template <class T>
void add_moments(const DenseView<T>& X, const double* inverse, std::int64_t first,
                 std::int64_t last, double* sums, double* row_square) {
    double* squares = sums + X.d;
    if (X.rows_contiguous())
        return add_rows(X.row(first), X.row_stride, last - first, X.d, inverse, sums, squares,
                        row_square + first);
    std::fill(row_square + first, row_square + last, 0.0);
    over_columns(X, first, last, [&](std::int64_t i, std::int64_t m, std::int64_t j, const T* x) {
        add_column(x, X.row_stride, m, inverse[j], sums + j, squares + j, row_square + i);
    });
}

template <class T, class I>
void add_moments(const SparseView<T, I>& X, const double* inverse, std::int64_t first,
                 std::int64_t last, double* sums, double* row_square) {
    for (std::int64_t i = first; i < last; ++i) {
        double total = 0;
        for (I k = X.pointers[i]; k < X.pointers[i + 1]; ++k) {
            const double v = static_cast<double>(X.values[k]);
            double* column = sums + 2 * static_cast<std::int64_t>(X.indices[k]);  // side by side
            column[0] += v;
            column[1] += v * v;
            total += v * v * inverse[X.indices[k]];
        }
        row_square[i] = total;
    }
}

template <class T>
void set_moments(const DenseView<T>& X, const double* inverse, const Moments& out) {
    std::vector<double> sums(static_cast<std::size_t>(2 * X.d));
    sum_over_rows(X.n, 2 * X.d, entries(X), sums.data(),
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      add_moments(X, inverse, first, last, target, out.row_norm.data());
                  });
    std::copy_n(sums.begin(), X.d, out.sum.begin());
    std::copy_n(sums.begin() + X.d, X.d, out.square.begin());
}

template <class T, class I>
void set_moments(const SparseView<T, I>& X, const double* inverse, const Moments& out) {
    if (X.by_rows) {
        std::vector<double> sums(static_cast<std::size_t>(2 * X.d));
        sum_over_rows(X.n, 2 * X.d, scatter_work(X, 2 * X.d), sums.data(),
                      [&](std::int64_t first, std::int64_t last, double* target) {
                          add_moments(X, inverse, first, last, target, out.row_norm.data());
                      });
        for (std::int64_t j = 0; j < X.d; ++j)
            out.sum[j] = sums[2 * j], out.square[j] = sums[2 * j + 1];
        return;
    }
    sum_over_rows(X.d, X.n, scatter_work(X, X.n), out.row_norm.data(),
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t j = first; j < last; ++j) {
                          double sum = 0, square = 0;
                          for (I k = X.pointers[j]; k < X.pointers[j + 1]; ++k) {
                              const double v = static_cast<double>(X.values[k]);
                              sum += v;
                              square += v * v;
                              target[X.indices[k]] += v * v * inverse[j];
                          }
                          out.sum[j] = sum, out.square[j] = square;
                      }
                  });
}

// Upper bounds on norms: rounding is allowed for; norms whose squares overflow are infinite.
RECTILINE_MULTIVERSION void set_norms(const double* square, std::int64_t count, double margin,
                                      double lost, double* norm) {
#pragma omp simd
    for (std::int64_t k = 0; k < count; ++k)
        norm[k] = std::sqrt(square[k] * margin + lost) * margin;
}

}  // namespace

void moments(const DesignView& X, const Moments& out) {
    const std::int64_t n = n_rows(X), d = n_columns(X);
    assert(std::ssize(out.row_norm) == n && std::ssize(out.column_norm) == d);
    assert(std::ssize(out.sum) == d && std::ssize(out.square) == d && std::ssize(out.scale) == d);
    std::fill(out.scale.begin(), out.scale.end(), 0.0);
    std::visit([&](const auto& view) { sample_squares(view, out.scale.data()); }, X);
    set_scales(out.scale);
    std::vector<double> inverse(static_cast<std::size_t>(d));
    double inverses = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        inverse[j] = 1.0 / (out.scale[j] * out.scale[j]);
        inverses += inverse[j];
    }
    std::visit([&](const auto& view) { set_moments(view, inverse.data(), out); }, X);
    const double margin = 1.0 + 0x1p-51 * static_cast<double>(n + d + 8);
    const double lost = static_cast<double>(n) * kDenormal;
    set_norms(out.square.data(), d, margin, lost, out.column_norm.data());
    over_stretches(n, [&](std::int64_t first, std::int64_t last) {
        double* norm = out.row_norm.data() + first;
        set_norms(norm, last - first, margin, inverses * kDenormal, norm);
    });
}

bool column_units(std::span<const double> mean, std::span<const double> square, bool centred,
                  std::span<double> shift, std::span<double> unit) {
    assert(square.size() == mean.size() && shift.size() == mean.size());
    assert(unit.size() == mean.size());
    bool any = false;
    for (std::size_t j = 0; j < mean.size(); ++j) {
        const double spread = square[j] - mean[j] * mean[j];
        const bool moves = centred && spread > kLeastSpread * square[j];
        const double root = std::sqrt(moves ? spread : square[j]);
        shift[j] = moves ? mean[j] : 0.0;
        unit[j] = root == 0 ? 1.0 : 1.0 / root;
        any = any || shift[j] != 0;
    }
    return any;
}

}  // namespace rectiline::design
