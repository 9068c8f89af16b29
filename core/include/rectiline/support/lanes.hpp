// Eight numbers side by side, for loops that the compiler would not turn into vector code by
// itself. Each version of a RECTILINE_MULTIVERSION function cuts them into the registers it has.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/support/multiversion.hpp"

#if defined(__GNUC__) || defined(__clang__)
#define RECTILINE_LANES 1

namespace rectiline::support {

typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
constexpr int kLanes = 8;

RECTILINE_INLINE void load_lanes(const double* from, Lanes& lanes) {
    lanes = *reinterpret_cast<const Lanes*>(from);
}
RECTILINE_INLINE void load_lanes(const float* from, Lanes& lanes) {
    typedef float Floats __attribute__((vector_size(32), aligned(4), may_alias));
    lanes = __builtin_convertvector(*reinterpret_cast<const Floats*>(from), Lanes);
}
// out_r = the sum of the lanes of each of four
RECTILINE_INLINE void store_sums(const Lanes (&of)[4], double* out) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define RECTILINE_SHUFFLE 1
#endif
#endif
#ifdef RECTILINE_SHUFFLE
    typedef double Half __attribute__((vector_size(32), aligned(8), may_alias));
    Half half[4];
    for (int r = 0; r < 4; ++r)
        half[r] = __builtin_shufflevector(of[r], of[r], 0, 1, 2, 3) +
                  __builtin_shufflevector(of[r], of[r], 4, 5, 6, 7);
    const Half low = __builtin_shufflevector(half[0], half[1], 0, 4, 2, 6) +
                     __builtin_shufflevector(half[0], half[1], 1, 5, 3, 7);
    const Half high = __builtin_shufflevector(half[2], half[3], 0, 4, 2, 6) +
                      __builtin_shufflevector(half[2], half[3], 1, 5, 3, 7);
    *reinterpret_cast<Half*>(out) = __builtin_shufflevector(low, high, 0, 1, 4, 5) +
                                    __builtin_shufflevector(low, high, 2, 3, 6, 7);
#else
    for (int r = 0; r < 4; ++r)
        out[r] = ((of[r][0] + of[r][4]) + (of[r][2] + of[r][6])) +
                 ((of[r][1] + of[r][5]) + (of[r][3] + of[r][7]));
#endif
}

}  // namespace rectiline::support
#endif
