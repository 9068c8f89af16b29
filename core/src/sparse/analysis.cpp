#include "rectiline/sparse/factor.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rectiline::sparse {

namespace {

constexpr Index kNone = -1;
// Blocks are joined up to so many columns if zeros are at most this share of their entries.
struct Joining {
    std::int64_t width;
    double zeros;
};
constexpr Joining kJoinings[] = {{4, 1.0}, {16, 0.5}, {48, 0.1}, {1 << 20, 0.03}};

std::int64_t trapezoid(std::int64_t rows, std::int64_t width) {
    return width * rows - width * (width - 1) / 2;
}

// Children before parents, each subtree in one piece.
std::vector<Index> postorder(const std::vector<Index>& parent) {
    const auto n = static_cast<Index>(parent.size());
    std::vector<Index> child(parent.size(), kNone), sibling(parent.size(), kNone), order, stack;
    for (Index i = n - 1; i >= 0; --i)
        if (parent[i] != kNone) sibling[i] = std::exchange(child[parent[i]], i);
    order.reserve(parent.size());
    for (Index root = 0; root < n; ++root) {
        if (parent[root] != kNone) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const Index i = stack.back();
            if (child[i] != kNone) {
                stack.push_back(child[i]);
                child[i] = sibling[child[i]];
            } else {
                order.push_back(i);
                stack.pop_back();
            }
        }
    }
    return order;
}

}  // namespace

void Factor::set_order(const Graph& graph, std::vector<Index> order) {
    order_ = std::move(order);
    place_.resize(order_.size());
    for (Index k = 0; k < graph.size(); ++k)
        place_[order_[k]] = k;
}

// The first later unknown that each one is joined to once it is eliminated.
std::vector<Index> Factor::tree(const Graph& graph) const {
    std::vector<Index> parent(order_.size(), kNone), ancestor(order_.size(), kNone);
    for (Index i = 0; i < size(); ++i)
        for (const Index node : graph.neighbours(order_[i]))
            for (Index k = place_[node]; k < i && k != kNone;) {
                const Index above = std::exchange(ancestor[k], i);
                if (above == kNone) parent[k] = i;
                k = above;
            }
    return parent;
}

// Row i of L has an entry wherever a path of the tree leads from an entry of A towards i.
std::vector<Index> Factor::column_counts(const Graph& graph,
                                         const std::vector<Index>& parent) const {
    std::vector<Index> counts(order_.size(), 1), mark(order_.size(), kNone);
    for (Index i = 0; i < size(); ++i) {
        mark[i] = i;
        for (const Index node : graph.neighbours(order_[i]))
            for (Index k = place_[node]; k < i && mark[k] != i; k = parent[k]) {
                mark[k] = i;
                ++counts[k];
            }
    }
    return counts;
}

void Factor::set_blocks(const std::vector<Index>& parent, const std::vector<Index>& counts) {
    const auto may_join = [&](const Block& one, const Block& next) {
        if (parent[one.first + one.width - 1] != next.first) return false;
        const std::int64_t width = one.width + next.width;
        const auto whole = static_cast<double>(trapezoid(one.width + next.count, width));
        // `values` counts the entries that are not zero for now.
        const double zeros = whole - static_cast<double>(one.values + next.values);
        for (const Joining& rule : kJoinings)
            if (width <= rule.width) return zeros <= rule.zeros * whole;
        return false;
    };
    blocks_.clear();
    for (Index j = 0; j < size(); ++j) {
        Block next{j, 1, 0, counts[j], counts[j]};
        while (!blocks_.empty() && may_join(blocks_.back(), next)) {
            const Block& one = blocks_.back();
            next = {one.first, one.width + next.width, 0, one.width + next.count,
                    one.values + next.values};
            blocks_.pop_back();
        }
        blocks_.push_back(next);
    }
}

// The rows of each block: those of its columns of A and of the blocks that it is the parent of.
void Factor::set_rows() {
    const auto n_blocks = static_cast<Index>(blocks_.size());
    std::vector<Index> mark(order_.size(), kNone), child(blocks_.size(), kNone);
    std::vector<Index> sibling(blocks_.size(), kNone);
    block_of_.resize(order_.size());
    for (Index b = 0; b < n_blocks; ++b)
        std::fill_n(block_of_.begin() + blocks_[b].first, blocks_[b].width, b);
    block_rows_.clear();
    std::int64_t place = 0;
    for (Index b = 0; b < n_blocks; ++b) {
        Block& block = blocks_[b];
        block.rows = std::ssize(block_rows_);
        const Index end = block.first + block.width;
        const auto take = [&](Index row) {
            if (row < block.first || mark[row] == b) return;
            mark[row] = b;
            block_rows_.push_back(row);
        };
        for (Index j = block.first; j < end; ++j)
            take(j);
        for (std::int64_t e = begin_[block.first]; e < begin_[end]; ++e)
            take(rows_[e]);
        for (Index c = child[b]; c != kNone; c = sibling[c])
            for (std::int64_t k = blocks_[c].width; k < blocks_[c].count; ++k)
                take(block_rows_[blocks_[c].rows + k]);
        block.count = std::ssize(block_rows_) - block.rows;
        const auto own = block_rows_.begin() + block.rows;
        std::sort(own, block_rows_.end());
        block.values = place;
        place += block.count * block.width;
        if (block.count > block.width) {
            const Index above = block_of_[own[block.width]];
            sibling[b] = std::exchange(child[above], b);
        }
    }
    entries_ = static_cast<double>(place);
}

bool Factor::analyse(const Graph& graph, double most, Interrupt& interrupt) {
    std::vector<Index> order = minimum_degree_order(graph, most, interrupt);
    if (static_cast<Index>(order.size()) != graph.size()) return false;
    set_order(graph, order);
    std::vector<Index> later = postorder(tree(graph));
    for (Index& k : later)
        k = order[k];
    set_order(graph, std::move(later));
    const std::vector<Index> parent = tree(graph), counts = column_counts(graph, parent);
    if (std::accumulate(counts.begin(), counts.end(), 0.0) > most) return false;
    begin_.assign(1, 0);
    rows_.clear();
    for (Index i = 0; i < size(); ++i) {
        rows_.push_back(i);
        for (const Index node : graph.neighbours(order_[i]))
            if (place_[node] > i) rows_.push_back(place_[node]);
        std::sort(rows_.begin() + begin_.back(), rows_.end());
        begin_.push_back(std::ssize(rows_));
    }
    set_blocks(parent, counts);
    set_rows();
    values_ = {};
    return true;
}

}  // namespace rectiline::sparse
