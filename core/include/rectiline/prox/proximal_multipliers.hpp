// One step of the proximal method of multipliers for
//
//     min over b, b0   sum over units of  max_{low <= a <= high} a (sign z_row + lift) - bend a^2/2
//                      + Omega(b),                                     z = X b + b0 (ones)
//
// Around (b_k, b0_k, a_k) it minimises over the box of the a
//
//     sum (bend a^2 / 2 - lift a) + max_b { v'b / s - Omega(b) - |b|^2 / (2 s) }
//         + (b0_k - s0 sum g)^2 / (2 s0) + |a - a_k|^2 / (2 r),      v = b_k - s X'g, g = S'a
//
// by a projected semismooth Newton method. The Newton matrix is a UnitModel: the diagonal is
// bend + 1/r, the vectors are sqrt(s) times the columns of X summed over each cluster of the
// proximal step. Iterates b are points of that step, so their zeros and clusters are exact.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/prox/clustered_prox.hpp"
#include "rectiline/support/interrupt.hpp"

#include <memory>

namespace rectiline::prox {

// ---- the quadratic model ------------------------------------------------------------------------

// The quadratic model over units: diag(diagonal) + S F F'S', where S puts the signs of the units on
// their rows and the columns of F are a few vectors over rows.

class UnitModel {
  public:
    // row and sign must outlive the model.
    UnitModel(const std::vector<std::int64_t>& row, const std::vector<double>& sign,
              std::int64_t n_rows);

    // Room for `count` vectors of F, to be filled by the caller, each of n_rows entries.
    std::span<double> vectors(std::int64_t count);
    std::vector<double>& diagonal() { return diagonal_; }

    // image = matrix times move
    void multiply(std::span<const double> move, std::span<double> image);
    // Solves the equations of the units listed in `free`, in the smaller of the two dimensions;
    // `right` is overwritten by the solution.
    void solve(const std::vector<std::int64_t>& free, std::vector<double>& right);
    // Products that `solve` takes for so many units, about.
    std::int64_t work(std::size_t n_free) const;

  private:
    void solve_by_vectors(const std::vector<std::int64_t>& free, std::vector<double>& right);
    void solve_by_units(const std::vector<std::int64_t>& free, std::vector<double>& right);
    // Solves (P P' + diag) x = right for P of `size` rows.
    void solve_square(const double* P, std::int64_t size, std::int64_t depth, const double* diag,
                      double* right);

    const std::vector<std::int64_t>& row_;
    const std::vector<double>& sign_;
    std::int64_t n_, count_ = 0;
    std::vector<double> F_, diagonal_;  // F by columns
    std::vector<double> P_, square_, added_, weight_, by_row_, core_;
    std::vector<std::int64_t> used_;
};

struct ProximalUnits {
    std::vector<std::int64_t> row;
    std::vector<double> sign, low, high, lift, bend;
};

struct ProximalSteps {
    double step, room;  // s and r
    double tolerance;   // of the projected gradient
    std::int64_t most;  // Newton steps
};

class ProximalMultipliers {
  public:
    // The intercept is in the first `n_ones` of the rows; s0 = one_scale^2 s.
    ProximalMultipliers(ProximalUnits units, std::int64_t n_rows, std::int64_t n_ones,
                        double one_scale);
    ProximalMultipliers(const ProximalMultipliers&) = delete;  // the model looks at the units

    // X by columns (dense with rows next to one another, or CSC); it must outlive its use.
    void set_columns(const DesignView& X, std::unique_ptr<ClusteredProx> penalty);
    // Moves all three to the next point; returns the number of Newton steps.
    std::int64_t advance(std::span<double> dual, std::span<double> b, double& b0,
                         const ProximalSteps& how, Interrupt& interrupt);

    // Products of all Newton steps so far, about: the same on every machine.
    double work() const { return work_; }
    std::int64_t n_units() const { return std::ssize(units_.row); }
    std::int64_t n_columns() const { return penalty_ ? penalty_->size() : 0; }
    std::int64_t n_rows() const { return n_; }

  private:
    struct State {
        std::vector<double> dual, b;
        Clusters clusters;
        double b0 = 0.0, value = 0.0;
    };

    void evaluate(State& state);
    void set_gradient(const State& state);
    double projected_gradient(const State& state);
    void set_model(const State& state);
    void set_move(const State& state, Interrupt& interrupt);
    bool search(State& state, double slope);

    ProximalUnits units_;
    std::int64_t n_, n_ones_;
    double one_scale_;
    double work_ = 0.0;
    DesignView X_;
    std::unique_ptr<ClusteredProx> penalty_;
    UnitModel model_;

    // of one step
    std::vector<double> anchor_dual_, anchor_b_;
    double anchor_b0_ = 0.0;
    ProximalSteps how_{};
    State trial_;
    std::vector<double> slopes_, image_, z_, v_, gradient_, residual_, move_, product_, right_;
    std::vector<std::int8_t> end_;  // of the quadratic model: -1 and +1 hold a unit at an end
    std::vector<std::int64_t> free_;
};

}  // namespace rectiline::prox
