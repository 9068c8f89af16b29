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
    NewtonProgress minimise(std::int64_t max_steps, double target, Interrupt& interrupt);

    NewtonSchedule schedule_;
    double reference_;
    bool exact_;            // no multipliers to iterate on: one minimisation is all
    double looseness_ = 1;  // by how much the proximal term is weaker than the growth says
    double gap_ = kInfinity, column_gap_ = kInfinity, objective_ = kInfinity;
};

}  // namespace rectiline::newton
