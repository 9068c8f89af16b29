// A primal-dual interior point method with predictor and corrector, compiled for doubles and for
// twofold numbers (32 digits, for rows and columns that are too badly scaled for doubles):
//
//     min over x   sum_j rho_j/2 x_j^2 + linear'x + sum_k phi_k(row_k x + shift_k),
//     phi_k(a) = max over low_k <= y <= high_k of y a - soft_k y^2/2.
//
// Losses, prices of columns, inequalities (y <= 0) and equalities (y free) are all such units. With
// multipliers p, q >= 0 of the two ends of the box a step of Newton's method solves
//
//     rho x + linear + R'y = 0,   R x + shift - soft y + p - q = 0,
//     p (y - low) = q (high - y) = target
//
// for a target that goes to zero. All unknowns but x are eliminated unit by unit; what is left is a
// `NormalSystem` whose row weights are sums of 1 / (soft + p/(y - low) + q/(high - y)).
//
// Sources: Mehrotra, "On the implementation of a primal-dual interior point method" (1992) for
// predictor and corrector; Gondzio, "Multiple centrality corrections" (1996) for the corrections of
// short steps. Departures: distances to the ends of the boxes are iterates of their own, because as
// differences they would lose all digits; solves with the factor itself remove the effect of the
// proximal term and of rounding from a direction; a corrector that makes a short step is compared
// with one that makes up for less of the predictor's second-order error.
#pragma once

#include "rectiline/interior/normal_system.hpp"
#include "rectiline/support/interrupt.hpp"

#include <memory>

namespace rectiline::interior {

// ---- the pair -----------------------------------------------------------------------------------

// The moving pair of `UnitInterior`: coefficients, duals, and the room and multiplier of each end
// of the boxes; how it starts, and what the method itself thinks of it.

// An estimate of what a certificate of the pair will say, in units of the program.
struct Verdict {
    double relative_gap;
    double violation;     // largest violation of a row that must be satisfied
    double mean_product;  // of the complementarity products
    double residual;      // largest entry of rho x + linear + R'y
    double size;          // of the objective
};

template <class Real>
double size_of(Real a) {
    return std::fabs(leading(a));
}

template <class Real>
class UnitPair {
  public:
    struct Side {  // one end of the boxes of all units
        std::vector<std::uint8_t> is_finite;
        std::vector<Real> room, multiplier;
        Real sign = 1.0;  // of a move of y in a move of the room
    };

    // Starts with x = 0, y well inside its boxes, and multipliers that match but for some slack.
    UnitPair(const UnitProgram& program, NormalSystem<Real>& system);

    // Goes on from x, y, and rooms and multipliers at the lower and at the upper ends: four lines
    // of one entry per unit.
    void resume(std::span<const double> at, std::span<const double> duals,
                std::span<const double> sides);

    // The verdict on the pair, or on its y with another x, whose rows have the given values.
    Verdict evaluate() const { return evaluate(x, value); }
    Verdict evaluate(std::span<const Real> at, std::span<const Real> values) const;
    // What a residual of stationarity adds to the gap. With curvature it costs its square. On
    // columns that only a price holds, a certificate shrinks all multipliers until their pull is
    // within the price: `excess` is what that adds to the relative gap.
    double charge(std::span<const Real> left, std::span<const Real> at, double& excess) const;
    void point(std::span<double> at, std::span<double> duals) const;
    // Rooms and multipliers as `resume` takes them.
    void sides(std::span<double> out) const;
    void sum_over_rows(std::span<const Real> units, std::span<Real> rows) const;

    std::vector<Real> x, y, value, pull;  // value = R x, pull = R'y
    Side side[2];
    double n_products = 0;

  private:
    void place();

    const UnitProgram& program_;
    NormalSystem<Real>& system_;
};

// Lengths of a step of y and the room it has, and of all else.
struct StepLengths {
    double dual, primal;
    double least() const { return dual < primal ? dual : primal; }
};

template <class Real>
class UnitInterior {
  public:
    UnitInterior(UnitProgram program, std::unique_ptr<NormalSystem<Real>> system);

    // Takes one step; false where there is none, or when asked to stop.
    bool step(Interrupt& interrupt);
    Verdict verdict() const { return pair_.evaluate(); }
    // The verdict on the pair of the present y and another x.
    Verdict evaluate(std::span<const double> x);
    double step_length() const { return step_length_; }
    const UnitProgram& program() const { return *program_; }
    UnitPair<Real>& pair() { return pair_; }
    const UnitPair<Real>& pair() const { return pair_; }

  private:
    struct Direction {
        std::vector<Real> x, change, y;            // per column, row, unit
        std::vector<Real> multiplier[2], lift[2];  // per unit
        std::vector<Real> drive, share, miss;      // per unit, row, row
        bool knows_duals = false;
    };

    Real room_move(int s, std::size_t k) const;
    void linearise();
    template <class Lift>
    void aim(const Lift& lift);
    void aim_at_centre(Real target, double share);
    void aim_at_outliers(Real target, StepLengths hoped);
    void find_direction();
    void change_rows(std::span<const Real> change, bool is_first);
    StepLengths longest(double share) const;
    Real mean_product(StepLengths steps) const;
    void correct(Real centre, double reach);
    void centralise(Real centre);
    void look_ahead();
    void refine();
    void improve(std::span<const Real> left);

    std::unique_ptr<UnitProgram> program_;  // where the pair finds it after a move
    std::unique_ptr<NormalSystem<Real>> system_;
    UnitPair<Real> pair_;
    bool is_linear_;
    std::vector<Real> ratio_[2], error_[2];  // per unit, of both ends of its box
    std::vector<Real> gap_to_centre_, weight_, row_weight_, row_dual_;
    Direction move_, before_;  // the present one, and the one it is compared with
    std::vector<Real> pull_ahead_;
    Verdict verdict_{};  // before the step
    double step_length_ = 1.0;
};

}  // namespace rectiline::interior
