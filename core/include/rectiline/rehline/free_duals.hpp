// A Newton step on the free duals of coordinate ascent (rehline.hpp), by projected conjugate
// gradients.
//
// Once the sweeps have found which rows sit on a kink or a curved piece (the free set F), the dual
// restricted to F is a quadratic: with N = rows of F times their directions and M = d b / d q,
//
//     minimise over delta   sum_k gradient_k delta_k + (1/2) delta' (H + N M N' + t0 e e') delta
//
// where H holds the curvature of the conjugates (0 on a kink), M masks columns that an l1 term or a
// bound holds, and the last term is the intercept's. Jacobi-preconditioned conjugate gradients
// solve it; the step is clipped to the pieces, landing exactly on their ends, and halved until the
// dual improves. The dual never falls, so the step cannot do harm.

#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/conjugate_gradients.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::rehline {

struct FreeDualStep {
    std::int64_t n_free;      // size of F
    std::int64_t iterations;  // of conjugate gradients
    std::int64_t n_clipped;   // duals that ran into the end of their piece
    bool improved;
    double balance_change;  // change of sum_i g_i
};

class FreeDuals {
  public:
    // t0 is the intercept's step (0: none).
    FreeDuals(const DesignView& X, const RowFunctions& rows, const ColumnFunctions& columns,
              double t0)
        : X_(X), rows_(rows), columns_(columns), t0_(t0) {}

    // How many of the given rows have a free dual.
    std::int64_t count(std::span<const std::int64_t> active, std::span<const double> a) const;

    // Moves `a` (slopes times weights) of the given rows, and q with it. coef = grad h*(q) on entry
    // and on return. An interrupt ends the conjugate gradients early; the step is taken all the
    // same where it improves the dual.
    FreeDualStep step(std::span<const std::int64_t> active, double intercept,
                      std::int64_t max_iterations, std::span<double> a, std::span<double> q,
                      std::span<double> coef, Interrupt& interrupt);

  private:
    bool collect(std::span<const std::int64_t> active, double intercept, std::span<const double> a,
                 std::span<const double> coef, Interrupt& interrupt);
    void multiply(std::span<const double> move, std::span<double> image);
    std::int64_t find_direction(std::int64_t max_iterations, Interrupt& interrupt);

    DesignView X_;
    RowFunctions rows_;
    ColumnFunctions columns_;
    double t0_;

    // Buffers, kept between calls.
    std::vector<std::int64_t> free_, column_of_, slot_of_, pointer_, index_;
    std::vector<double> value_, column_weight_;
    std::vector<double> low_, high_, curvature_, gradient_;
    std::vector<double> delta_, descent_, diagonal_, column_image_;
    ConjugateGradients solver_;
    std::vector<double> trial_, dq_;
};

}  // namespace rectiline::rehline
