#include "rectiline/sparse/factor.hpp"

#include "rectiline/support/lanes.hpp"
#include "rectiline/support/vectors.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace rectiline::sparse {

namespace {

constexpr Index kNone = -1;
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
        Lanes sums[kColumns][Parts];
        for (auto& column : sums)
            for (auto& part : column)
                part.clear();
        for (std::int64_t k = 0; k < depth; ++k, left += stride, right += kColumns) {
            Lanes entries[Parts];
            for (int part = 0; part < Parts; ++part)
                entries[part].load(left + kLanes * part);
            for (int c = 0; c < kColumns; ++c)
                for (int part = 0; part < Parts; ++part)
                    sums[c][part].add_product(right[c], entries[part]);
        }
        for (int c = 0; c < kColumns; ++c)
            for (int part = 0; part < Parts; ++part)
                sums[c][part].store(out + c * out_stride + kLanes * part);
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

// product_ = left S right', lower tiles of height x width; the rows of `right` are the first rows
// of `left`.
void Factor::multiply(const double* left, std::int64_t stride, std::int64_t height,
                      std::int64_t width, std::int64_t depth, const double* signs) {
    const std::int64_t columns = rounded_up(width, kColumns);
    const std::int64_t out_stride = rounded_up(height, 2 * kLanes);
    if (std::ssize(packed_) < columns * depth) packed_.resize(columns * depth);
    if (std::ssize(product_) < columns * out_stride) product_.resize(columns * out_stride);
    double* to = packed_.data();
    for (std::int64_t j = 0; j < width; j += kColumns)
        for (std::int64_t k = 0; k < depth; ++k)
            for (std::int64_t c = 0; c < kColumns; ++c, ++to)
                *to = j + c < width ? signs[k] * left[k * stride + j + c] : 0.0;
    with_lanes<MultiplyTiles>(left, stride, height, width, depth,
                              static_cast<const double*>(packed_.data()), product_.data(),
                              out_stride);
}

void Factor::place_entries(const Block& block, std::span<const double> values) {
    double* const L = values_.data() + block.values;
    std::fill_n(L, block.count * block.width, 0.0);
    for (std::int64_t k = 0; k < block.count; ++k)
        local_[block_rows_[block.rows + k]] = k;
    for (Index j = 0; j < block.width; ++j)
        for (std::int64_t e = begin_[block.first + j]; e < begin_[block.first + j + 1]; ++e)
            L[j * block.count + local_[rows_[e]]] = values[e];
}

// Subtracts what the rows of an earlier block from `first` on contribute to the columns of `to`,
// which are its rows before `last`.
void Factor::subtract(const Block& from, std::int64_t first, std::int64_t last, const Block& to) {
    const std::int64_t height = from.count - first, width = last - first;
    multiply(values_.data() + from.values + first, from.count, height, width, from.width,
             signs_.data() + from.first);
    const std::int64_t stride = rounded_up(height, 2 * kLanes);
    const Index* rows = block_rows_.data() + from.rows + first;
    for (std::int64_t j = 0; j < width; ++j) {
        double* column = values_.data() + to.values + (rows[j] - to.first) * to.count;
        for (std::int64_t i = j; i < height; ++i)
            column[local_[rows[i]]] -= product_[j * stride + i];
    }
}

// Factorises the columns of a block from which all earlier ones have been subtracted.
bool Factor::finish(const Block& block) {
    const std::int64_t count = block.count, width = block.width;
    double* const L = values_.data() + block.values;
    const double* const signs = signs_.data() + block.first;
    for (std::int64_t first = 0; first < width; first += kPanel) {
        const std::int64_t end = std::min(first + kPanel, width);
        if (first > 0) {
            multiply(L + first, count, count - first, end - first, first, signs);
            const std::int64_t stride = rounded_up(count - first, 2 * kLanes);
            for (std::int64_t j = first; j < end; ++j)
                for (std::int64_t i = j; i < count; ++i)
                    L[j * count + i] -= product_[(j - first) * stride + i - first];
        }
        for (std::int64_t j = first; j < end; ++j) {
            double* const column = L + j * count;
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

bool Factor::factorise(std::span<const double> values, std::span<const double> signs,
                       Interrupt& interrupt) {
    assert(values.size() == rows_.size() && signs.size() == order_.size());
    values_.resize(static_cast<std::size_t>(entries_) + kSlack);
    local_.resize(order_.size());
    signs_.assign(signs.begin(), signs.end());
    // Earlier blocks wait at the block that they contribute to next, with their first row in it.
    std::vector<Index> waiting(blocks_.size(), kNone), next(blocks_.size(), kNone);
    std::vector<std::int64_t> reached(blocks_.size());
    const auto wait = [&](Index b, std::int64_t row) {
        reached[b] = row;
        if (row == blocks_[b].count) return;
        const Index at = block_of_[block_rows_[blocks_[b].rows + row]];
        next[b] = waiting[at], waiting[at] = b;
    };
    for (Index b = 0; b < static_cast<Index>(blocks_.size()); ++b) {
        const Block& block = blocks_[b];
        place_entries(block, values);
        std::int64_t work = block.count * block.width * block.width;
        for (Index d = waiting[b]; d != kNone;) {
            const Index after = next[d];
            const Index* rows = block_rows_.data() + blocks_[d].rows;
            std::int64_t last = reached[d];
            while (last < blocks_[d].count && rows[last] < block.first + block.width)
                ++last;
            subtract(blocks_[d], reached[d], last, block);
            work += (blocks_[d].count - reached[d]) * (last - reached[d]) * blocks_[d].width;
            wait(d, last);
            d = after;
        }
        if (interrupt.poll(work) || !finish(block)) return false;
        wait(b, block.width);
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
