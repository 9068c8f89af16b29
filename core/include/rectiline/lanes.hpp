// Eight numbers side by side, for loops that the compiler would not turn into vector code by
// itself. Each version of a RECTILINE_MULTIVERSION function cuts them into the registers it has.
#pragma once

#include "rectiline/multiversion.hpp"

#if defined(__GNUC__) || defined(__clang__)
#define RECTILINE_LANES 1

namespace rectiline {

typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
constexpr int kLanes = 8;

RECTILINE_INLINE void load_lanes(const double* from, Lanes& lanes) {
    lanes = *reinterpret_cast<const Lanes*>(from);
}
RECTILINE_INLINE void load_lanes(const float* from, Lanes& lanes) {
    typedef float Floats __attribute__((vector_size(32), aligned(4), may_alias));
    lanes = __builtin_convertvector(*reinterpret_cast<const Floats*>(from), Lanes);
}
RECTILINE_INLINE double sum_of(const Lanes& lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

}  // namespace rectiline
#endif
