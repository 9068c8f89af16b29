// Loops over the rows of a dense matrix, or over one of its columns, that products are made of.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/support/lanes.hpp"

namespace rectiline::design {

// ---- sums over the columns of rows --------------------------------------------------------------

constexpr std::int64_t kRowGroup = 4;  // rows that are summed side by side

// sum_j of: x_j v_j; |x_j| v_j; x_j^2 v_j; (x_j v_j + u_j)^2; nothing.
enum class Sum { product, absolute, square, distance, none };

// What one kind of sum needs: vectors, the value it starts from, and where it goes.
struct SumOf {
    const double* v = nullptr;
    const double* u = nullptr;
    double start = 0;
    double* out = nullptr;

    template <Sum kind, class T>
    RECTILINE_INLINE double term(T x, std::int64_t j) const {
        if constexpr (kind == Sum::product) return entry<Entry::plain>(x) * v[j];
        if constexpr (kind == Sum::absolute) return entry<Entry::absolute>(x) * v[j];
        if constexpr (kind == Sum::square) return entry<Entry::square>(x) * v[j];
        if constexpr (kind == Sum::distance) {
            const double part = entry<Entry::plain>(x) * v[j] + u[j];
            return part * part;
        }
        return 0.0;
    }
};

// Memory that is asked for while rows are summed, a part with every group of rows.
struct Ahead {
    const char* at = nullptr;
    std::int64_t bytes = 0;

    RECTILINE_INLINE void ask() {
        prefetch_bytes(at, bytes);
        at += bytes;
    }
};

// Writes sums of one or two kinds for n rows of d columns. Rows are taken four at a time:
// independent sums hide the latency of the additions.
template <Sum First, Sum Second = Sum::none, class T>
RECTILINE_MULTIVERSION void row_sums(const T* x, std::int64_t stride, std::int64_t n,
                                     std::int64_t d, SumOf one, SumOf two, Ahead ahead) {
    std::int64_t i = 0;
    for (; i + kRowGroup <= n; i += kRowGroup) {
        const T *x0 = x + i * stride, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
        ahead.ask();
        double a0 = one.start, a1 = a0, a2 = a0, a3 = a0;
        double b0 = two.start, b1 = b0, b2 = b0, b3 = b0;
#pragma omp simd reduction(+ : a0, a1, a2, a3, b0, b1, b2, b3)
        for (std::int64_t j = 0; j < d; ++j) {
            a0 += one.term<First>(x0[j], j), b0 += two.term<Second>(x0[j], j);
            a1 += one.term<First>(x1[j], j), b1 += two.term<Second>(x1[j], j);
            a2 += one.term<First>(x2[j], j), b2 += two.term<Second>(x2[j], j);
            a3 += one.term<First>(x3[j], j), b3 += two.term<Second>(x3[j], j);
        }
        double* out = one.out + i;
        out[0] = a0, out[1] = a1, out[2] = a2, out[3] = a3;
        if constexpr (Second == Sum::none) continue;
        out = two.out + i;
        out[0] = b0, out[1] = b1, out[2] = b2, out[3] = b3;
    }
    for (; i < n; ++i) {
        double a = one.start, b = two.start;
#pragma omp simd reduction(+ : a, b)
        for (std::int64_t j = 0; j < d; ++j) {
            a += one.term<First>(x[i * stride + j], j);
            b += two.term<Second>(x[i * stride + j], j);
        }
        one.out[i] = a;
        if constexpr (Second != Sum::none) two.out[i] = b;
    }
}

// z = X b for n rows, a multiple of kRowGroup, of d >= kLanes columns: with whole registers also
// for the last columns, products of short rows take half the time.
struct RowProducts {
    template <class Lanes, class T>
    static RECTILINE_INLINE void run(const T* x, std::int64_t stride, std::int64_t n,
                                     std::int64_t d, const double* b, double* z, Ahead ahead) {
        const std::int64_t rest = d % kLanes, full = d - rest;
        double last[kLanes] = {};  // those of b for the last columns, zeros for those before
        std::copy_n(b + full, rest, last + kLanes - rest);
        for (std::int64_t i = 0; i < n; i += kRowGroup) {
            ahead.ask();
            const T* rows = x + i * stride;
            Lanes sums[kRowGroup], factors, entries;
            for (Lanes& sum : sums)
                sum.clear();
            for (std::int64_t j = 0; j < d; j += kLanes) {
                const bool is_full = j < full;
                factors.load(is_full ? b + j : last);
                const T* line = rows + (is_full ? j : d - kLanes);
                for (int r = 0; r < kRowGroup; ++r) {
                    entries.load(line + r * stride);
                    sums[r].add_product(entries, factors);
                }
            }
            store_sums(sums, z + i);
        }
    }
};

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
            use(i, std::min(kRowsInCache, last - i), j, X.column(j) + i * X.row_stride);
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

// z = X b, of entries of a kind, over a range of rows.
template <Entry kind, class T>
void rows_times_vector(const T* x, std::int64_t stride, std::int64_t n, std::int64_t d,
                       const double* b, double* z, bool ahead) {
    constexpr Sum kSum = kind == Entry::plain    ? Sum::product
                         : kind == Entry::square ? Sum::square
                                                 : Sum::absolute;
    const std::int64_t done = kind == Entry::plain && d >= kLanes ? n / kRowGroup * kRowGroup : 0;
    const Ahead next = ahead ? ahead_of(x, stride) : Ahead{};
    if (done > 0) with_lanes<RowProducts>(x, stride, done, d, b, z, next);
    row_sums<kSum>(x + done * stride, stride, n - done, d, {b, nullptr, 0, z + done}, {}, next);
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
