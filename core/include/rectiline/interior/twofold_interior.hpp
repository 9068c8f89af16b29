// A primal-dual interior point method in twofold arithmetic, for small programs whose rows and
// columns are too badly scaled for doubles:
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
// method", 1992). All unknowns but x are eliminated; what is left has the matrix
// diag(rho) + R' diag(1/D) R with D = soft + p/(y - low) + r/(high - y).
//
// Nothing is done about conditioning: 32 digits leave enough of them. That is also what it costs,
// some twenty operations for each one in doubles.
#pragma once

#include "rectiline/interior/number.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::interior {

// Rows in compressed form with increasing columns; each unit names its row.
struct UnitProgram {
    std::vector<std::int64_t> begin, columns;
    std::vector<double> values;
    std::vector<std::int64_t> row;
    std::vector<double> shift, low, high, soft;
    std::vector<double> rho, linear;

    std::int64_t width() const { return static_cast<std::int64_t>(rho.size()); }
    std::int64_t n_rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
    std::int64_t n_units() const { return static_cast<std::int64_t>(row.size()); }
};

// How good the pair is by its own numbers, in units of the program.
struct Quality {
    double products;   // sum of the complementarity products: the gap of a feasible pair
    double residual;   // sum of |rho x + linear + R'y|_j (1 + |x_j|): what it may add to that
    double violation;  // largest entry of R x + shift - soft y + p - r
    double objective;
};

class TwofoldInterior {
  public:
    explicit TwofoldInterior(UnitProgram program);

    // Takes one step; false where there is none that gets anywhere, or when asked to stop.
    bool step(support::Interrupt& interrupt);
    Quality quality() const { return quality_; }
    const UnitProgram& program() const { return program_; }
    void point(std::span<double> x, std::span<double> y) const;

  private:
    struct Side {  // one end of the box of a unit
        Number room, multiplier;
        Number room_move, multiplier_move;
        bool is_finite = false;
    };

    void evaluate();
    bool factorise(support::Interrupt& interrupt);
    void find_direction(Number target, bool corrects);
    Number longest_step() const;
    Number mean_product(Number step) const;

    UnitProgram program_;
    std::vector<Number> x_, y_, x_move_, y_move_;
    std::vector<Number> residual_, miss_, weight_;  // per column, unit, unit
    std::vector<Side> below_, above_;
    std::vector<Number> row_value_, per_row_;
    SymmetricMatrix matrix_;
    Quality quality_{};
    std::int64_t n_products_ = 0;
};

}  // namespace rectiline::interior
