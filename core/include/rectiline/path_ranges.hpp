// Between which ends the predictions of a path stay that runs beside a known one.
#pragma once

#include <cstdint>

namespace rectiline {

// `there` (count x n) are the predictions of the known path, from the answer at hand on; `here` (n)
// those at hand. What lies between the two at first may shrink to nothing on the way; `margin`
// standard deviations of it are added on both sides.
void path_ranges(const double* there, std::int64_t count, std::int64_t n, const double* here,
                 double margin, double* low, double* high);

}  // namespace rectiline
