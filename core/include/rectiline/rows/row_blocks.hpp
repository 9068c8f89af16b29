// Rows in blocks that stay in a cache from one loop to the next. Samples that a fold holds out have
// no weight; where they lie side by side whole blocks can be passed over.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rectiline::rows {

struct RowBlock {
    std::int64_t first, last;

    std::int64_t size() const { return last - first; }
};

inline constexpr std::int64_t kBlockRows = 256;

// Blocks of all rows, or only those in which some row has a weight.
inline std::vector<RowBlock> row_blocks(const RowFunctions& rows, bool with_weight) {
    std::vector<RowBlock> used;
    used.reserve(static_cast<std::size_t>(rows.n / kBlockRows + 1));
    for (std::int64_t i = 0; i < rows.n; i += kBlockRows) {
        const RowBlock block{i, std::min(rows.n, i + kBlockRows)};
        if (!with_weight || std::any_of(rows.weight + block.first, rows.weight + block.last,
                                        [](double weight) { return weight > 0; }))
            used.push_back(block);
    }
    return used;
}

}  // namespace rectiline::rows
