// A linear quantile regression held by a basis: p samples with residual zero that determine the p
// coefficients. With a_i = 1 above the plane, a_i = 0 below and v_i = w_i a_i, optimality reads
//
//     sum_i v_i x_i = (1 - level) sum_i w_i x_i      with 0 <= v_i <= w_i on the basis.
//
// `optimise` exchanges samples along edges on which the loss falls, over kink after kink
// (Barrodale and Roberts 1973). `walk` follows the optimal basis of the regression in which one
// coefficient is fixed, as that coefficient moves away from its estimate: a parametric linear
// program whose score sum_i x_ij (v_i - (1 - level) w_i) falls in steps (Koenker 1994). `follow`
// lets the level itself move: the v_i of the basis are linear in it until one of them meets an end,
// and there the basis changes (Koenker and d'Orey 1987).
//
// Samples that stay on their side of the plane need not be here: they enter through `total`,
// the right-hand side above less w_i x_i of those above the plane.
#pragma once

#include "rectiline/support/interrupt.hpp"

#include <utility>

namespace rectiline::inference {

enum class BasisOutcome { done, unbounded, out_of_range, limit, singular, stopped };

// The region in which samples outside the basis problem are known to keep their side.
struct TrustedBall {
    std::span<const double> centre;  // p coefficients
    std::span<const double>
        factor;  // p x p, upper triangular by rows: distances are |factor (b - centre)|
    double radius;
};

// Where the score of a fixed coefficient falls, and to what.
struct ScoreSteps {
    std::vector<double> place, score;
};

// The bases that are optimal one after the other as the level moves: where each begins to be, and
// its samples, p each.
struct LevelSteps {
    std::vector<double> level;
    std::vector<std::int64_t> basis;
};

class QuantileBasis {
  public:
    // columns: p columns of n entries each, n being the length of y. The caller keeps both arrays.
    QuantileBasis(std::span<const double> columns, std::span<const double> y, std::int64_t p);

    // The arrays are read until the next start. Singular bases are refused.
    BasisOutcome start(std::span<const double> weight, std::span<const double> total,
                       std::span<const std::int64_t> basis);
    BasisOutcome optimise(std::int64_t most_steps, Interrupt& interrupt);
    // From an optimal basis; `direction` is +1 or -1. Ends where |score| exceeds `until`.
    BasisOutcome walk(std::int64_t column, double direction, double until, const TrustedBall& ball,
                      std::int64_t most_steps, ScoreSteps& steps, Interrupt& interrupt);

    // From an optimal basis at a level, with no samples left out, to level 0 (`direction` -1) or 1.
    BasisOutcome follow(double level, double direction, std::int64_t most_steps, LevelSteps& steps,
                        Interrupt& interrupt);

    std::int64_t n() const { return n_; }
    std::int64_t p() const { return p_; }
    std::int64_t n_steps() const { return n_steps_; }
    const std::vector<double>& coef() const { return coef_; }
    const std::vector<double>& values() const { return values_; }
    const std::vector<std::int64_t>& basis() const { return basis_; }

  private:
    using Crossing = std::pair<double, std::int64_t>;  // step and sample

    bool refresh(bool sides);
    std::int64_t first_at_end(std::span<const double> speed, double& step) const;
    std::int64_t first_crossing();
    bool invert_basis();
    void compute_values();
    void carry(std::span<const double> right, std::span<double> values) const;
    void set_direction(std::int64_t slot, bool rises);
    double look_ahead();
    std::int64_t cross_until_rise(double slope, double least);
    void add_to_rest(std::int64_t sample, double factor);
    bool exchange(std::int64_t slot, std::int64_t entering, double step, bool leaves_above);
    double distance(const TrustedBall& ball) const;

    std::int64_t n_, p_;
    std::span<const double> columns_, y_, weight_;
    std::vector<double> total_;
    std::int64_t n_steps_ = 0, since_refresh_ = 0;
    std::int64_t fixed_ = -1;  // the coefficient that a walk fixes
    double score_ = 0.0;       // and its score
    double likely_step_ = 0.0;
    std::vector<std::int64_t> basis_;
    std::vector<double> inverse_;  // of the basis rows: p x p, entry (coefficient, slot)
    std::vector<double> coef_, values_, rest_, direction_, work_;
    std::vector<double> residual_, rate_, step_;
    std::vector<double> side_;  // +1 above the plane, -1 below; 0 in the basis or without weight
    std::vector<Crossing> crossings_;
};

}  // namespace rectiline::inference
