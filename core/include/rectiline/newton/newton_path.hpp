// The semismooth Newton method along a list of strengths of one penalty: every answer is the start
// of the next, and nothing is built anew in between (arguments, slopes, image, Newton matrix).
//
// It is made for modest targets, as scores of a cross-validation need them. After every Newton step
// the gap is estimated, so that no step is taken beyond the target, and the envelopes of the rows
// stay as soft as the target allows: soft ones leave many rows on a kink, and Newton's method then
// takes few steps. Who needs more starts another solver from the point found here.
#pragma once

#include "rectiline/newton/newton_loop.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::newton {

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
    void dual(std::span<double> g) const { rows_.dual(g); }  // slopes in the predictions

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
