#include "rectiline/support/compensated.hpp"

namespace rectiline::support {

RECTILINE_MULTIVERSION void CompensatedLanes::add(const double* x, std::int64_t count) {
    CompensatedLanes local = *this;  // in registers
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (int lane = 0; lane < kLanes; ++lane)
            local.add_to(lane, x[i + lane]);
    for (int lane = 0; i < count; ++i, ++lane)
        local.add_to(lane, x[i]);
    *this = local;
}

}  // namespace rectiline::support
