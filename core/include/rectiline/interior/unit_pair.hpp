// The moving pair of `UnitInterior`: coefficients, duals, and the room and multiplier of each end
// of the boxes; how it starts, and what the method itself thinks of it.
#pragma once

#include "rectiline/interior/normal_system.hpp"
#include "rectiline/interior/number.hpp"

namespace rectiline::interior {

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
    void begin();
    void place();

    const UnitProgram& program_;
    NormalSystem<Real>& system_;
};

extern template class UnitPair<double>;
extern template class UnitPair<Number>;

}  // namespace rectiline::interior
