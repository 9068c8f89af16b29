// A chunk of compressed sparse rows, for passes: sums over its columns and over its rows.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/passes/row_kernels.hpp"
#include "rectiline/passes/row_sums.hpp"
#include "rectiline/rooms.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::passes {

template <class T, class I>
class SparseChunk {
  public:
    explicit SparseChunk(const SparseView<T, I>& X) : X_(X), sums_(static_cast<std::size_t>(X.d)) {}

    void load(std::int64_t first, std::int64_t count, int) { first_ = first, count_ = count; }
    template <Sum First, Sum Second = Sum::none>
    void sums(const SumOf& one, const SumOf& two = {}) const {
        for (std::int64_t r = 0; r < count_; ++r) {
            add_up<First>(r, one);
            add_up<Second>(r, two);
        }
    }
    // q += X'g; what the chunk adds has a sum of its own, unless it is little.
    void add(const double* g, double* q) {
        constexpr std::int64_t kFew = 16;
        if (std::count_if(g, g + count_, [](double v) { return v != 0; }) <= kFew)
            return add_lines(g, q);
        std::fill(sums_.begin(), sums_.end(), 0.0);
        add_lines(g, sums_.data());
        for (std::size_t j = 0; j < sums_.size(); ++j)
            q[j] += sums_[j];
    }
    // sizes += |X|' weight
    void add_sizes(const double* weight, double* sizes) const {
        for (std::int64_t r = 0; r < count_; ++r)
            sparse_axpy<Entry::absolute>(weight[r], line(r), sizes);
    }
    // Squared lengths of the products of directions with some rows.
    void squared_lengths(std::span<const int> rows, const Directions& directions, double* squares) {
        const std::int64_t d = directions.d, width = directions.width;
        const double* columns = directions.columns.data();
        for (std::size_t k = 0; k < rows.size(); ++k) {
            moved_.assign(columns + d * width, columns + (d + 1) * width);
            const SparseLine<T, I> row = line(rows[k]);
            for (std::int64_t e = 0; e < row.size(); ++e)
                axpy(static_cast<double>(row.values[static_cast<std::size_t>(e)]),
                     columns + row.indices[static_cast<std::size_t>(e)] * width, moved_.data(),
                     width);
            squares[k] = dot(moved_.data(), moved_.data(), width);
        }
    }

  private:
    SparseLine<T, I> line(std::int64_t r) const { return X_.line(first_ + r); }
    void add_lines(const double* g, double* q) const {
        for (std::int64_t r = 0; r < count_; ++r)
            if (g[r] != 0) sparse_axpy(g[r], line(r), q);
    }
    template <Sum Kind>
    void add_up(std::int64_t r, const SumOf& of) const {
        if constexpr (Kind == Sum::product) of.out[r] = sparse_dot(line(r), of.v) + of.start;
        if constexpr (Kind == Sum::absolute)
            of.out[r] = sparse_dot<Entry::absolute>(line(r), of.v) + of.start;
        if constexpr (Kind == Sum::square) {
            of.out[r] = of.start;
            for (I k = X_.pointers[first_ + r]; k < X_.pointers[first_ + r + 1]; ++k) {
                const I j = X_.indices[k];
                const double part = static_cast<double>(X_.values[k]) * of.v[j] + of.u[j];
                of.out[r] += part * part;
            }
        }
    }

    const SparseView<T, I>& X_;
    std::int64_t first_ = 0, count_ = 0;
    std::vector<double> sums_;   // of a chunk
    std::vector<double> moved_;  // product of directions with a row
};

}  // namespace rectiline::passes
