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

// totals[g] = sum of |values_j| over the group.
void group_totals(const Groups& groups, std::span<const double> values, std::span<double> totals);

// largest[g] = the largest |values_j| of the group.
void group_largest(const Groups& groups, std::span<const double> values, std::span<double> largest);

// What separates coef and q from being a pair, as a sum of terms that are never negative:
//
//     sum_g  sum_j (|q_j| M_g - q_j b_j)  +  (strength - sum_j |q_j|)+ M_g,     M_g = max_j |b_j|
double group_fenchel_young(const Groups& groups, double strength, std::span<const double> coef,
                           std::span<const double> q);

// argmin_b |b - v|^2 / 2 + radius sum_g max_j |b_j|, in place on the grouped entries: every group
// is capped at the level t >= 0 with sum (|v_j| - t)+ = radius, at 0 if its total is below the
// radius.
void group_prox(const Groups& groups, double radius, std::span<double> v);

// out[a * n + i] = sum of signs_k X(i, columns_k) over atom a; dense views only.
void signed_sums(const DesignView& X, const Groups& atoms, std::span<const double> signs,
                 std::span<double> out);

}  // namespace rectiline::prox
