// Dual coordinate ascent one unit at a time: the ReHLine algorithm as its paper has it, kept so
// that the exact step per sample of rehline.hpp can be compared with it.
//
//   primal   min_b   sum_i sum_l relu(u_li x_i'b + v_li) + sum_i sum_h rehu_tau_hi(s_hi x_i'b +
//   t_hi)
//                    + sum_j h_j(b_j)                 subject to  a_k'b + c_k >= 0 (or = 0)
//   dual     max     sum lambda v + sum (gamma t - gamma^2 / 2) - xi'c - sum_j h_j*(q_j),
//                    q = A'xi - X'g,  g_i = sum_l u_li lambda_li + sum_h s_hi gamma_hi,
//                    0 <= lambda <= 1,  0 <= gamma <= tau,  xi_k >= 0 (or free)
//
// with h_j strongly convex (rho_j > 0). A sweep moves every xi_k, then every lambda_li, then every
// gamma_hi to the maximum along its coordinate, keeping b = grad h*(q).
// Source: Dai and Qiu, "ReHLine: regularized composite ReLU-ReHU loss minimization with linear
// computation and linear convergence", NeurIPS 2023, Algorithm 1, with `shrink` Algorithms 2 and 3.
// Corrected against the print: g of Algorithm 2 is already the gradient, so steps are
// lambda - g / denominator and gamma - g / denominator; M and m start a sweep at -inf and +inf; the
// bar of m is reset to -inf where m >= 0. Departures:
//  - l1 and bounds enter through b = grad h*(q) and its Lipschitz constant 1/rho_j, equality
//    constraints have a free dual;
//  - the units come from the loss with weight 1 and are scaled row by row (Proposition 1), so
//  nothing
//    of size n L is stored but the duals and the order;
//  - what is set aside comes back when the gap estimate, not the spread of the gradients, is small.
#pragma once

#include "rectiline/rehline/dual_ascent.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rectiline::rehline {

// A loss of weight 1 in its own argument: constant + sum_l relu(u t + v) + sum_h rehu_tau(s t +
// t0).
struct LossUnits {
    std::span<const double> relu_u, relu_v;
    std::span<const double> rehu_s, rehu_t, rehu_tau;
    double constant;
};

// All ReLUs or all ReHUs of a problem, their duals, and which of them the next sweep visits.
struct UnitFamily {
    struct Unit {
        double slope = 0, offset = 0, cap = 0;  // cap: the dual's end at weight 1
    };
    struct Visit {
        std::int64_t row, unit;
    };
    bool curved;                 // ReHUs
    std::int64_t most;           // units of the loss that has most of them
    std::vector<Unit> units;     // `most` for each loss
    std::vector<double> factor;  // per row: Proposition 1, the weight or its square root
    std::vector<double> dual;    // unit after unit, one entry per row
    std::vector<Visit> active;   // what the next sweep visits, in this order
    std::int64_t n_movable = 0;
    double shrink_above = std::numeric_limits<double>::infinity();   // M-bar of Algorithm 2
    double shrink_below = -std::numeric_limits<double>::infinity();  // m-bar
};

struct RehlineUnitsOptions {
    bool shuffle = true;  // visit in random order; false: cyclic, unit after unit
    bool shrink = true;   // Algorithms 2 and 3; false: Algorithm 1
    std::uint64_t seed = 0;
};

class RehlineUnits {
  public:
    // `rows` gives direction, offset, weight and, as curve index, which of the losses each row
    // pays. The views must outlive the object; the losses are copied.
    RehlineUnits(DesignView X, RowFunctions rows, const std::vector<LossUnits>& losses,
                 ColumnFunctions columns, LinearConstraints constraints,
                 RehlineUnitsOptions options);

    // Sets the dual point, unit after unit; a part that is empty stays.
    void restart(std::span<const double> relu, std::span<const double> rehu,
                 std::span<const double> constraint_dual);

    // Sweeps until the gap estimate falls below max(absolute, relative * |objective|), max_sweeps
    // sweeps are done, or the interrupt says stop.
    RehlineProgress run(std::int64_t max_sweeps, double absolute, double relative,
                        Interrupt& interrupt);

    const std::vector<double>& coef() const { return coefficients_.values(); }
    // Slopes in the predictions, g_i = direction_i * (sum_l u lambda + sum_h s gamma).
    void sample_dual(std::span<double> g) const;
    const std::vector<double>& constraint_dual() const { return constraints_.values(); }
    const UnitFamily& relus() const { return relus_; }
    const UnitFamily& rehus() const { return rehus_; }

  private:
    struct Sums;
    const UnitFamily::Unit& unit(const UnitFamily& family, std::int64_t i, std::int64_t l) const;
    bool movable(const UnitFamily& family, std::int64_t i, std::int64_t l) const;
    void settle_fixed_units(UnitFamily& family);
    void take_back(UnitFamily& family);
    void take_all_back();
    bool all_active() const;
    void refresh();
    template <class Rows>
    bool sweep_family(Rows& rows, UnitFamily& family, Sums& sums, Interrupt& interrupt);
    template <class Rows>
    bool sweep(Rows& rows, Sums& sums, Interrupt& interrupt);

    DesignView X_;
    RowFunctions rows_;
    ConstraintDuals constraints_;
    Coefficients coefficients_;
    RehlineUnitsOptions options_;
    Random random_;
    std::vector<double> curvature_;  // r_i = sum_j x_ij^2 / rho_j
    UnitFamily relus_, rehus_;
    double constraints_shrink_above_ = std::numeric_limits<double>::infinity();
    double fixed_loss_ = 0;  // constants, and units that no coefficient moves
    GapWatch watch_;
    std::vector<double> scratch_;  // one entry per row
    std::int64_t sweeps_since_refresh_ = 0;
};

}  // namespace rectiline::rehline
