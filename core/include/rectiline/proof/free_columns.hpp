// Columns of X that cost nothing, and an intercept: multipliers g have to balance on them, Z'g = 0
// with Z the free columns and a column of ones. Multipliers that do so up to rounding are found by
// balance_columns; that exact ones exist nearby is shown by exact_moves.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/support/interrupt.hpp"

#include <functional>
#include <optional>

namespace rectiline::proof {

// All columns of X are free; a column of ones comes last if there is an intercept.
struct FreeColumns {
    const DesignView& X;
    bool intercept;

    std::int64_t order() const { return n_columns(X) + (intercept ? 1 : 0); }
    void multiply(std::span<const double> x, std::span<double> z) const;
    void multiply_transposed(std::span<const double> g, std::span<double> image) const;
};

// Where each multiplier may be; ends may be infinite.
struct DualBoxes {
    std::span<const double> low, high;
};

// The change weight * (Z x) of g, where x solves the normal equations Z' diag(weight) Z x = right,
// whose matrix may be singular: (weight, right, change). False if there is none, or no time for it.
// Who holds a sparse Z supplies a function of his own.
using SolveNormal =
    std::function<bool(std::span<const double>, std::span<const double>, std::span<double>)>;

// By a matrix of the order of the columns, or of the rows where these are fewer.
SolveNormal dense_solver(const FreeColumns& Z, Interrupt& interrupt);

// Moves g inside its boxes until Z'g is nearly `target`, and returns the largest leftover relative
// to `size` + |z_j| |g|. Samples strictly inside their boxes sit on a kink of the loss, where
// moving their multiplier is free: corrections are least squares weighted by the squared distance
// to the box, clipped, and repeated without those that are pushed out of the box at its ends.
double balance_columns(const FreeColumns& Z, const SolveNormal& solve, DualBoxes boxes,
                       std::span<const double> column_norm, std::span<const double> target,
                       std::span<const double> size, std::span<double> g);

// How far some multipliers may move: row[k] by at most by[k].
struct Moves {
    std::vector<std::int64_t> row = {};
    std::vector<double> by = {};
};

// Bounds on how far multipliers have to move, inside their boxes, for an exact balance, where Z'g
// is known to be at most `left` in size; nothing if none were found. X must be dense.
//
// With a choice of rows and the room w_i in their boxes, let M = diag(w) Z with columns scaled to
// norm one, and r what is left, scaled likewise. d = diag(w) M u with M'M u = r balances exactly,
// and |M u|^2 = r'(M'M)^-1 r <= |r|^2 / lambda for the smallest eigenvalue lambda of M'M. Where
// columns are too nearly dependent for a bound on that, let P be a floating-point approximation of
// the pseudo-inverse of M, transposed. If |I - M'P| <= rho < 1 in the maximum norm, d = diag(w) P y
// with y = (M'P)^-1 r balances exactly, and |y - r| <= rho |r| / (1 - rho).
std::optional<Moves> exact_moves(const FreeColumns& Z, DualBoxes boxes, std::span<const double> g,
                                 std::span<const double> left);

// error_j += |x_j|' moves, rounded up: what the moves may change in X'g.
void add_moved_sizes(const DesignView& X, const Moves& moves, std::span<double> error);

}  // namespace rectiline::proof
