// Columns of X that cost nothing, and an intercept: multipliers g have to balance on them, Z'g = 0
// with Z the free columns and a column of ones. Multipliers that do so up to rounding are found by
// balance_columns; that exact ones exist nearby is shown by balancing_move.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>
#include <span>

namespace rectiline::proof {

// Most columns, the one of ones included, that the plain loops here are made for.
inline constexpr std::int64_t kMostFree = 32;

struct FreeColumns {
    const DesignView& X;  // dense
    std::span<const std::int64_t> columns;
    bool intercept;

    std::int64_t order() const { return std::ssize(columns) + (intercept ? 1 : 0); }
};

// Where each multiplier may be; ends may be infinite.
struct DualBoxes {
    std::span<const double> low, high;
};

// Moves g inside its boxes until Z'g is nearly `target`, and returns the largest leftover relative
// to `size` + |z_j| |g|. Samples strictly inside their boxes sit on a kink of the loss, where
// moving their multiplier is free: corrections are least squares weighted by the squared distance
// to the box, clipped, and repeated.
double balance_columns(const FreeColumns& Z, DualBoxes boxes, std::span<const double> column_norm,
                       std::span<const double> target, std::span<const double> size,
                       std::span<double> g);

// Sets `move` to a bound on how far each multiplier has to move, inside its box, for an exact
// balance, where Z'g is known to be at most `left` in size. Returns false if none was found.
//
// With a choice of rows and the room w_i in their boxes, let M = diag(w) Z and P a floating-point
// approximation of its pseudo-inverse, transposed. If |I - M'P| <= rho < 1 in the maximum norm,
// d = diag(w) P y with y = (M'P)^-1 left balances exactly, and |y| <= |left| / (1 - rho).
bool balancing_move(const FreeColumns& Z, DualBoxes boxes, std::span<const double> g,
                    std::span<const double> left, std::span<double> move);

}  // namespace rectiline::proof
