// Lists of the rows that meet a condition.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>
#include <vector>

namespace rectiline::support {

// Puts every i < n for which chosen(i) holds into `out`. Which rows these are is hard to foresee
// for a processor, so every row is written and the place moves on by one or not at all.
template <class Chosen>
void list_rows(std::int64_t n, std::vector<std::int64_t>& out, const Chosen& chosen) {
    out.resize(static_cast<std::size_t>(n) + 1);
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        out[at] = i;
        at += chosen(i) ? 1 : 0;
    }
    out.resize(static_cast<std::size_t>(at));
}

}  // namespace rectiline::support
