#include "rectiline/design/design_block.hpp"

#include "rectiline/design/row_chunks.hpp"

namespace rectiline::design {
namespace {

template <bool centred, class T, class Out>
RECTILINE_MULTIVERSION void copy_row(const T* x, std::int64_t column_stride, const BlockOf& block,
                                     double row_factor, Out* out) {
    const std::int64_t *columns = block.columns.data(), n_columns = std::ssize(block.columns);
    const double *centre = block.centre.data(), *factor = block.factor.data();
#pragma omp simd
    for (std::int64_t j = 0; j < n_columns; ++j) {
        const double v = static_cast<double>(x[columns[j] * column_stride]);
        const double moved = centred ? v - centre[j] : v;
        out[j] = static_cast<Out>(moved * (factor[j] * row_factor));
    }
}

template <class Out>
void copy_part(const DesignView& X, const BlockOf& block, std::int64_t stride, Out* out) {
    std::visit(
        [&]<class View>(const View& view) {
            if constexpr (requires { view.row_stride; })
                for (std::int64_t i = 0; i < std::ssize(block.rows); ++i) {
                    const auto* x = view.row(block.rows[i]);
                    const double scale = block.row_factor.empty() ? 1.0 : block.row_factor[i];
                    if (block.centre.empty())
                        copy_row<false>(x, view.column_stride, block, scale, out + i * stride);
                    else
                        copy_row<true>(x, view.column_stride, block, scale, out + i * stride);
                }
        },
        X);
}

template <class Out>
void copy_whole_rows(const DesignView& X, std::span<const std::int64_t> rows, Out* out) {
    std::visit(
        [&]<class View>(const View& view) {
            if constexpr (requires { view.row_stride; }) {
                const std::int64_t n = std::ssize(rows), d = view.d;
                over_rows(n, kRowsAhead * n * d, [&](std::int64_t first, std::int64_t last) {
                    for (std::int64_t i = first; i < last; ++i) {
                        if (i + kRowsAhead < last) view.prefetch_row(rows[i + kRowsAhead]);
                        for (std::int64_t j = 0; j < d; ++j)
                            out[i * d + j] =
                                static_cast<Out>(view.row(rows[i])[j * view.column_stride]);
                    }
                });
            }
        },
        X);
}

}  // namespace

void copy_rows(const DesignView& X, std::span<const std::int64_t> rows, double* out) {
    copy_whole_rows(X, rows, out);
}

void copy_rows(const DesignView& X, std::span<const std::int64_t> rows, float* out) {
    copy_whole_rows(X, rows, out);
}

void copy_block(const DesignView& X, const BlockOf& block, std::int64_t stride, double* out) {
    copy_part(X, block, stride, out);
}

void copy_block(const DesignView& X, const BlockOf& block, std::int64_t stride, float* out) {
    copy_part(X, block, stride, out);
}

}  // namespace rectiline::design
