// A chunk of dense rows, for passes: sums over its columns and over its rows.
#pragma once

#include "rectiline/design/dense_rows.hpp"
#include "rectiline/passes/row_kernels.hpp"
#include "rectiline/passes/row_sums.hpp"
#include "rectiline/rooms.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::passes {

// Rows are used in place where they lie in one piece, are long enough, and fill groups; others are
// copied. Sums have the same bits either way, whatever the order of X.
template <class T>
class DenseChunk {
  public:
    explicit DenseChunk(const DenseView<T>& X)
        : X_(X),
          width_(std::max<std::int64_t>(X.d, kLanes)),
          sums_(static_cast<std::size_t>(X.d)) {}

    // `shares`: calls of `sums` that follow; each asks for a part of the next chunk.
    void load(std::int64_t first, std::int64_t count, int shares) {
        count_ = count, first_ = first;
        grouped_ = (count + kRowGroup - 1) / kRowGroup * kRowGroup;
        in_place_ = X_.rows_contiguous() && X_.d >= kLanes && grouped_ == count;
        ahead_ = {};
        if (!in_place_) return copy();
        const std::int64_t next = first + count;
        if (next + count > X_.n) return;
        ahead_.at = reinterpret_cast<const char*>(X_.row(next));
        ahead_.bytes = X_.row_stride * kRowGroup / shares * static_cast<std::int64_t>(sizeof(T));
    }
    template <Sum First, Sum Second = Sum::none>
    void sums(const SumOf& one, const SumOf& two = {}) {
        on_rows([&](const auto* x, std::int64_t stride) {
            row_sums<First, Second>(x, stride, grouped_, width_, one, two, ahead_);
        });
        ahead_.at += ahead_.bytes * (grouped_ / kRowGroup);
    }
    // q += X'g; what the chunk adds has a sum of its own.
    void add(const double* g, double* q) { add_chunk<Entry::plain>(g, q); }
    // sizes += |X|' weight
    void add_sizes(const double* weight, double* sizes) {
        add_chunk<Entry::absolute>(weight, sizes);
    }
    // Squared lengths of the products of directions with some rows.
    void squared_lengths(std::span<const int> rows, const Directions& directions,
                         double* squares) const {
        on_rows([&]<class Value>(const Value* x, std::int64_t stride) {
            const Value* group[kRowGroup];
            double found[kRowGroup];
            for (std::size_t first = 0; first < rows.size(); first += kRowGroup) {
                const std::size_t some = std::min<std::size_t>(kRowGroup, rows.size() - first);
                for (std::size_t r = 0; r < kRowGroup; ++r)
                    group[r] = x + rows[first + std::min(r, some - 1)] * stride;
                with_lanes<SquaredLengths>(static_cast<const Value* const*>(group), &directions,
                                           static_cast<double*>(found));
                std::copy(found, found + some, squares + first);
            }
        });
    }

  private:
    template <class Use>
    RECTILINE_INLINE void on_rows(Use&& use) const {
        if (in_place_)
            use(X_.row(first_), X_.row_stride);
        else
            use(copied_.data(), width_);
    }
    template <Entry kind>
    void add_chunk(const double* g, double* q) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        on_rows([&](const auto* x, std::int64_t stride) {
            add_rows<kind>(x, stride, count_, X_.d, g, sums_.data(), false);
        });
        for (std::size_t j = 0; j < sums_.size(); ++j)
            q[j] += sums_[j];
    }
    void copy() {
        copied_.assign(static_cast<std::size_t>(width_ * grouped_), 0.0);
        for (std::int64_t j = 0; j < X_.d; ++j)
            for (std::int64_t r = 0; r < count_; ++r)
                copied_[static_cast<std::size_t>(r * width_ + j)] =
                    static_cast<double>(X_.row(first_ + r)[j * X_.column_stride]);
    }

    const DenseView<T>& X_;
    std::int64_t width_, first_ = 0, count_ = 0, grouped_ = 0;
    bool in_place_ = false;
    Ahead ahead_;
    std::vector<double> copied_, sums_;
};

}  // namespace rectiline::passes
