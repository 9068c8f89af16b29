// One pass over a block of rows, for several members of a family of problems on the same X.
//
// Far rows are frozen on the piece of their loss that they are on at the coefficients `split`. A
// frozen row has the slope of its piece, continued to wherever the candidate takes it and clipped
// into the range of slopes of the loss; that slope is its multiplier. Rows that are listed carry
// multipliers of their own and are left out. The pass adds up what a certificate needs to know
// about the frozen rows at the candidate, and prepares the next split around the candidate: which
// rows are near a knot, and by how much gradient and curvature of the frozen rows change.
//
// All sums are float64 for float32 data too, and have the same bits for any number of threads.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/interrupt.hpp"

#include <array>

namespace rectiline::passes {

// What one member wants to know. Arrays belong to the caller.
struct Member {
    RowFunctions rows;

    std::span<const double> coef;  // d: the candidate, and the centre of the next split
    double intercept;
    bool has_intercept;

    // The pair to be evaluated, if asked for; otherwise no row is frozen.
    bool evaluates = false;
    std::span<const double> split;  // d: where rows were frozen
    double split_intercept = 0;
    std::span<const std::int64_t> listed;  // sorted rows that are not frozen
    std::span<double> out;  // n or none: receives multipliers of frozen rows, 0 for listed ones

    // The next split. A row is near if it lies within reach * |directions x| of a knot, or has
    // crossed one. The square of that length is at most
    // least + sum_j (scale_j (x_j - mean_j))^2, which is quicker to compute: only rows within reach
    // of that bound are looked at closely.
    bool splits = false;
    std::span<const std::int64_t> always;  // sorted rows that are near in any case
    double reach = 0, least = 0;
    std::span<const double> scale;       // d
    std::span<const double> mean;        // d; zeros for sparse X
    std::span<const double> directions;  // lines of d entries, one more if there is an intercept
};

// The sums that are numbers.
enum RowSum : std::size_t {
    kLoss,
    kGap,          // of the Fenchel-Young terms, an upper bound whatever the rounding
    kError,        // of weight * bound on the error of an argument
    kTotal,        // of the multipliers
    kTotalSize,    // of their sizes
    kWeight,       // of the weights
    kChangeTotal,  // change of the sum of slopes of frozen rows, at the next split
    kRowSums
};
using RowSums = std::array<double, kRowSums>;

struct Sums {
    RowSums rows{};
    double steepest = 0;             // largest size of a slope per unit of weight
    std::vector<double> gradient;    // d: X' times the multipliers
    std::vector<double> change;      // d: of X' times those slopes, at the next split
    std::vector<double> curvature;   // (d + intercept)^2: change of X' diag(curvatures) X; or empty
    std::vector<std::int64_t> near;  // rows of the block
};

// Returns false if it was interrupted.
bool run_pass(const design::DesignView& X, std::span<const Member> members, Interrupt& interrupt,
              std::vector<Sums>& out);

}  // namespace rectiline::passes
