// Sums of rows that are so short that their sums stay in registers.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/lanes.hpp"

#include <algorithm>
#include <cstdint>

namespace rectiline::design {

constexpr int kShortLanes = 7;

// q += X'g, of entries of a kind, for so few columns that their sums stay in registers: `Full`
// lanes of them and some more, which are taken with those before them.
template <int Full, Entry kind>
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
                sum[k].add_product(g[i], kind == Entry::absolute ? u.absolute() : u);
            }
            if (rest > 0) {
                u.load(row + d - kLanes);
                more.add_product(g[i], kind == Entry::absolute ? u.absolute() : u);
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

}  // namespace rectiline::design
