// Disjoint groups of columns and the penalty that charges the largest absolute value of each.
//
// Group g is columns[starts[g]] .. columns[starts[g + 1] - 1].
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>
#include <span>

namespace rectiline::prox {

struct Groups {
    std::span<const std::int64_t> columns, starts;
    std::int64_t count() const { return static_cast<std::int64_t>(starts.size()) - 1; }
};

// argmin_b |b - v|^2 / 2 + radius sum_g max_j |b_j|, in place on the grouped entries: every group
// is capped at the level t >= 0 with sum (|v_j| - t)+ = radius, at 0 if its total is below the
// radius.
void group_prox(const Groups& groups, double radius, std::span<double> v);

// out[a * n + i] = sum of signs_k X(i, columns_k) over atom a; dense views only.
void signed_sums(const DesignView& X, const Groups& atoms, std::span<const double> signs,
                 std::span<double> out);

}  // namespace rectiline::prox
