// Dual coordinate ascent for the rectified program: the ReHLine algorithm.
//
//   primal   min_b   sum_i f_i(x_i'b + b0) + sum_j h_j(b_j)   subject to  a_k'b + c_k >= 0 (or = 0)
//   dual     max     -sum_i f_i*(g_i) - xi'c - sum_j h_j*(q_j),   q = A'xi - X'g,  xi_k >= 0 (or
//   free)
//
// with h_j strongly convex (rho_j > 0). The method keeps b = grad h*(q) while one dual coordinate
// moves. Source: Dai and Qiu, "ReHLine: regularized composite ReLU-ReHU loss minimization with
// linear computation and linear convergence", NeurIPS 2023, Algorithms 1-3. Departures here:
//  - one exact step per *sample*: all units of a row move together, by the slope of the Moreau
//    envelope of f_i (one dot product and one update instead of one pair per unit);
//  - l1 and bounds enter through b = grad h*(q), not through extra rows; where that map is not
//    linear the step uses its Lipschitz constant 1/rho_j, so the dual still never falls;
//  - blocks of rows in random order, each read from a random row on, forwards or backwards;
//    constraints are swept between blocks;
//  - an unpenalised intercept by the method of multipliers: b0 = center - t0 sum(g), center moved
//    to b0 after each sweep;
//  - a lower bound of the gap is summed while sweeping and scaled up to an estimate, so that a
//    certificate is asked for when it is likely to pass (the estimate proves nothing);
//  - when many sweeps seem to be left, projected conjugate gradients on the free duals
//    (FreeDuals);
//  - rows are set aside by shrinking (a heuristic, undone before returning) and by gap-safe
//    screening (a proof, kept).
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/conjugate_gradients.hpp"
#include "rectiline/support/interrupt.hpp"
#include "rectiline/support/random.hpp"

namespace rectiline::rehline {

// ---- free duals ---------------------------------------------------------------------------------

// A Newton step on the free duals of coordinate ascent, by projected conjugate gradients.
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

// ---- the method ---------------------------------------------------------------------------------

// Linear constraints A b + c >= 0, with equality where `equality` is set.
struct LinearConstraints {
    DesignView A;
    std::span<const double> c;
    std::span<const std::uint8_t> equality;
};

struct RehlineProgress {
    std::int64_t sweeps;    // done in this call
    double gap;             // estimate: Fenchel-Young terms met during the last sweep
    double objective;       // estimate of the primal value during the last full sweep
    std::int64_t n_active;  // rows visited by the last sweep
    std::int64_t visits;    // rows visited in this call
    bool reached;           // gap estimate over all rows is at most the target
    bool interrupted;
};

// The dual coordinate of some row or constraint moved: q += step * row, b = grad h*(q).
struct DualMove {
    ColumnFunctions columns;
    std::span<double> q, coef;
    double inverse_rho;  // used when the columns are plain

    template <class Rows>
    RECTILINE_INLINE void operator()(const Rows& access, std::int64_t slot, std::int64_t i,
                                     double step) const {
        if (columns.plain) {  // b = q / rho: q itself is not needed
            access.axpy(slot, i, step * inverse_rho, coef.data());
            return;
        }
        access.for_each(slot, i, [this, step](std::int64_t j, double x) {
            q[j] += step * x;
            coef[j] = columns[j].minimiser(q[j]);
        });
    }
};

struct RehlineOptions {
    bool shuffle = true;        // blocks in random order; false: cyclic
    bool accelerate = false;    // conjugate gradients on the free duals when sweeps are slow
    bool shrink = true;         // set rows aside that sit still far from every knot
    double intercept_step = 0;  // t0 of the method of multipliers; 0: no intercept
    std::uint64_t seed = 0;
};

class Rehline {
  public:
    // The views must outlive the object.
    Rehline(DesignView X, RowFunctions rows, ColumnFunctions columns, LinearConstraints constraints,
            RehlineOptions options);

    // Sets the dual point (g per row, xi per constraint; an empty one stays) and everything that
    // depends on it.
    void restart(std::span<const double> sample_dual, std::span<const double> constraint_dual,
                 double intercept);

    // Sweeps until the gap estimate falls below max(absolute, relative * |objective|), max_sweeps
    // sweeps are done, or the interrupt says stop. Rows set aside stay so from one call to the
    // next.
    RehlineProgress run(std::int64_t max_sweeps, double absolute, double relative,
                        Interrupt& interrupt);

    // Gap-safe screening: `gap` bounds primal optimum minus the dual value of the current point.
    // Every row whose argument cannot reach a knot is fixed at its slope for good. Needs no
    // intercept. Returns the number of rows that are left.
    std::int64_t screen(double gap);

    // Visits all rows again in the next sweep, those set aside too.
    void take_all_rows_back();

    // Recomputes q and b from the dual point, which removes accumulated rounding.
    void refresh();

    std::int64_t n() const { return rows_.n; }
    const std::vector<double>& coef() const { return coef_; }
    double intercept() const { return intercept_; }
    // Slopes in the predictions, g_i = direction_i * a_i.
    void sample_dual(std::span<double> g) const;
    const std::vector<double>& constraint_dual() const { return constraint_dual_; }

  private:
    struct Sweep;
    template <class Rows>
    bool sweep(Rows& rows, Sweep& sums, Interrupt& interrupt);
    std::int64_t sweep_constraints(Sweep& sums);
    double complementarity();
    double penalty() const;
    DualMove mover();
    bool is_closed(double gap, double target, bool all_rows);
    std::int64_t accelerate(double gap, double target, Interrupt& interrupt);

    DesignView X_;
    RowFunctions rows_;
    ColumnFunctions columns_;
    LinearConstraints constraints_;
    RehlineOptions options_;
    Random random_;

    std::vector<double> a_;          // slope of weight_i phi_i in its own argument, times weight
    std::vector<double> curvature_;  // r_i = sum_j x_ij^2 / rho_j (+ t0)
    std::vector<double> scratch_;    // one entry per row
    std::vector<double> constraint_dual_, constraint_curvature_, slack_;  // one per constraint
    std::vector<double> q_, coef_, part_;                                 // one entry per column
    std::vector<std::int64_t> alive_;                                     // rows not fixed for good
    std::vector<std::int64_t> active_;  // rows the next sweep visits; the first n_active_ of them
    std::vector<std::int64_t> block_order_, block_kept_;
    std::int64_t n_active_ = 0;
    double intercept_ = 0, center_ = 0, balance_ = 0;  // balance_ = sum_i g_i
    double largest_move_ = 0;  // of the last sweep, in units of the argument
    double objective_ = 0;     // at the last sweep over all rows
    double last_gap_ = 0;      // estimate of the last sweep, if it was one over all rows
    FreeDuals free_duals_;
    double full_gap_ = 0;              // estimate of the last sweep over all rows
    std::int64_t partial_visits_ = 0;  // since then
    double log_rate_ = 0;              // smoothed log of the gap's factor per sweep
    double rate_gap_ = 0;              // estimate of the sweep before
    std::int64_t sweeps_since_start_ = 0, sweeps_since_step_ = 0, step_iterations_ = 20;
    std::int64_t sweeps_since_refresh_ = 0;
};

}  // namespace rectiline::rehline
