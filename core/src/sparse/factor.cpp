#include "rectiline/sparse/normal_equations.hpp"
#include "rectiline/support/lanes.hpp"
#include "rectiline/support/vectors.hpp"

#include <cassert>
#include <utility>

namespace rectiline::sparse {

namespace {

constexpr Index kNone = -1;
double trapezoid(std::int64_t rows, std::int64_t width) {
    return static_cast<double>(width * rows - width * (width - 1) / 2);
}

constexpr std::int64_t kColumns = 4;  // of a tile of a product
constexpr std::int64_t kPanel = 16;   // columns of a dense block that are finished one by one
constexpr std::size_t kSlack = 64;    // entries that a tile may read beyond the last

std::int64_t rounded_up(std::int64_t count, std::int64_t to) {
    return (count + to - 1) / to * to;
}

// Lower tiles of left * right', where `right` is packed by kColumns of its rows.
struct MultiplyTiles {
    template <class Lanes, int Parts>
    static RECTILINE_INLINE void tile(const double* left, std::int64_t stride, const double* right,
                                      std::int64_t depth, double* out, std::int64_t out_stride) {
        ProductTile<Lanes, kColumns, Parts> sums;
        sums.set(right, kColumns, left, stride, depth);
        for (int c = 0; c < kColumns; ++c)
            for (int part = 0; part < Parts; ++part)
                sums.of[c][part].store(out + c * out_stride + kLanes * part);
    }

    template <class Lanes>
    static RECTILINE_INLINE void run(const double* left, std::int64_t stride, std::int64_t height,
                                     std::int64_t width, std::int64_t depth, const double* right,
                                     double* out, std::int64_t out_stride) {
        for (std::int64_t j = 0; j < width; j += kColumns, right += kColumns * depth) {
            std::int64_t i = j / kLanes * kLanes;
            double* to = out + j * out_stride;
            for (; i + kLanes < height; i += 2 * kLanes)
                tile<Lanes, 2>(left + i, stride, right, depth, to + i, out_stride);
            if (i < height) tile<Lanes, 1>(left + i, stride, right, depth, to + i, out_stride);
        }
    }
};

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
    for (const EliminatedNodes& nodes : found.sets)
        blocks_.push_back({nodes.first, nodes.width});
    values_ = {};
    return set_rows() <= most;
}

// product_ = what the first `depth` columns of a block add to those before `last`, from the row
// `depth` on; columns are as far apart as it returns. The upper half is not used.
std::int64_t Factor::multiply(const Block& block, std::int64_t depth, std::int64_t last) {
    const std::int64_t count = block.count, height = count - depth, width = last - depth;
    const std::int64_t columns = rounded_up(width, kColumns);
    const std::int64_t stride = rounded_up(height, 2 * kLanes);
    const double* const left = values_.data() + block.values + depth;
    const double* const signs = signs_.data() + block.first;
    if (std::ssize(packed_) < columns * depth) packed_.resize(columns * depth);
    if (std::ssize(product_) < columns * stride) product_.resize(columns * stride);
    double* to = packed_.data();
    for (std::int64_t j = 0; j < width; j += kColumns)
        for (std::int64_t k = 0; k < depth; ++k)
            for (std::int64_t c = 0; c < kColumns; ++c, ++to)
                *to = j + c < width ? -signs[k] * left[k * count + j + c] : 0.0;
    with_lanes<MultiplyTiles>(left, count, height, width, depth,
                              static_cast<const double*>(packed_.data()), product_.data(), stride);
    return stride;
}

// Factorises the columns of a block, to which its children have added.
bool Factor::finish(const Block& block) {
    const std::int64_t count = block.count, width = block.width;
    double* const L = values_.data() + block.values;
    const double* const signs = signs_.data() + block.first;
    for (std::int64_t first = 0; first < width; first += kPanel) {
        const std::int64_t end = std::min(first + kPanel, width);
        const std::int64_t stride = first > 0 ? multiply(block, first, end) : 0;
        for (std::int64_t j = first; j < end; ++j) {
            double* const column = L + j * count;
            if (first > 0)
                add_multiple(1.0, product_.data() + (j - first) * (stride + 1), column + j,
                             count - j);
            for (std::int64_t k = first; k < j; ++k)
                add_multiple(-signs[k] * L[k * count + j], L + k * count + j, column + j,
                             count - j);
            const double pivot = signs[j] * column[j];
            if (!(pivot > 0) || std::isinf(pivot)) return false;
            const double inverse = signs[j] / std::sqrt(pivot);
            column[j] = std::sqrt(pivot);
            for (std::int64_t i = j + 1; i < count; ++i)
                column[i] *= inverse;
        }
    }
    return true;
}

// Adds the lower half of a matrix over the later rows of a block to its parent.
void Factor::pass_on(const Block& block, const double* column, std::int64_t stride) {
    Block& to = blocks_[block.parent];
    const std::int64_t* const place = place_in_parent_.data() + block.rows + block.width;
    const std::int64_t below = block.count - block.width;
    if (to.update.empty() && place[below - 1] >= to.width)
        to.update.resize(to.count * (to.count - to.width), 0.0);
    for (std::int64_t j = 0; j < below; ++j, column += stride) {
        double* const target = place[j] < to.width
                                   ? values_.data() + to.values + place[j] * to.count
                                   : to.update.data() + (place[j] - to.width) * to.count;
        for (std::int64_t i = j; i < below; ++i)
            target[place[i]] += column[i];
    }
}

bool Factor::factorise(std::span<const double> values, std::span<const double> signs,
                       Interrupt& interrupt) {
    assert(values.size() == rows_.size() && signs.size() == order_.size());
    values_.assign(static_cast<std::size_t>(entries_) + kSlack, 0.0);
    for (std::size_t e = 0; e < values.size(); ++e)
        values_[entry_place_[e]] = values[e];
    signs_.assign(signs.begin(), signs.end());
    for (Block& block : blocks_)
        block.update = {};
    for (Block& block : blocks_) {
        const std::int64_t count = block.count, width = block.width;
        if (interrupt.poll(count * count * width) || !finish(block)) return false;
        if (count == width) continue;
        const std::int64_t stride = multiply(block, width, count);
        if (block.update.empty()) {
            pass_on(block, product_.data(), stride);
            continue;
        }
        for (std::int64_t j = 0; j < count - width; ++j)
            add_multiple(1.0, product_.data() + j * (stride + 1),
                         block.update.data() + j * (count + 1) + width, count - width - j);
        pass_on(block, block.update.data() + width, count);
        block.update = {};
    }
    return true;
}

void Factor::solve(std::span<double> x) const {
    std::vector<double> part(order_.size());
    for (const Block& block : blocks_) {
        const double* column = values_.data() + block.values;
        double* const own = x.data() + block.first;
        const std::int64_t below = block.count - block.width;
        std::fill_n(part.begin(), below, 0.0);
        for (std::int64_t j = 0; j < block.width; ++j, column += block.count) {
            own[j] /= column[j];
            add_multiple(-own[j], column + j + 1, own + j + 1, block.width - j - 1);
            add_multiple(-own[j], column + block.width, part.data(), below);
        }
        for (std::int64_t i = 0; i < below; ++i)
            x[block_rows_[block.rows + block.width + i]] += part[i];
    }
    for (std::size_t j = 0; j < x.size(); ++j)
        x[j] *= signs_[j];
    for (std::size_t b = blocks_.size(); b-- > 0;) {
        const Block& block = blocks_[b];
        double* const own = x.data() + block.first;
        const std::int64_t below = block.count - block.width;
        for (std::int64_t i = 0; i < below; ++i)
            part[i] = x[block_rows_[block.rows + block.width + i]];
        for (std::int64_t j = block.width; j-- > 0;) {
            const double* column = values_.data() + block.values + j * block.count;
            const double sum = product(column + j + 1, own + j + 1, block.width - j - 1) +
                               product(column + block.width, part.data(), below);
            own[j] = (own[j] - sum) / column[j];
        }
    }
}

double Factor::growth() const {
    std::vector<double> sums(order_.size(), 0.0);
    for (const Block& block : blocks_)
        for (std::int64_t j = 0; j < block.width; ++j) {
            const double* column = values_.data() + block.values + j * block.count;
            double total = 0;
            for (std::int64_t i = j; i < block.count; ++i)
                total += std::fabs(column[i]);
            for (std::int64_t i = j; i < block.count; ++i)
                sums[block_rows_[block.rows + i]] += std::fabs(column[i]) * total;
        }
    return sums.empty() ? 0.0 : *std::max_element(sums.begin(), sums.end());
}

std::int64_t Factor::most_terms() const {
    std::vector<std::int64_t> terms(order_.size(), 0);
    for (const Block& block : blocks_)
        for (std::int64_t k = 0; k < block.count; ++k)
            terms[block_rows_[block.rows + k]] += block.width;
    return terms.empty() ? 0 : *std::max_element(terms.begin(), terms.end());
}

}  // namespace rectiline::sparse
