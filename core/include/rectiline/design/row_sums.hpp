// Sums over the columns of dense rows, two kinds at a time while a row is in registers.
#pragma once

#include "rectiline/support/lanes.hpp"

#include <type_traits>

namespace rectiline::design {

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

}  // namespace rectiline::design
