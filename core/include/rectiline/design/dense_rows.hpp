// Loops over the rows of a dense matrix, or over one of its columns, that products are made of.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/lanes.hpp"
#include "rectiline/support/small_count.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace rectiline::design {

// Four rows at a time are four streams to the hardware: without asking ahead, a table that no cache
// holds is read at less than half the speed of memory. For a smaller one asking costs more than it
// gains.
template <class T>
RECTILINE_INLINE void prefetch_ahead(const T* x, std::int64_t stride) {
    constexpr std::int64_t kAhead = 4096;
    prefetch_bytes(reinterpret_cast<const char*>(x) + kAhead,
                   4 * stride * static_cast<std::int64_t>(sizeof(T)));
}

template <class T>
bool is_beyond_caches(const DenseView<T>& X) {
    constexpr std::int64_t kCache = std::int64_t{16} << 20;
    return X.n * X.d * static_cast<std::int64_t>(sizeof(T)) > kCache;
}

#ifdef RECTILINE_LANES
constexpr int kShortLanes = 7;

// z = X b for at least eight columns, four rows at a time. Columns beyond the last full lanes are
// taken with those before them, at a weight of zero.
struct FourRowsTimesVector {
    template <class Lanes, class T>
    static RECTILINE_INLINE void run(const T* x, std::int64_t stride, std::int64_t n,
                                     std::int64_t d, const double* b, double* z, bool ahead) {
        const std::int64_t full = d / kLanes * kLanes, rest = d - full;
        double end[kLanes] = {};
        for (std::int64_t k = 0; k < rest; ++k)
            end[kLanes - rest + k] = b[full + k];
        Lanes last, v, u;
        last.load(end);
        for (std::int64_t i = 0; i + 4 <= n; i += 4) {
            const T* row = x + i * stride;
            if (ahead) prefetch_ahead(row, stride);
            Lanes sum[4];
            for (int r = 0; r < 4; ++r)
                sum[r].clear();
            for (std::int64_t j = 0; j < full; j += kLanes) {
                v.load(b + j);
                for (int r = 0; r < 4; ++r) {
                    u.load(row + r * stride + j);
                    sum[r].add_product(u, v);
                }
            }
            if (rest > 0)  // not a condition of the loop, which would keep the sums in memory
                for (int r = 0; r < 4; ++r) {
                    u.load(row + r * stride + d - kLanes);
                    sum[r].add_product(u, last);
                }
            store_sums(sum, z + i);
        }
    }
};

// q += X'g, or |X|'g, for so few columns that their sums stay in registers: `Full` lanes of them
// and some more, which are taken with those before them.
template <int Full, bool Absolute>
struct AddShortRows {
    template <class Lanes, class T>
    static RECTILINE_INLINE void run(const T* x, std::int64_t stride, std::int64_t n,
                                     std::int64_t d, const double* g, double* q) {
        const std::int64_t rest = d - Full * kLanes;
        Lanes sum[Full], more, u;
        more.clear();
        for (int k = 0; k < Full; ++k)
            sum[k].clear();
        const auto add = [&](std::int64_t i) RECTILINE_INLINE_LAMBDA {
            const T* row = x + i * stride;
            for (int k = 0; k < Full; ++k) {
                u.load(row + k * kLanes);
                sum[k].add_product(g[i], Absolute ? u.absolute() : u);
            }
            if (rest > 0) {
                u.load(row + d - kLanes);
                more.add_product(g[i], Absolute ? u.absolute() : u);
            }
        };
        constexpr std::int64_t kPicked = 64;
        int picked[kPicked];
        for (std::int64_t first = 0; first < n; first += kPicked) {
            const std::int64_t last = std::min(n, first + kPicked);
            double nonzero = 0;
#pragma omp simd reduction(+ : nonzero)
            for (std::int64_t i = first; i < last; ++i)
                nonzero += g[i] != 0 ? 1.0 : 0.0;
            if (2 * nonzero > static_cast<double>(last - first)) {
                for (std::int64_t i = first; i < last; ++i)
                    add(i);
            } else if (nonzero > 0) {  // picked without branches: which ones is hard to guess
                int count = 0;
                for (std::int64_t i = first; i < last; ++i) {
                    picked[count] = static_cast<int>(i - first);
                    count += g[i] != 0 ? 1 : 0;
                }
                for (int c = 0; c < count; ++c)
                    add(first + picked[c]);
            }
        }
        for (int k = 0; k < Full; ++k)
            for (int lane = 0; lane < kLanes; ++lane)
                q[k * kLanes + lane] += sum[k][lane];
        for (std::int64_t lane = 0; lane < rest; ++lane)
            q[Full * kLanes + lane] += more[static_cast<int>(kLanes - rest + lane)];
    }
};
#endif

// Rows are taken four at a time: four independent sums hide the latency of the additions.
template <class T>
RECTILINE_MULTIVERSION void rows_times_short_vector(const T* x, std::int64_t stride, std::int64_t n,
                                                    std::int64_t d, const double* b, double* z,
                                                    bool ahead) {
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const T *x0 = x + i * stride, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
        if (ahead) prefetch_ahead(x0, stride);
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
        for (std::int64_t j = 0; j < d; ++j) {
            const double v = b[j];
            s0 += static_cast<double>(x0[j]) * v;
            s1 += static_cast<double>(x1[j]) * v;
            s2 += static_cast<double>(x2[j]) * v;
            s3 += static_cast<double>(x3[j]) * v;
        }
        z[i] = s0, z[i + 1] = s1, z[i + 2] = s2, z[i + 3] = s3;
    }
    for (; i < n; ++i)
        z[i] = dot(x + i * stride, b, d);
}

template <class T>
void rows_times_vector(const T* x, std::int64_t stride, std::int64_t n, std::int64_t d,
                       const double* b, double* z, bool ahead) {
    std::int64_t done = 0;
#ifdef RECTILINE_LANES
    if (d >= kLanes) {
        with_lanes<FourRowsTimesVector>(x, stride, n, d, b, z, ahead);
        done = n / 4 * 4;
    }
#endif
    rows_times_short_vector(x + done * stride, stride, n - done, d, b, z + done, ahead);
}

template <bool Absolute, class T>
RECTILINE_INLINE double entry(T x) {
    const double v = static_cast<double>(x);
    return Absolute ? std::fabs(v) : v;
}

template <bool Absolute, class T>
RECTILINE_MULTIVERSION void add_rows_weighted(const T* x, std::int64_t stride, std::int64_t n,
                                              std::int64_t d, const double* g, double* q,
                                              bool ahead) {
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
                    q[j] += g[at[k]] * entry<Absolute>(x[at[k] * stride + j]);
            return;
        }
        const double g0 = g[at[0]], g1 = g[at[1]], g2 = g[at[2]], g3 = g[at[3]];
        const T *x0 = x + at[0] * stride, *x1 = x + at[1] * stride;
        const T *x2 = x + at[2] * stride, *x3 = x + at[3] * stride;
        if (ahead || d < kLong) prefetch_ahead(x0, stride);
#pragma omp simd
        for (std::int64_t j = 0; j < d; ++j)
            q[j] += (g0 * entry<Absolute>(x0[j]) + g1 * entry<Absolute>(x1[j])) +
                    (g2 * entry<Absolute>(x2[j]) + g3 * entry<Absolute>(x3[j]));
    }
}

// q += X'g, or |X|'g, over a range of rows.
template <bool Absolute = false, class T>
void add_rows(const T* x, std::int64_t stride, std::int64_t n, std::int64_t d, const double* g,
              double* q, bool ahead) {
#ifdef RECTILINE_LANES
    if (!ahead && with_count<kShortLanes>(d / kLanes, [&]<int Full>() {
            with_lanes<AddShortRows<Full, Absolute>>(x, stride, n, d, g, q);
        }))
        return;
#endif
    add_rows_weighted<Absolute>(x, stride, n, d, g, q, ahead);
}

template <class T>
RECTILINE_MULTIVERSION void add_row_squares(const T* x, std::int64_t stride, std::int64_t n,
                                            std::int64_t d, const double* scale, double* r) {
    for (std::int64_t i = 0; i < n; ++i) {
        const T* row = x + i * stride;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t j = 0; j < d; ++j) {
            const double v = static_cast<double>(row[j]);
            sum += v * v * scale[j];
        }
        r[i] = sum;
    }
}

template <class T>
RECTILINE_MULTIVERSION void add_column_squares(const T* x, std::int64_t stride, std::int64_t n,
                                               std::int64_t d, const double* scale, double* s) {
    for (std::int64_t i = 0; i < n; ++i) {
        const T* row = x + i * stride;
        const double w = scale[i];
        if (w == 0) continue;
#pragma omp simd
        for (std::int64_t j = 0; j < d; ++j) {
            const double v = static_cast<double>(row[j]);
            s[j] += w * v * v;
        }
    }
}

template <class T>
RECTILINE_MULTIVERSION double contiguous_dot(const T* x, const double* g, std::int64_t n) {
    return dot(x, g, n);
}

template <class T>
RECTILINE_MULTIVERSION void contiguous_axpy(double a, const T* x, double* z, std::int64_t n) {
    axpy(a, x, z, n);
}

template <class T>
RECTILINE_MULTIVERSION double contiguous_squares(const T* x, const double* scale, std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(x[i]);
        sum += v * v * scale[i];
    }
    return sum;
}

}  // namespace rectiline::design
