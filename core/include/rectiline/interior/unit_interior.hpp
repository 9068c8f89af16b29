// A primal-dual interior point method for small programs, compiled for doubles and for twofold
// numbers (32 digits, for rows and columns that are too badly scaled for doubles):
//
//     min over x   sum_j rho_j/2 x_j^2 + linear'x + sum_k phi_k(row_k x + shift_k),
//     phi_k(a) = max over low_k <= y <= high_k of y a - soft_k y^2/2.
//
// Losses, prices of columns, inequalities (y <= 0) and equalities (y free) are all such units. With
// multipliers p, r >= 0 of the two ends of the box a step of Newton's method solves
//
//     rho x + linear + R'y = 0,   R x + shift - soft y + p - r = 0,
//     p (y - low) = r (high - y) = target
//
// for a target that goes to zero (Mehrotra, "On the implementation of a primal-dual interior point
// method", 1992). All unknowns but x are eliminated; what is left (`NormalSystem`) has the matrix
// diag(rho) + R' diag(1/D) R with D = soft + p/(y - low) + r/(high - y).
//
// Nothing is done about conditioning. Twofold numbers leave enough digits, and cost some twenty
// operations for each one in doubles; where doubles do not get there, the caller takes another way.
#pragma once

#include "rectiline/interior/normal_system.hpp"
#include "rectiline/interior/number.hpp"
#include "rectiline/interior/unit_program.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::interior {

// How good the pair is by its own numbers, in units of the program.
struct Quality {
    double products;   // sum of the complementarity products: the gap of a feasible pair
    double residual;   // sum of |rho x + linear + R'y|_j (1 + |x_j|): what it may add to that
    double violation;  // largest entry of R x + shift - soft y + p - r
    double objective;
};

template <class Real>
class UnitInterior {
  public:
    // `by_rows`: systems have the size of the rows with several entries; every rho must be
    // positive.
    explicit UnitInterior(UnitProgram program, bool by_rows = false);

    // Takes one step; false where there is none that gets anywhere, or when asked to stop.
    bool step(support::Interrupt& interrupt);
    Quality quality() const { return quality_; }
    const UnitProgram& program() const { return program_; }
    void point(std::span<double> x, std::span<double> y) const;

  private:
    struct Side {  // one end of the box of a unit
        Real room, multiplier;
        Real room_move, multiplier_move;
        bool is_finite = false;
    };

    void evaluate();
    bool factorise(support::Interrupt& interrupt);
    void find_direction(Real target, bool corrects);
    Real longest_step() const;
    Real mean_product(Real step) const;

    UnitProgram program_;
    std::vector<Real> x_, y_, x_move_, y_move_;
    std::vector<Real> residual_, miss_, weight_;  // per column, unit, unit
    std::vector<Side> below_, above_;
    std::vector<Real> row_value_, per_row_;
    NormalSystem<Real> system_;
    Quality quality_{};
    std::int64_t n_products_ = 0;
};

extern template class UnitInterior<double>;
extern template class UnitInterior<Number>;

}  // namespace rectiline::interior
