// Kernels of products with many vectors at once.
//
// Vectors lie side by side in a few lanes, so that a row of X meets all of them: its entries are
// spread over the lanes one by one, and nothing of X is packed or turned. Blocks of rows are turned
// between this order and the one in which each vector lies in one piece.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/support/lanes.hpp"

#include <algorithm>
#include <cstdint>

#ifdef RECTILINE_LANES
namespace rectiline::design {

constexpr std::int64_t kTurned = 64;        // rows turned at a time
constexpr std::int64_t kSide = 2 * kLanes;  // vectors taken together
constexpr int kAccumulators = 8;            // enough to hide the latency of a sum

// How many rows are taken together, so that their sums are so many registers.
template <class Lanes>
constexpr int tall(int groups) {
    return std::max(1, kAccumulators / (groups * Lanes::kRegisters));
}

// out[r * width + k] = in[k * stride + r]; vectors beyond `count` are zero.
RECTILINE_MULTIVERSION inline void turn_in(const double* in, std::int64_t stride,
                                           std::int64_t count, std::int64_t rows,
                                           std::int64_t width, double* out) {
    for (std::int64_t r = 0; r < rows; ++r) {
        double* line = out + r * width;
        for (std::int64_t k = 0; k < count; ++k)
            line[k] = in[k * stride + r];
        for (std::int64_t k = count; k < width; ++k)
            line[k] = 0.0;
    }
}

RECTILINE_MULTIVERSION inline void turn_out(const double* in, std::int64_t width,
                                            std::int64_t count, std::int64_t rows,
                                            std::int64_t stride, double* out) {
    for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t r = 0; r < rows; ++r)
            out[k * stride + r] = in[r * width + k];
}

// out (rows x 8 Groups) = start + X Bt, with Bt (d x 8 Groups)
template <int Groups>
struct RowsTimesMany {
    template <class Lanes, class T>
    static RECTILINE_INLINE void run(const T* x, std::int64_t stride, std::int64_t rows,
                                     std::int64_t d, const double* Bt, const double* start,
                                     double* out) {
        constexpr int kTall = tall<Lanes>(Groups);
        constexpr std::int64_t kWidth = Groups * kLanes;
        for (std::int64_t i = 0; i < rows; i += kTall) {
            const T* row[kTall];
            for (int r = 0; r < kTall; ++r)  // a row too many is done twice
                row[r] = x + std::min(i + r, rows - 1) * stride;
            Lanes sum[kTall][Groups];
            for (int g = 0; g < Groups; ++g)
                for (int r = 0; r < kTall; ++r)
                    sum[r][g].load(start + g * kLanes);
            for (std::int64_t j = 0; j < d; ++j) {
                Lanes b[Groups];
                for (int g = 0; g < Groups; ++g)
                    b[g].load(Bt + j * kWidth + g * kLanes);
                for (int r = 0; r < kTall; ++r) {
                    const double v = static_cast<double>(row[r][j]);
                    for (int g = 0; g < Groups; ++g)
                        sum[r][g].add_product(v, b[g]);
                }
            }
            for (int r = 0; r < kTall; ++r)
                for (int g = 0; g < Groups; ++g)
                    sum[r][g].store(out + std::min(i + r, rows - 1) * kWidth + g * kLanes);
        }
    }
};

// Qt (d x 8 Groups) += X' Gt, with Gt (rows x 8 Groups)
template <int Groups>
struct AddTransposedMany {
    template <class Lanes, class T>
    static RECTILINE_INLINE void run(const T* x, std::int64_t stride, std::int64_t rows,
                                     std::int64_t d, const double* Gt, double* Qt) {
        constexpr int kTall = tall<Lanes>(Groups);
        constexpr std::int64_t kWidth = Groups * kLanes;
        for (std::int64_t j = 0; j < d; j += kTall) {
            std::int64_t column[kTall];
            for (int c = 0; c < kTall; ++c)
                column[c] = std::min(j + c, d - 1);
            Lanes sum[kTall][Groups];
            for (int c = 0; c < kTall; ++c)
                for (int g = 0; g < Groups; ++g)
                    sum[c][g].load(Qt + column[c] * kWidth + g * kLanes);
            for (std::int64_t i = 0; i < rows; ++i) {
                const T* row = x + i * stride;
                Lanes v[Groups];
                for (int g = 0; g < Groups; ++g)
                    v[g].load(Gt + i * kWidth + g * kLanes);
                for (int c = 0; c < kTall; ++c) {
                    const double weight = static_cast<double>(row[column[c]]);
                    for (int g = 0; g < Groups; ++g)
                        sum[c][g].add_product(weight, v[g]);
                }
            }
            for (int c = 0; c < kTall; ++c)
                for (int g = 0; g < Groups; ++g)
                    sum[c][g].store(Qt + column[c] * kWidth + g * kLanes);
        }
    }
};

// Calls kernel<Groups>(first, count) for every few vectors.
template <class Kernel>
void over_vectors(std::int64_t count, const Kernel& kernel) {
    for (std::int64_t first = 0; first < count; first += kSide) {
        const std::int64_t some = std::min(kSide, count - first);
        if (some > kLanes)
            kernel.template operator()<2>(first, some);
        else
            kernel.template operator()<1>(first, some);
    }
}

}  // namespace rectiline::design
#endif
