// The semismooth Newton method along a list of strengths of one penalty: every answer is the start
// of the next, and nothing is built anew in between (arguments, slopes, image, Newton matrix).
//
// It is made for modest targets, as scores of a cross-validation need them. After every Newton step
// the gap is estimated, so that no step is taken beyond the target, and the envelopes of the rows
// stay as soft as the target allows: soft ones leave many rows on a kink, and Newton's method then
// takes few steps. Who needs more starts another solver from the point found here.
#pragma once

#include "rectiline/newton/newton_loop.hpp"
#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/newton/newton_terms.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <span>
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
};

class NewtonPath {
  public:
    // `terms` are those at strength `strength`, without constraints; `rows` must outlive this.
    NewtonPath(NewtonRows& rows, const NewtonTerms& terms, double strength, NewtonUnits units);

    // Starts at coefficients in the user's units (intercept last) and slopes in the predictions.
    void place(std::span<const double> user, std::span<const double> g);
    PathStep move(double strength, double target, std::int64_t max_steps, Interrupt& interrupt);
    // With columns on the kinks that they have reached.
    void coefficients(std::span<double> user);
    // Slopes in the predictions, which sum to zero if possible.
    void dual(std::span<double> g) const;
    const NewtonRows& rows() const { return rows_; }

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
    NewtonRows& rows_;
    NewtonUnits units_;
    double base_strength_, strength_;
    std::vector<double> rho_, l1_, column_stiffness_;  // at the strength at hand
    NewtonTerms base_, terms_;
    NewtonLoop loop_;
    std::vector<double> b_, around_, previous_, column_, proximal_, user_;
    double growth_, mean_weight_;
    double found_at_ = 0;           // strength at which the answer at hand was found
    double previous_strength_ = 0;  // the same of the one before; 0: there is none
    bool placed_ = false;           // nothing has been evaluated at this place yet
};

}  // namespace rectiline::path
