// The inner minimisation of the semismooth Newton method of multipliers on one set of rows: for
// fixed multipliers and penalty parameters,
//
//     min over b   sum_i envelope_i(t_i(b)) + sum_j rho_j/2 b_j^2 + envelopes of kinked columns and
//                  constraints + frozen rows + proximal term around `around_`,
//
// by Newton steps with an exact search along each direction. When to stop, how stiff the envelopes
// are and when multipliers move is decided by those who inherit from it.
#pragma once

#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/newton/newton_system.hpp"
#include "rectiline/newton/newton_terms.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::newton {

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
    std::int64_t order() const { return terms_.order(); }
    std::int64_t n_rows() const { return rows_.n(); }
    std::int64_t n_constraints() const { return terms_.n_constraints(); }
    const std::vector<double>& b() const { return b_; }
    // b with columns on the kinks that they have reached.
    void polish(std::span<double> b) const;

  protected:
    // `rows`, `frozen` and what the terms look at must outlive this.
    NewtonLoop(NewtonTerms terms, NewtonRows& rows, const FrozenTerms& frozen,
               std::span<const double> b);

    NewtonProgress minimise(const NewtonGoal& goal, Interrupt& interrupt);
    // Objective and gap of the pair at hand, given the sums over its rows.
    NewtonEstimate estimate(RowSums sums);
    double constraint_slope(std::int64_t r, double value) const {
        return terms_.constraint_slope(r, value, constraint_[r], growth_);
    }
    void update_multipliers();  // of rows, columns and constraints to their slopes at b

    NewtonTerms terms_;
    NewtonRows& rows_;
    const FrozenTerms& frozen_;
    std::vector<double> b_, around_, proximal_;
    std::vector<double> column_, constraint_;  // multipliers: per kinked column, per constraint
    double growth_ = 1;  // of the penalty parameters of kinked columns and constraints
    double S_ = 1;       // penalty parameter of the rows, per unit of weight

  private:
    NewtonTerms::Kink kink(std::int64_t k, double b) const {
        return terms_.kink(k, b, column_[k], growth_);
    }
    void set_gradient();
    bool set_direction(Interrupt& interrupt);
    double search(double decrement);
    double central_move() const;
    bool is_near(const NewtonGoal& goal, double decrement, double move);

    NewtonSystem system_;
    std::vector<double> gradient_, direction_, user_, diagonal_, value_, change_;
    std::vector<std::int64_t> active_;
    double objective_known_ = 0;  // the last one in this minimisation
};

}  // namespace rectiline::newton
