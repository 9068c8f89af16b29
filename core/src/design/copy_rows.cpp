#include "rectiline/design/copy_rows.hpp"

#include "rectiline/design/row_chunks.hpp"

namespace rectiline::design {

template <class Out>
void copy_rows(const DesignView& X, std::span<const std::int64_t> rows, Out* out) {
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

template void copy_rows(const DesignView&, std::span<const std::int64_t>, double*);
template void copy_rows(const DesignView&, std::span<const std::int64_t>, float*);

}  // namespace rectiline::design
