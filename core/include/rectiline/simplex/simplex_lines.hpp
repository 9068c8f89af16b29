// Loops over contiguous stretches that the simplex method spends its time in.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>

namespace rectiline::simplex {

constexpr std::int64_t kMostLines = 8;  // at a time

// out += sum_i scale_i * lines_i
void add_lines(const double* const* lines, const double* scale, std::int64_t count,
               std::int64_t size, double* out);

// An edge: t + step * dt, where a column at its low end (turn +1) has t <= 0 and one at its high
// end (turn -1) t >= 0; `open` is the width of columns that may meet their kink, and 0 for the
// others.
struct EdgeArrays {
    const double *t, *dt, *turn, *open;
};

// step[u]: to where t_u = 0, infinite if it is not on its way or slower than `slowest`. Returns how
// much the slope of the sum of kinks rises over those up to `within`.
double edge_steps(const EdgeArrays& edge, std::int64_t size, double slowest, double within,
                  double* step);

}  // namespace rectiline::simplex
