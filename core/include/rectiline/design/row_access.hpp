// Row access for coordinate methods: dot(slot, i, b) and axpy(slot, i, a, v) for row i, which is
// the slot-th row of the block announced by load(). Rows that are contiguous are used in place;
// rows of a column-major matrix are gathered block by block, so that X is never copied as a whole.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::design {

constexpr std::int64_t kRowBlock = 64;  // small enough that this block and the next stay in cache

// What both kinds of dense rows do once they know where a row is.
template <class Rows>
struct DenseAccess {
    RECTILINE_INLINE double dot(std::int64_t slot, std::int64_t i, const double* b) const {
        return rectiline::support::dot(self().row(slot, i), b, self().X.d);
    }
    RECTILINE_INLINE void axpy(std::int64_t slot, std::int64_t i, double a, double* v) const {
        rectiline::support::axpy(a, self().row(slot, i), v, self().X.d);
    }
    template <class Visit>
    RECTILINE_INLINE void for_each(std::int64_t slot, std::int64_t i, Visit&& visit) const {
        const auto* x = self().row(slot, i);
        for (std::int64_t j = 0; j < self().X.d; ++j)
            visit(j, static_cast<double>(x[j]));
    }
    std::int64_t length(std::int64_t) const { return self().X.d; }

  private:
    RECTILINE_INLINE const Rows& self() const { return static_cast<const Rows&>(*this); }
};

template <class T>
struct ContiguousRows : DenseAccess<ContiguousRows<T>> {
    DenseView<T> X;

    explicit ContiguousRows(const DenseView<T>& X) : X(X) {}
    void reserve() {}
    RECTILINE_INLINE void load(std::span<const std::int64_t>) {}
    RECTILINE_INLINE void prefetch(std::int64_t i) const { X.prefetch_row(i); }
    RECTILINE_INLINE const T* row(std::int64_t, std::int64_t i) const { return X.row(i); }
};

template <class T>
struct GatheredRows : DenseAccess<GatheredRows<T>> {
    DenseView<T> X;
    std::vector<double> block;

    explicit GatheredRows(const DenseView<T>& X) : X(X) {}
    void reserve() { block.resize(static_cast<std::size_t>(kRowBlock * X.d)); }
    void load(std::span<const std::int64_t> rows) {
        const std::int64_t count = std::ssize(rows);
        for (std::int64_t j = 0; j < X.d; ++j) {
            const T* column = X.data + j * X.column_stride;
            for (std::int64_t k = 0; k < count; ++k)
                block[k * X.d + j] = static_cast<double>(column[rows[k] * X.row_stride]);
        }
    }
    RECTILINE_INLINE void prefetch(std::int64_t) const {}
    RECTILINE_INLINE const double* row(std::int64_t slot, std::int64_t) const {
        return block.data() + slot * X.d;
    }
};

template <class T, class I>
struct SparseRows {
    SparseView<T, I> X;  // by rows

    explicit SparseRows(const SparseView<T, I>& X) : X(X) {}
    void reserve() {}
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
    return std::visit(
        [&]<class View>(const View& view) {
            if constexpr (requires { view.row_stride; }) {
                if (view.rows_contiguous()) {
                    ContiguousRows rows(view);
                    return use(rows);
                }
                GatheredRows rows(view);
                return use(rows);
            } else {
                SparseRows rows(view);
                return use(rows);
            }
        },
        X);
}

}  // namespace rectiline::design
