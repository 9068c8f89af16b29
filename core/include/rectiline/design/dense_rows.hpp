// Loops over the rows of a dense matrix, or over one of its columns, that products are made of.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/design/row_sums.hpp"

namespace rectiline::design {

// Four rows at a time are four streams to the hardware: without asking ahead, a table that no cache
// holds is read at less than half the speed of memory. For a smaller one asking costs more than it
// gains.
template <class T>
RECTILINE_INLINE Ahead ahead_of(const T* x, std::int64_t stride) {
    constexpr std::int64_t kAhead = 4096;
    return {reinterpret_cast<const char*>(x) + kAhead,
            kRowGroup * stride * static_cast<std::int64_t>(sizeof(T))};
}

template <class T>
bool is_beyond_caches(const DenseView<T>& X) {
    constexpr std::int64_t kCache = std::int64_t{16} << 20;
    return X.n * X.d * static_cast<std::int64_t>(sizeof(T)) > kCache;
}

// Calls use(i, count, j, x) with the entries x of `count` rows from i on in column j: blocks of
// rows, so that vectors over rows stay in cache for all columns.
template <class T, class Use>
void over_columns(const DenseView<T>& X, std::int64_t first, std::int64_t last, const Use& use) {
    constexpr std::int64_t kRowsInCache = 4096;
    for (std::int64_t i = first; i < last; i += kRowsInCache)
        for (std::int64_t j = 0; j < X.d; ++j)
            use(i, std::min(kRowsInCache, last - i), j, X.row(i) + j * X.column_stride);
}

template <Entry kind, class T>
RECTILINE_INLINE double entries_dot(const T* x, std::int64_t stride, const double* g,
                                    std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i)
        sum += entry<kind>(x[i * stride]) * g[i];
    return sum;
}

// Rows are taken four at a time: four independent sums hide the latency of the additions.
template <Entry kind, class T>
RECTILINE_MULTIVERSION void rows_times_short_vector(const T* x, std::int64_t stride, std::int64_t n,
                                                    std::int64_t d, const double* b, double* z,
                                                    Ahead ahead) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const T *x0 = x + i * stride, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
        prefetch_bytes(ahead.at, ahead.bytes), ahead.at += ahead.bytes;
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (std::int64_t j = 0; j < d; ++j) {
            const double v = b[j];
            s0 += entry<kind>(x0[j]) * v;
            s1 += entry<kind>(x1[j]) * v;
            s2 += entry<kind>(x2[j]) * v;
            s3 += entry<kind>(x3[j]) * v;
        }
        z[i] = s0, z[i + 1] = s1, z[i + 2] = s2, z[i + 3] = s3;
    }
    for (; i < n; ++i)
        z[i] = entries_dot<kind>(x + i * stride, 1, b, d);
}

// z = X b, of entries of a kind, over a range of rows.
template <Entry kind, class T>
void rows_times_vector(const T* x, std::int64_t stride, std::int64_t n, std::int64_t d,
                       const double* b, double* z, bool ahead) {
    const std::int64_t done = kind == Entry::plain && d >= kLanes ? n / kRowGroup * kRowGroup : 0;
    const Ahead next = ahead ? ahead_of(x, stride) : Ahead{};
    if (done > 0) row_sums<Sum::product>(x, stride, done, d, {b, nullptr, 0, z}, {}, next);
    rows_times_short_vector<kind>(x + done * stride, stride, n - done, d, b, z + done, next);
}

// q += X'g, of entries of a kind, over a range of rows.
template <Entry kind, class T>
RECTILINE_MULTIVERSION void add_rows(const T* x, std::int64_t stride, std::int64_t n,
                                     std::int64_t d, const double* g, double* q, bool ahead) {
    constexpr std::int64_t kShort = 64;  // rows shorter than that are not worth picking
    constexpr std::int64_t kLong = 128;  // from here on the hardware sees in time what comes
    std::int64_t i = 0;
    while (i < n) {
        std::int64_t at[4] = {i, i + 1, i + 2, i + 3}, count = 4;
        if (i + 4 <= n &&
            (d < kShort || (g[i] != 0 && g[i + 1] != 0 && g[i + 2] != 0 && g[i + 3] != 0))) {
            i += 4;
            if (g[i - 4] == 0 && g[i - 3] == 0 && g[i - 2] == 0 && g[i - 1] == 0) continue;
        } else {  // the next four rows that weigh anything
            for (count = 0; i < n && count < 4; ++i) {
                at[count] = i;
                count += g[i] != 0;
            }
        }
        if (count < 4) {
            for (std::int64_t k = 0; k < count; ++k)
#pragma omp simd
                for (std::int64_t j = 0; j < d; ++j)
                    q[j] += g[at[k]] * entry<kind>(x[at[k] * stride + j]);
            return;
        }
        const double g0 = g[at[0]], g1 = g[at[1]], g2 = g[at[2]], g3 = g[at[3]];
        const T *x0 = x + at[0] * stride, *x1 = x + at[1] * stride;
        const T *x2 = x + at[2] * stride, *x3 = x + at[3] * stride;
        if (ahead || d < kLong) prefetch_bytes(ahead_of(x0, stride).at, ahead_of(x0, stride).bytes);
#pragma omp simd
        for (std::int64_t j = 0; j < d; ++j)
            q[j] += (g0 * entry<kind>(x0[j]) + g1 * entry<kind>(x1[j])) +
                    (g2 * entry<kind>(x2[j]) + g3 * entry<kind>(x3[j]));
    }
}

template <Entry kind, class T>
RECTILINE_MULTIVERSION double column_dot(const T* x, std::int64_t stride, const double* g,
                                         std::int64_t n) {
    return stride == 1 ? entries_dot<kind>(x, 1, g, n) : entries_dot<kind>(x, stride, g, n);
}

template <Entry kind, class T>
RECTILINE_MULTIVERSION void add_column(double a, const T* x, std::int64_t stride, double* z,
                                       std::int64_t n) {
    const auto add = [&](std::int64_t step) RECTILINE_INLINE_LAMBDA {
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i)
            z[i] += a * entry<kind>(x[i * step]);
    };
    if (stride == 1)
        add(1);
    else
        add(stride);
}

}  // namespace rectiline::design
