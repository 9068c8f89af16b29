// What passes need of dense rows besides sums over their columns: vectors of full width, and
// squared lengths of products with several directions.
#pragma once

#include "rectiline/design/row_sums.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/lanes.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

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
        columns.resize(static_cast<std::size_t>((d + 1) * width), 0.0);
        for (std::int64_t c = 0; c < count; ++c)
            for (std::int64_t j = 0; j < order; ++j)
                columns[static_cast<std::size_t>(j * width + c)] =
                    lines[static_cast<std::size_t>(c * order + j)];
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

}  // namespace rectiline::passes
