// Sums of rows, q += X'g: the largest loops of products, made for several widths of registers. They
// stand in a file of their own so that they are compiled once, beside the products and the passes.
#include "rectiline/design/dense_rows.hpp"
#include "rectiline/design/short_rows.hpp"
#include "rectiline/support/lanes.hpp"
#include "rectiline/support/small_count.hpp"

namespace rectiline::design {

template <Entry kind, class T>
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
void add_rows(const T* x, std::int64_t stride, std::int64_t n, std::int64_t d, const double* g,
              double* q, bool ahead) {
    if constexpr (kind != Entry::square)
        if (!ahead && with_count<kShortLanes>(d / kLanes, [&]<int Full>() {
                with_lanes<AddShortRows<Full, kind>>(x, stride, n, d, g, q);
            }))
            return;
    add_rows_weighted<kind>(x, stride, n, d, g, q, ahead);
}

#define RECTILINE_ADD_ROWS(kind, T)                                                     \
    template void add_rows<kind, T>(const T*, std::int64_t, std::int64_t, std::int64_t, \
                                    const double*, double*, bool);
RECTILINE_ADD_ROWS(Entry::plain, double)
RECTILINE_ADD_ROWS(Entry::plain, float)
RECTILINE_ADD_ROWS(Entry::absolute, double)
RECTILINE_ADD_ROWS(Entry::absolute, float)
RECTILINE_ADD_ROWS(Entry::square, double)
RECTILINE_ADD_ROWS(Entry::square, float)

}  // namespace rectiline::design
