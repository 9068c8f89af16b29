#include "rectiline/sparse/factor.hpp"

#include <algorithm>
#include <utility>

namespace rectiline::sparse {

namespace {

constexpr Index kNone = -1;
// Sets are joined up to so many columns if zeros are at most this share of their entries.
struct Joining {
    std::int64_t width;
    double zeros;
};
constexpr Joining kJoinings[] = {{4, 1.0}, {16, 0.5}, {48, 0.1}, {1 << 20, 0.03}};

double trapezoid(std::int64_t rows, std::int64_t width) {
    return static_cast<double>(width * rows - width * (width - 1) / 2);
}

// Joins sets that follow one another in the tree.
std::vector<EliminatedNodes> joined(const std::vector<EliminatedNodes>& sets) {
    const auto may_join = [](const EliminatedNodes& both) {
        const double whole = trapezoid(both.count, both.width), zeros = whole - both.entries;
        for (const Joining& rule : kJoinings)
            if (both.width <= rule.width) return zeros <= rule.zeros * whole;
        return false;
    };
    std::vector<EliminatedNodes> found;
    for (EliminatedNodes next : sets) {
        while (!found.empty() && found.back().parent == next.first) {
            const EliminatedNodes& one = found.back();
            const EliminatedNodes both{one.first, one.width + next.width, next.parent,
                                       one.width + next.count, one.entries + next.entries};
            if (!may_join(both)) break;
            next = both;
            found.pop_back();
        }
        found.push_back(next);
    }
    return found;
}

}  // namespace

// The rows of each block: those of its columns of A and of its children, whose first later row is
// one of its columns. Returns the number of entries.
double Factor::set_rows() {
    std::vector<Index> mark(order_.size(), kNone), block_of(order_.size());
    std::vector<Index> child(blocks_.size(), kNone), sibling(blocks_.size(), kNone);
    std::vector<std::int64_t> place(order_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b)
        std::fill_n(block_of.begin() + blocks_[b].first, blocks_[b].width, static_cast<Index>(b));
    block_rows_.clear(), place_in_parent_.clear();
    entry_place_.resize(rows_.size());
    std::int64_t stored = 0;
    double entries = 0;
    for (Index b = 0; b < static_cast<Index>(blocks_.size()); ++b) {
        Block& block = blocks_[b];
        block.rows = std::ssize(block_rows_), block.values = stored;
        const Index end = block.first + block.width;
        const auto take = [&](Index row) {
            if (row < block.first || mark[row] == b) return;
            mark[row] = b;
            block_rows_.push_back(row);
        };
        const auto over_children = [&](const auto& use) {
            for (Index c = child[b]; c != kNone; c = sibling[c])
                for (std::int64_t k = blocks_[c].width; k < blocks_[c].count; ++k)
                    use(blocks_[c].rows + k);
        };
        for (Index j = block.first; j < end; ++j)
            take(j);
        for (std::int64_t e = begin_[block.first]; e < begin_[end]; ++e)
            take(rows_[e]);
        over_children([&](std::int64_t at) { take(block_rows_[at]); });
        const auto own = block_rows_.begin() + block.rows;
        std::sort(own, block_rows_.end());
        block.count = block_rows_.end() - own;
        for (std::int64_t k = 0; k < block.count; ++k)
            place[own[k]] = k;
        for (Index j = block.first; j < end; ++j, stored += block.count)
            for (std::int64_t e = begin_[j]; e < begin_[j + 1]; ++e)
                entry_place_[e] = stored + place[rows_[e]];
        place_in_parent_.resize(block_rows_.size());
        over_children([&](std::int64_t at) { place_in_parent_[at] = place[block_rows_[at]]; });
        entries += trapezoid(block.count, block.width);
        if (block.count == block.width) continue;
        block.parent = block_of[own[block.width]];
        sibling[b] = std::exchange(child[block.parent], b);
    }
    entries_ = static_cast<double>(stored);
    return entries;
}

bool Factor::analyse(const Graph& graph, double most, Interrupt& interrupt) {
    EliminationOrder found = minimum_degree_order(graph, most, interrupt);
    if (std::ssize(found.nodes) != graph.size()) return false;
    order_ = std::move(found.nodes);
    place_.resize(order_.size());
    for (Index k = 0; k < size(); ++k)
        place_[order_[k]] = k;
    begin_.assign(1, 0);
    rows_.clear();
    for (Index i = 0; i < size(); ++i) {
        rows_.push_back(i);
        for (const Index node : graph.neighbours(order_[i]))
            if (place_[node] > i) rows_.push_back(place_[node]);
        std::sort(rows_.begin() + begin_.back(), rows_.end());
        begin_.push_back(std::ssize(rows_));
    }
    blocks_.clear();
    for (const EliminatedNodes& nodes : joined(found.sets))
        blocks_.push_back({nodes.first, nodes.width});
    values_ = {};
    return set_rows() <= most;
}

}  // namespace rectiline::sparse
