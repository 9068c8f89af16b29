// Dense copies of some rows.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>
#include <span>

namespace rectiline::design {

// out = X[rows], in one piece; dense X only. Compiled for double and float.
template <class Out>
void copy_rows(const DesignView& X, std::span<const std::int64_t> rows, Out* out);

}  // namespace rectiline::design
