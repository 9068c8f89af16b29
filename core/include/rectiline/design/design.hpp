// Views of a design matrix X (n x d): dense with any strides, or compressed sparse by rows or
// columns. Views own nothing; the caller keeps the arrays alive.
#pragma once

#include "rectiline/support/vectors.hpp"

#include <variant>

namespace rectiline::design {

// Asks for `bytes` of memory that will be read soon. Rows picked here and there, or several rows
// read side by side, are not recognised by the hardware as one stream.
RECTILINE_INLINE void prefetch_bytes(const void* from, std::int64_t bytes) {
    constexpr std::int64_t kLine = 64;
    const char* start = static_cast<const char*>(from);
    for (std::int64_t at = 0; at < bytes; at += kLine)
        RECTILINE_PREFETCH(start + at);
}

template <class T>
struct DenseView {
    const T* data;
    std::int64_t n, d;
    std::int64_t row_stride, column_stride;  // in elements

    const T* row(std::int64_t i) const { return data + i * row_stride; }
    const T* column(std::int64_t j) const { return data + j * column_stride; }
    bool rows_contiguous() const { return column_stride == 1 || d <= 1; }
    std::int64_t n_stored() const { return n * d; }
    // Asks for a row that will be read soon, where it lies in one piece.
    void prefetch_row(std::int64_t i) const {
        if (rows_contiguous()) prefetch_bytes(row(i), d * static_cast<std::int64_t>(sizeof(T)));
    }
};

constexpr std::int64_t kRowsAhead = 8;  // how far ahead picked rows are asked for

// One row or column of a compressed matrix: its entries, and where they are.
template <class T, class I>
struct SparseLine {
    std::span<const T> values;
    std::span<const I> indices;

    std::int64_t size() const { return std::ssize(values); }
};

template <class T, class I>
struct SparseView {
    const T* values;
    const I* indices;
    const I* pointers;  // n + 1 of them by rows, d + 1 by columns
    std::int64_t n, d;
    bool by_rows;

    std::int64_t n_lines() const { return by_rows ? n : d; }
    std::int64_t n_stored() const { return static_cast<std::int64_t>(pointers[n_lines()]); }
    RECTILINE_INLINE SparseLine<T, I> line(std::int64_t i) const {
        const I start = pointers[i];
        const auto count = static_cast<std::size_t>(pointers[i + 1] - start);
        return {{values + start, count}, {indices + start, count}};
    }
};

using DesignView = std::variant<DenseView<double>, DenseView<float>,
                                SparseView<double, std::int32_t>, SparseView<double, std::int64_t>,
                                SparseView<float, std::int32_t>, SparseView<float, std::int64_t>>;

inline std::int64_t n_rows(const DesignView& X) {
    return std::visit([](const auto& view) { return view.n; }, X);
}
inline std::int64_t n_columns(const DesignView& X) {
    return std::visit([](const auto& view) { return view.d; }, X);
}
inline std::int64_t n_stored(const DesignView& X) {
    return std::visit([](const auto& view) { return view.n_stored(); }, X);
}

// Calls use(access) with what looks at a view in some way: Dense<T> or Sparse<T, I>, made from it.
template <template <class> class Dense, template <class, class> class Sparse, class Use>
auto with_access(const DesignView& X, Use&& use) {
    return std::visit(
        [&]<class View>(const View& view) {
            if constexpr (requires { view.row_stride; }) {
                Dense access(view);
                return use(access);
            } else {
                Sparse access(view);
                return use(access);
            }
        },
        X);
}

// What a product takes of each entry of X.
enum class Entry { plain, absolute, square };

template <Entry kind, class T>
RECTILINE_INLINE double entry(T x) {
    const double v = static_cast<double>(x);
    if constexpr (kind == Entry::plain)
        return v;
    else
        return kind == Entry::square ? v * v : std::fabs(v);
}

template <Entry kind = Entry::plain, class T, class I>
RECTILINE_INLINE double sparse_dot(const SparseLine<T, I>& line, const double* b) {
    const T* x = line.values.data();
    const I* index = line.indices.data();
    const std::int64_t count = line.size();
    double even = 0.0, odd = 0.0;
    std::int64_t k = 0;
    for (; k + 1 < count; k += 2) {
        even += entry<kind>(x[k]) * b[index[k]];
        odd += entry<kind>(x[k + 1]) * b[index[k + 1]];
    }
    if (k < count) even += entry<kind>(x[k]) * b[index[k]];
    return even + odd;
}

template <Entry kind = Entry::plain, class T, class I>
RECTILINE_INLINE void sparse_axpy(double a, const SparseLine<T, I>& line, double* v) {
    const T* x = line.values.data();
    const I* index = line.indices.data();
    const std::int64_t count = line.size();
    for (std::int64_t k = 0; k < count; ++k)
        v[index[k]] += a * entry<kind>(x[k]);
}

}  // namespace rectiline::design
