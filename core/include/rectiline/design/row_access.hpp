// Row access for coordinate methods: dot(slot, i, b) and axpy(slot, i, a, v) for row i, which is
// the slot-th row of the block announced by load(). Rows that are contiguous are used in place;
// rows of a column-major matrix are gathered block by block, so that X is never copied as a whole.
#pragma once

#include "rectiline/design/design.hpp"

namespace rectiline::design {

constexpr std::int64_t kRowBlock = 64;  // small enough that this block and the next stay in cache

template <class T>
struct DenseRows {
    DenseView<T> X;
    bool in_place;
    std::vector<double> block;  // of rows that are gathered

    explicit DenseRows(const DenseView<T>& X)
        : X(X), in_place(X.rows_contiguous()), block(in_place ? 0 : kRowBlock * X.d) {}
    RECTILINE_INLINE void load(std::span<const std::int64_t> rows) {
        if (in_place) return;
        const std::int64_t count = std::ssize(rows);
        for (std::int64_t j = 0; j < X.d; ++j) {
            const T* column = X.data + j * X.column_stride;
            for (std::int64_t k = 0; k < count; ++k)
                block[k * X.d + j] = static_cast<double>(column[rows[k] * X.row_stride]);
        }
    }
    RECTILINE_INLINE void prefetch(std::int64_t i) const { X.prefetch_row(i); }
    RECTILINE_INLINE double dot(std::int64_t slot, std::int64_t i, const double* b) const {
        return on_row(slot, i, [&](const auto* x) RECTILINE_INLINE_LAMBDA {
            return support::dot(x, b, X.d);
        });
    }
    RECTILINE_INLINE void axpy(std::int64_t slot, std::int64_t i, double a, double* v) const {
        on_row(slot, i,
               [&](const auto* x) RECTILINE_INLINE_LAMBDA { support::axpy(a, x, v, X.d); });
    }
    template <class Visit>
    RECTILINE_INLINE void for_each(std::int64_t slot, std::int64_t i, Visit&& visit) const {
        on_row(slot, i, [&](const auto* x) RECTILINE_INLINE_LAMBDA {
            for (std::int64_t j = 0; j < X.d; ++j)
                visit(j, static_cast<double>(x[j]));
        });
    }
    std::int64_t length(std::int64_t) const { return X.d; }

  private:
    template <class Use>
    RECTILINE_INLINE auto on_row(std::int64_t slot, std::int64_t i, const Use& use) const {
        return in_place ? use(X.row(i)) : use(block.data() + slot * X.d);
    }
};

template <class T, class I>
struct SparseRows {
    SparseView<T, I> X;  // by rows

    explicit SparseRows(const SparseView<T, I>& X) : X(X) {}
    RECTILINE_INLINE void load(std::span<const std::int64_t>) {}
    RECTILINE_INLINE void prefetch(std::int64_t i) const {
        RECTILINE_PREFETCH(X.values + X.pointers[i]);
        RECTILINE_PREFETCH(X.indices + X.pointers[i]);
    }
    RECTILINE_INLINE double dot(std::int64_t, std::int64_t i, const double* b) const {
        return sparse_dot(X.line(i), b);
    }
    RECTILINE_INLINE void axpy(std::int64_t, std::int64_t i, double a, double* v) const {
        sparse_axpy(a, X.line(i), v);
    }
    template <class Visit>
    RECTILINE_INLINE void for_each(std::int64_t, std::int64_t i, Visit&& visit) const {
        for (I k = X.pointers[i]; k < X.pointers[i + 1]; ++k)
            visit(static_cast<std::int64_t>(X.indices[k]), static_cast<double>(X.values[k]));
    }
    std::int64_t length(std::int64_t i) const { return X.line(i).size(); }
};

// Calls use(rows) with the accessor that fits the view. Sparse views must be by rows.
template <class Use>
auto with_row_access(const DesignView& X, Use&& use) {
    return with_access<DenseRows, SparseRows>(X, use);
}

}  // namespace rectiline::design
