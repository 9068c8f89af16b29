// Parts of dual coordinate ascent (rehline.hpp): b = grad h*(q) kept up to date while one
// coordinate moves, the constraints' coordinates, and what a sweep reports.
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/conjugate_gradients.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::rehline {

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

// xi, one dual coordinate per constraint: at least 0, or free for an equality.
class ConstraintDuals {
  public:
    ConstraintDuals(LinearConstraints constraints, const ColumnFunctions& columns);

    std::int64_t size() const { return std::ssize(dual_); }
    const std::vector<double>& values() const { return dual_; }
    void restart(std::span<const double> dual);

    // One exact step per constraint; adds what they had yet to settle to `gap`. Returns the
    // products it took, about.
    std::int64_t sweep(const DualMove& move, double& gap);

    // sum_k |xi_k (a_k'b + c_k)|: what the constraints add to the gap at b.
    double complementarity(std::span<const double> coef);
    // q = A'xi
    void push(std::span<double> q) const;

  private:
    LinearConstraints constraints_;
    std::vector<double> dual_, curvature_, slack_;
};

// sum_j x_ij^2 / rho_j of each row: the curvature of the dual along its coordinate.
std::vector<double> curvature_of_rows(const DesignView& X, const ColumnFunctions& columns);

// q and b, which follow from the dual point.
class Coefficients {
  public:
    explicit Coefficients(ColumnFunctions columns);

    const std::vector<double>& values() const { return coef_; }
    DualMove mover();
    // Recomputes q = A'xi - X'g and b, which removes accumulated rounding.
    void follow(const DesignView& X, std::span<const double> g, const ConstraintDuals& constraints);
    double penalty() const;  // sum_j h_j(b_j)

  private:
    ColumnFunctions columns_;
    std::vector<double> q_, coef_, part_;
};

constexpr std::int64_t kRefreshEvery = 100;  // sweeps until rounding in q is worth one pass

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
    // How many of the given rows have a free dual.
    std::int64_t count(const RowFunctions& rows, std::span<const std::int64_t> active,
                       std::span<const double> a) const;

    // Moves `a` (slopes times weights) of the given rows, and q with it. coef = grad h*(q) on entry
    // and on return. t0 is the intercept's step (0: none). An interrupt ends the conjugate
    // gradients early; the step is taken all the same where it improves the dual.
    FreeDualStep step(const DesignView& X, const RowFunctions& rows, const ColumnFunctions& columns,
                      std::span<const std::int64_t> active, double intercept, double t0,
                      std::int64_t max_iterations, std::span<double> a, std::span<double> q,
                      std::span<double> coef, Interrupt& interrupt);

  private:
    bool collect(const DesignView& X, const RowFunctions& rows, const ColumnFunctions& columns,
                 std::span<const std::int64_t> active, double intercept, std::span<const double> a,
                 std::span<const double> coef, Interrupt& interrupt);
    void multiply(const RowFunctions& rows, double t0, std::span<const double> move,
                  std::span<double> image);
    std::int64_t find_direction(const RowFunctions& rows, double t0, std::int64_t max_iterations,
                                Interrupt& interrupt);

    // Buffers, kept between calls.
    std::vector<std::int64_t> free_, column_of_, slot_of_, pointer_, index_;
    std::vector<double> value_, column_weight_;
    std::vector<double> low_, high_, curvature_, gradient_;
    std::vector<double> delta_, descent_, diagonal_, column_image_;
    ConjugateGradients solver_;
    std::vector<double> trial_, dq_;
};

}  // namespace rectiline::rehline
