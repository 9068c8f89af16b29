// The semismooth Newton method along a list of strengths of one penalty: every answer is the start
// of the next, and nothing is built anew in between (arguments, slopes, image, Newton matrix).
//
// It is made for modest targets, as scores of a cross-validation need them. After every Newton step
// the gap is estimated, so that no step is taken beyond the target, and the envelopes of the rows
// stay as soft as the target allows: soft ones leave many rows on a kink, and Newton's method then
// takes few steps. Who needs more starts another solver from the point found here.
//
// Where the caller knows how far predictions can get in the next moves, only the rows that may meet
// a knot take part in them; the others are frozen on their pieces.
#pragma once

#include "rectiline/newton/newton_loop.hpp"
#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/newton/newton_terms.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace rectiline::path {

// Natural units of the problem, see the model of the solver.
struct NewtonUnits {
    double row_stiffness;  // slope per argument of one row
    double stiffness;      // of all rows together
    double argument_scale;
    bool smooth;  // losses without kinks need no envelopes
};

struct PathStep {
    std::int64_t steps;
    double relative_gap;  // estimated
    bool failed, interrupted;
    bool strayed;  // predictions have left the range that frozen rows rely on
};

class NewtonPath {
  public:
    // `terms` are those at strength `strength`, without constraints; `rows` must outlive this.
    NewtonPath(NewtonRows& rows, const NewtonTerms& terms, double strength, NewtonUnits units);

    // Starts at coefficients in the user's units (intercept last) and slopes in the predictions.
    // `z`: the predictions there if they are known, or null.
    void place(const double* user, const double* g, const double* z = nullptr);
    // Freezes, for the moves to come, the rows that meet no knot while their predictions stay
    // within [low, high], and returns how many others there are. 0, and all rows take part, if more
    // than the share `most` would be left or if those left could not balance the others. `z`: the
    // predictions at `coefficients` if they are known, or null.
    std::int64_t focus(const double* low, const double* high, const double* z, double most);
    void widen();  // all rows take part again
    PathStep move(double strength, double target, std::int64_t max_steps, Interrupt& interrupt);
    void coefficients(double* user);  // with columns on the kinks that they have reached
    void dual(double* g) const;       // slopes in the predictions, which sum to zero if possible
    // The same by exceptions, which are left to balance: rows that take part and whose multiplier
    // is not the slope at their own prediction.
    struct Exceptions {
        std::vector<std::int64_t> row;
        std::vector<double> g;
        // Of the losses of all rows, if too many would have to be listed; only a few then are.
        std::vector<double> slopes;
    };
    const Exceptions& exceptions();
    // Slopes of the losses of the frozen rows, NaN for those that take part; empty if all do.
    const std::vector<double>& frozen_slopes() const {
        return few_ ? all_.frozen_slopes() : nothing_;
    }
    const NewtonRows& rows() const { return all_; }

  private:
    struct Gaps {
        double rows, columns;
        double loss;  // of all rows, in the same unit
        double sum() const { return rows + columns; }
    };
    Gaps with_multipliers_to_scale(double factor, Gaps still);
    void set_strength(double strength);
    void predict(double strength);
    void set_column_multipliers();
    NewtonPoint point();
    double cost_of_balance(double excess) const;
    Gaps gaps();
    bool freeze(const double* low, const double* high);
    bool has_strayed() const;
    void recall();
    bool return_to_all(const double* z);
    void take_all_rows();
    void balance_few(double* g) const;
    void write_out_slopes();
    void list_more_to_balance();

    NewtonRows& all_;
    std::unique_ptr<NewtonRows> few_;    // the rows that take part while the others are frozen
    std::unique_ptr<NewtonRows> spare_;  // the last ones, whose memory serves the next
    NewtonRows* rows_;                   // those that take part
    std::vector<double> keep_;  // 1 for rows that take part; doubles go with what they are about
    std::vector<std::int64_t> index_;  // of the rows kept
    std::vector<double> low_, high_;   // ends of their predictions, as expected
    FrozenTerms frozen_;
    std::vector<double> linear_, frozen_at_, frozen_dual_;
    std::vector<double> own_dual_, own_slopes_, differs_;
    const std::vector<double> nothing_;
    Exceptions exceptions_;
    mutable std::vector<double> few_dual_;
    double frozen_loss_ = 0, frozen_sum_ = 0;  // of the frozen rows' losses and slopes
    NewtonUnits units_;
    double base_strength_, strength_;
    std::vector<double> rho_, l1_, column_stiffness_;  // at the strength at hand
    NewtonTerms base_, terms_;
    NewtonLoop loop_;
    std::vector<double> b_, around_, previous_, column_, proximal_, user_;
    double growth_, mean_weight_;
    double found_at_ = 0;           // strength at which the answer at hand was found
    double previous_strength_ = 0;  // the same of the one before; 0: there is none
    bool placed_ = false;           // nothing has been settled at this place yet
    bool recalled_ = true;          // the rows know where they were at the answer before
};

}  // namespace rectiline::path
