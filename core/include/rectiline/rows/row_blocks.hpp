// Rows in blocks that stay in a cache from one loop to the next. Samples that a fold holds out have
// no weight; where they lie side by side whole blocks can be passed over.
#pragma once

#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rectiline::rows {

struct RowBlock {
    std::int64_t first, last;

    std::int64_t size() const { return last - first; }
};

class RowBlocks {
  public:
    static constexpr std::int64_t kRows = 256;

    // All rows, or those of the blocks with weight.
    static RowBlocks all(const RowFunctions& rows) { return RowBlocks(rows, false); }
    static RowBlocks with_weight(const RowFunctions& rows) { return RowBlocks(rows, true); }

    auto begin() const { return used_.begin(); }
    auto end() const { return used_.end(); }
    std::size_t size() const { return used_.size(); }
    const RowBlock& operator[](std::size_t k) const { return used_[k]; }

  private:
    RowBlocks(const RowFunctions& rows, bool look) {
        used_.reserve(static_cast<std::size_t>(rows.n / kRows + 1));
        for (std::int64_t i = 0; i < rows.n; i += kRows) {
            const RowBlock block{i, std::min(rows.n, i + kRows)};
            const bool used =
                !look || std::any_of(rows.weight + block.first, rows.weight + block.last,
                                     [](double weight) { return weight > 0; });
            if (used) used_.push_back(block);
        }
    }
    std::vector<RowBlock> used_;
};

// Calls work(k) for the places of blocks, in threads if there are many.
template <class Work>
void over_blocks(std::size_t count, const Work& work) {
    constexpr std::size_t kShare = 32;
    support::parallel_chunks(
        static_cast<std::int64_t>((count + kShare - 1) / kShare), [&](std::int64_t c) {
            const std::size_t first = static_cast<std::size_t>(c) * kShare;
            for (std::size_t k = first; k < std::min(count, first + kShare); ++k)
                work(k);
        });
}

}  // namespace rectiline::rows
