// The semismooth-Newton method of multipliers on one set of rows: the outer decisions.
//
// One outer step fixes the multipliers and minimises, over b,
//
//     sum_i envelope_i(t_i(b)) + sum_j rho_j/2 b_j^2 + envelopes of kinked columns and constraints
//         + frozen rows + (proximal term on weak columns)
//
// by Newton's method (newton_loop.hpp); then the multipliers move to the slopes at the minimiser.
// How stiff the envelopes are, how loose the proximal term, and when to give up is decided here.
//
// Sources: the augmented Lagrangian of Rockafellar with the semismooth Newton inner solver; the
// proximal method of multipliers where columns cost nothing. Schedules are measured, see the
// constants.
#pragma once

#include "rectiline/newton/newton_loop.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::newton {

// How stiff the augmented terms start, how fast they grow, how many Newton steps to one outer step
// mean that they grew too fast, and how often they may.
struct NewtonSchedule {
    double start, factor;
    std::int64_t inner_steps, guards;
};

struct NewtonOutcome {
    std::int64_t steps, guards;
    bool failed;
};

class NewtonRun : public NewtonLoop {
  public:
    // `reference`: objective with the frozen rows, where known; or 0.
    NewtonRun(NewtonTerms terms, NewtonRows& rows, const FrozenTerms& frozen,
              NewtonSchedule schedule, double reference, std::span<const double> b,
              std::span<const double> column, std::span<const double> constraint);

    // Iterates until the estimated relative gap is at most `target`.
    NewtonOutcome solve(double target, std::int64_t max_steps, Interrupt& interrupt);
    // Estimates objective and gap of the current pair, given the sums over its rows.
    void estimate(RowSums sums);
    double relative_gap() const;

    void forget_reference() { reference_ = 0; }

    const std::vector<double>& column() const { return column_; }
    double growth() const { return growth_; }
    double objective() const { return objective_; }
    void move_to_polished();                                  // b, in place
    void constraint_multipliers(std::span<double> xi) const;  // at b

  private:
    void set_growth(double growth);

    NewtonSchedule schedule_;
    double reference_;
    bool exact_;            // no multipliers to iterate on: one minimisation is all
    double looseness_ = 1;  // by how much the proximal term is weaker than the growth says
    double gap_ = kInfinity, column_gap_ = kInfinity, objective_ = kInfinity;
};

// ---- paths of strengths -------------------------------------------------------------------------

// The semismooth Newton method along a list of strengths of one penalty: every answer is the start
// of the next, and nothing is built anew in between (arguments, slopes, image, Newton matrix).
//
// It is made for modest targets, as scores of a cross-validation need them. After every Newton step
// the gap is estimated, so that no step is taken beyond the target, and the envelopes of the rows
// stay as soft as the target allows: soft ones leave many rows on a kink, and Newton's method then
// takes few steps. Who needs more starts another solver from the point found here.

struct PathStep {
    std::int64_t steps;
    double relative_gap;  // estimated
    bool failed, interrupted;
};

class NewtonPath : public NewtonLoop {
  public:
    // `terms` are those at strength `strength`, without constraints; `rows` must outlive this.
    NewtonPath(NewtonRows& rows, const NewtonTerms& terms, double strength);

    // Starts at coefficients in the user's units (intercept last) and slopes in the predictions.
    void place(std::span<const double> user, std::span<const double> g);
    PathStep move(double strength, double target, std::int64_t max_steps, Interrupt& interrupt);
    // With columns on the kinks that they have reached.
    void coefficients(std::span<double> user);
    // Slopes in the predictions, which sum to zero if possible.
    void dual(std::span<double> g) const;

  private:
    struct Gaps {
        double rows, columns;
        double loss;  // of all rows, in the same unit
        double sum() const { return rows + columns; }
    };
    Gaps with_multipliers_to_scale(double factor, Gaps still);
    void set_strength(double strength);
    void set_row_growth(double growth);
    double cost_of_balance(double excess) const;
    Gaps gaps();

    NewtonTerms base_;
    double base_strength_, strength_;
    std::vector<double> user_;
    double row_growth_ = 0, mean_weight_;
    bool placed_ = false;  // nothing has been evaluated at this place yet
};

}  // namespace rectiline::newton
