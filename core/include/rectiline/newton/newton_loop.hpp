// The inner minimisation of the semismooth Newton method of multipliers on one set of rows: for
// fixed multipliers and penalty parameters,
//
//     min over b   sum_i envelope_i(t_i(b)) + sum_j rho_j/2 b_j^2 + envelopes of kinked columns and
//                  constraints + frozen rows + proximal term around `around`,
//
// by Newton steps with an exact search along each direction. When to stop, how stiff the envelopes
// are and when multipliers move is decided by the caller.
#pragma once

#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/newton/newton_system.hpp"
#include "rectiline/newton/newton_terms.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::newton {

// Everything an outer step holds fixed but `b`.
struct NewtonPoint {
    std::span<double> b;
    std::span<const double> around;             // of the proximal term
    std::span<const double> column_multiplier;  // per kinked column
    std::span<const double> constraint_multiplier;
    std::span<const double> proximal;  // weight per variable
    double growth;  // of the penalty parameters of kinked columns and constraints
    double S;       // penalty parameter of the rows, per unit of weight
};

struct NewtonGoal {
    std::int64_t max_steps;
    double share;  // of the outer move that the Newton decrement may be
    double gap;    // exact minimisation: gap that is enough, per unit of |objective|; or 0
};

struct NewtonProgress {
    std::int64_t steps;
    bool failed, interrupted;
    double decrement, move;  // before the last step, and what the outer step changed after it
};

struct NewtonEstimate {
    double gap, column_gap, objective;
};

class NewtonLoop {
  public:
    explicit NewtonLoop(NewtonTerms terms);
    const NewtonTerms& terms() const { return terms_; }

    NewtonProgress minimise(NewtonRows& rows, const FrozenTerms& frozen, const NewtonPoint& at,
                            const NewtonGoal& goal, Interrupt& interrupt);
    // Objective and gap of the pair at hand, given the sums over its rows.
    NewtonEstimate estimate(NewtonRows& rows, const FrozenTerms& frozen, const NewtonPoint& at,
                            RowValues sums);
    // The multipliers at b, and b moved onto the kinks that its columns have reached.
    void slopes(const NewtonPoint& at, std::span<double> column,
                std::span<double> constraint) const;
    void polish(const NewtonPoint& at, std::span<double> b) const;

  private:
    void set_gradient(NewtonRows& rows, const FrozenTerms& frozen, const NewtonPoint& at);
    bool set_direction(NewtonRows& rows, const FrozenTerms& frozen, const NewtonPoint& at,
                       Interrupt& interrupt);
    double search(const NewtonRows& rows, const FrozenTerms& frozen, const NewtonPoint& at,
                  double decrement);
    double central_move(const NewtonPoint& at) const;
    bool is_near(const NewtonRows& rows, const NewtonPoint& at, const NewtonGoal& goal,
                 double decrement, double move);

    NewtonTerms terms_;
    NewtonSystem system_;
    std::vector<double> gradient_, direction_, user_, diagonal_, value_, change_;
    std::vector<std::int64_t> active_;
    double objective_ = 0;  // the last one known in this minimisation
};

}  // namespace rectiline::newton
