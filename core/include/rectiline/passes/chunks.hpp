// A chunk of dense rows, for passes: sums over its columns and over its rows.
#pragma once

#include "rectiline/design/dense_rows.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/passes/row_kernels.hpp"
#include "rectiline/support/lanes.hpp"

namespace rectiline::passes {

// A vector with an entry per column, with zeros up to the shortest rows that are summed.
inline std::vector<double> padded(std::span<const double> v) {
    std::vector<double> filled(v.begin(), v.end());
    filled.resize(std::max<std::size_t>(v.size(), kLanes), 0.0);
    return filled;
}

// The matrix (directions) that rows are multiplied by, column by column, padded to full lanes.
struct Directions {
    std::int64_t d = 0, width = 0;
    std::vector<double> columns;  // one more, if there is an intercept; else zeros

    Directions() = default;
    Directions(std::span<const double> lines, std::int64_t d, bool intercept) : d(d) {
        const std::int64_t order = d + (intercept ? 1 : 0), count = std::ssize(lines) / order;
        width = (count + kLanes - 1) / kLanes * kLanes;
        columns.resize((d + 1) * width, 0.0);
        for (std::int64_t c = 0; c < count; ++c)
            for (std::int64_t j = 0; j < order; ++j)
                columns[j * width + c] = lines[c * order + j];
    }
};

// Squared lengths of the products of directions with kRowGroup rows.
struct SquaredLengths {
    template <class Lanes, class T>
    static RECTILINE_INLINE void run(const T* const* rows, const Directions* directions,
                                     double* squares) {
        const std::int64_t d = directions->d, width = directions->width;
        const double* columns = directions->columns.data();
        Lanes sum[kRowGroup];
        for (int r = 0; r < kRowGroup; ++r)
            sum[r].clear();
        for (std::int64_t c = 0; c < width; c += kLanes) {
            Lanes moved[kRowGroup], v;
            v.load(columns + d * width + c);
            for (int r = 0; r < kRowGroup; ++r)
                moved[r] = v;
            for (std::int64_t j = 0; j < d; ++j) {
                v.load(columns + j * width + c);
                for (int r = 0; r < kRowGroup; ++r)
                    moved[r].add_product(static_cast<double>(rows[r][j]), v);
            }
            for (int r = 0; r < kRowGroup; ++r)
                sum[r].add_product(moved[r], moved[r]);
        }
        store_sums(sum, squares);
    }
};

// Rows are used in place where they lie in one piece, are long enough, and fill groups; others are
// copied. Sums have the same bits either way, whatever the order of X.
template <class T>
class DenseChunk {
  public:
    explicit DenseChunk(const DenseView<T>& X)
        : X_(X), width_(std::max<std::int64_t>(X.d, kLanes)), sums_(X.d) {}

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
    void add(const double* g, double* q) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        on_rows([&](const auto* x, std::int64_t stride) {
            add_rows<Entry::plain>(x, stride, count_, X_.d, g, sums_.data(), false);
        });
        for (std::size_t j = 0; j < sums_.size(); ++j)
            q[j] += sums_[j];
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
    void copy() {
        copied_.assign(width_ * grouped_, 0.0);
        for (std::int64_t j = 0; j < X_.d; ++j)
            for (std::int64_t r = 0; r < count_; ++r)
                copied_[r * width_ + j] =
                    static_cast<double>(X_.row(first_ + r)[j * X_.column_stride]);
    }

    const DenseView<T>& X_;
    std::int64_t width_, first_ = 0, count_ = 0, grouped_ = 0;
    bool in_place_ = false;
    Ahead ahead_;
    std::vector<double> copied_, sums_;
};

template <class T, class I>
class SparseChunk {
  public:
    explicit SparseChunk(const SparseView<T, I>& X) : X_(X), sums_(X.d) {}

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
    // Squared lengths of the products of directions with some rows.
    void squared_lengths(std::span<const int> rows, const Directions& directions, double* squares) {
        const std::int64_t d = directions.d, width = directions.width;
        const double* columns = directions.columns.data();
        for (std::size_t k = 0; k < rows.size(); ++k) {
            moved_.assign(columns + d * width, columns + (d + 1) * width);
            const SparseLine<T, I> row = line(rows[k]);
            for (std::int64_t e = 0; e < row.size(); ++e)
                axpy(static_cast<double>(row.values[e]), columns + row.indices[e] * width,
                     moved_.data(), width);
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
