// Loops over the rows of a dense matrix, or over one of its columns, that products are made of.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/support/lanes.hpp"

#include <type_traits>

namespace rectiline::design {

// ---- sums over the columns of rows --------------------------------------------------------------

// Sums over the columns of dense rows, two kinds at a time while a row is in registers.

constexpr std::int64_t kRowGroup = 4;  // rows that are summed side by side

// sum_j of: x_j v_j; |x_j| v_j; (x_j v_j + u_j)^2; nothing.
enum class Sum { product, absolute, square, none };

// What one kind of sum needs: vectors, the value it starts from, and where it goes.
struct SumOf {
    const double* v = nullptr;
    const double* u = nullptr;
    double start = 0;
    double* out = nullptr;
};

// Memory that is asked for while rows are summed, a part with every group of rows.
struct Ahead {
    const char* at = nullptr;
    std::int64_t bytes = 0;
};

// The vectors of one kind of sum for neighbouring columns, in registers.
template <Sum Kind, class Lanes>
struct Terms {
    Lanes v, u;

    RECTILINE_INLINE void load(const double* from_v, const double* from_u) {
        if constexpr (Kind != Sum::none) v.load(from_v);
        if constexpr (Kind == Sum::square) u.load(from_u);
    }
    RECTILINE_INLINE void add(const Lanes& x, Lanes& sum) const {
        if constexpr (Kind == Sum::product) sum.add_product(x, v);
        if constexpr (Kind == Sum::absolute) sum.add_product(x.absolute(), v);
        if constexpr (Kind == Sum::square) {
            Lanes part = u;
            part.add_product(x, v);
            sum.add_product(part, part);
        }
    }
};

// The vectors of one kind of sum for the last columns, with zeros for those before.
struct LastTerms {
    double v[kLanes] = {}, u[kLanes] = {};

    RECTILINE_INLINE LastTerms(const SumOf& of, std::int64_t d, std::int64_t rest, int width) {
        for (std::int64_t k = 0; of.v && k < rest; ++k) {
            v[width - rest + k] = of.v[d - rest + k];
            if (of.u) u[width - rest + k] = of.u[d - rest + k];
        }
    }
};

template <Sum First, Sum Second>
struct RowSums {
    template <class AllLanes, class T>
    static RECTILINE_INLINE void run(const T* x, std::int64_t stride, std::int64_t n,
                                     std::int64_t d, SumOf one, SumOf two, Ahead ahead) {
        // Twice four sums of eight do not fit in registers.
        using Lanes = std::conditional_t<Second == Sum::none, AllLanes, typename AllLanes::One>;
        constexpr int kWidth = Lanes::kCount;
        const std::int64_t rest = d % kWidth, full = d - rest;
        const LastTerms last_one(one, d, rest, kWidth), last_two(two, d, rest, kWidth);
        Terms<First, Lanes> a;
        Terms<Second, Lanes> b;
        for (std::int64_t i = 0; i < n; i += kRowGroup) {
            for (std::int64_t line = 0; line < ahead.bytes; line += 64)
                RECTILINE_PREFETCH(ahead.at + line);
            ahead.at += ahead.bytes;
            const T* rows = x + i * stride;
            Lanes ones[kRowGroup], twos[kRowGroup], entries;
            for (int r = 0; r < kRowGroup; ++r)
                ones[r].start(one.start), twos[r].start(two.start);
            for (std::int64_t j = 0; j < full; j += kWidth) {
                a.load(one.v + j, one.u + j), b.load(two.v + j, two.u + j);
                for (int r = 0; r < kRowGroup; ++r) {
                    entries.load(rows + r * stride + j);
                    a.add(entries, ones[r]), b.add(entries, twos[r]);
                }
            }
            if (rest > 0) {
                a.load(last_one.v, last_one.u), b.load(last_two.v, last_two.u);
                for (int r = 0; r < kRowGroup; ++r) {
                    entries.load(rows + r * stride + d - kWidth);
                    a.add(entries, ones[r]), b.add(entries, twos[r]);
                }
            }
            store_sums(ones, one.out + i);
            if constexpr (Second != Sum::none) store_sums(twos, two.out + i);
        }
    }
};

// Writes sums of one or two kinds for n rows, a multiple of kRowGroup, of d >= kLanes columns.
template <Sum First, Sum Second = Sum::none, class T>
void row_sums(const T* x, std::int64_t stride, std::int64_t n, std::int64_t d, SumOf one,
              SumOf two = {}, Ahead ahead = {}) {
    with_lanes<RowSums<First, Second>>(x, stride, n, d, one, two, ahead);
}

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
