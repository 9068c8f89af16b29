// Between which ends the predictions of a path stay that runs beside a known one.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>

namespace rectiline::path {

// `there` (n) are the predictions of the known path where it is beside the answer at hand, `least`
// and `most` its ends from there on; `here` the predictions at hand. What lies between `there` and
// `here` may shrink to nothing on the way; `margin` standard deviations of it are added on both
// sides.
struct KnownPath {
    const double *there, *least, *most;
};

void path_ranges(const KnownPath& known, std::int64_t n, const double* here, double margin,
                 double* low, double* high);

}  // namespace rectiline::path
