// Dense rows that lie column by column.
#pragma once

#include "rectiline/design/design.hpp"

namespace rectiline::passes {

// Copies `Width` columns side by side: neighbours in a row are written together.
template <int Width, class Column, class T>
RECTILINE_INLINE void copy_group(const Column& column, std::int64_t step, std::int64_t j,
                                 std::int64_t count, std::int64_t d, T* out) {
    const T* from[Width];
    for (int k = 0; k < Width; ++k)
        from[k] = column(j + k);
    out += j;
    for (std::int64_t r = 0; r < count; ++r, out += d)
        for (int k = 0; k < Width; ++k)
            out[k] = from[k][r * step];
}

// Copies rows that lie column by column: out[r * d + j] = column(j)[r * step].
template <class Column, class T>
RECTILINE_INLINE void copy_columns(const Column& column, std::int64_t step, std::int64_t count,
                                   std::int64_t d, T* out) {
    std::int64_t j = 0;
    for (; j + 8 <= d; j += 8)
        copy_group<8>(column, step, j, count, d, out);
    for (; j + 4 <= d; j += 4)
        copy_group<4>(column, step, j, count, d, out);
    for (; j < d; ++j)
        copy_group<1>(column, step, j, count, d, out);
}

}  // namespace rectiline::passes
