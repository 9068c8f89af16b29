// From a small number known at run time to one known at compile time.
#pragma once

#include "rectiline/rooms.hpp"

namespace rectiline::support {

// Calls kernel<N>() for N = count where 1 <= count <= Most; otherwise returns false.
template <int Most, class Kernel>
bool with_count(std::int64_t count, Kernel&& kernel) {
    if constexpr (Most == 0) {
        return false;
    } else {
        if (count != Most) return with_count<Most - 1>(count, kernel);
        kernel.template operator()<Most>();
        return true;
    }
}

}  // namespace rectiline::support
