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
#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rectiline::newton {

// How stiff the augmented terms start, how fast they grow, and how many Newton steps to one outer
// step mean that they grew too fast.
struct NewtonSchedule {
    double start, factor;
    std::int64_t inner_steps;
};

struct NewtonRunOptions {
    NewtonSchedule schedule;
    double row_stiffness;              // slope per argument at growth 1
    std::span<const double> proximal;  // weight per variable at growth 1; 0: none
    bool smooth;                       // the loss has no kinks: its rows need no envelope
    double reference;                  // objective with the frozen rows, where known; or 0
};

struct NewtonOutcome {
    std::int64_t steps, guards;
    bool failed;
};

class NewtonRun {
  public:
    // `loop`, `rows` and what the options and `frozen` point to must outlive this.
    NewtonRun(NewtonLoop& loop, NewtonRows& rows, FrozenTerms frozen, NewtonRunOptions options,
              std::span<const double> b, std::span<const double> column,
              std::span<const double> constraint);

    // Iterates until the estimated relative gap is at most `target`.
    NewtonOutcome solve(double target, std::int64_t max_steps, Interrupt& interrupt);
    // The estimated relative gap where the run starts.
    double look(Interrupt& interrupt);
    // Estimates objective and gap of the current pair, given the sums over its rows.
    void estimate(RowValues sums);
    double relative_gap() const;

    void set_schedule(NewtonSchedule schedule);
    void forget_reference() { options_.reference = 0; }

    const std::vector<double>& b() const { return b_; }
    const std::vector<double>& column() const { return column_; }
    const std::vector<double>& constraint() const { return constraint_; }
    double growth() const { return growth_; }
    double objective() const { return objective_; }
    void polish(std::span<double> b);  // b with columns on the kinks that they have reached
    void move_to_polished();           // the same in place
    void constraint_multipliers(std::span<double> xi);  // at b

  private:
    NewtonPoint point();
    NewtonProgress minimise(std::int64_t max_steps, double target, Interrupt& interrupt);
    void update_multipliers();
    void grow();

    NewtonLoop& loop_;
    NewtonRows& rows_;
    FrozenTerms frozen_;
    NewtonRunOptions options_;
    bool exact_;  // no multipliers to iterate on: one minimisation is all
    std::vector<double> b_, around_, column_, constraint_, next_column_, next_constraint_;
    std::vector<double> proximal_;
    double growth_, looseness_ = 1;  // by how much the proximal term is weaker than the growth says
    double gap_ = std::numeric_limits<double>::infinity();
    double column_gap_ = gap_, objective_ = gap_;
};

}  // namespace rectiline::newton
