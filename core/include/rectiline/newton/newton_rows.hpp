// The per-row work of the semismooth Newton method of multipliers, on one set of rows.
//
// Row i costs weight_i phi_i(t_i), t_i = direction_i (x_i'b + b0) + offset_i. Its multiplier is
// kept as a slope s_i of phi_i (so weights need no special care), its penalty parameter is S *
// weight_i. The augmented row cost has the derivative
//
//     s_i(t) = slope of the envelope of phi_i with step 1/S at t + multiplier_i / S
//
// and its Newton weight is weight_i * ds_i/dt, nonzero on kinks and curved pieces only (the set J).
// S = infinity stands for the plain cost, for losses without kinks.
//
// What is reduced over rows are a few scalars, a d-vector (image) and a d x d matrix (gram).
// Nothing is decided here.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/design/gram.hpp"
#include "rectiline/newton/newton_terms.hpp"
#include "rectiline/rows/certificate.hpp"
#include "rectiline/rows/ramps.hpp"
#include "rectiline/rows/rows.hpp"

#include <optional>

namespace rectiline::newton {

class NewtonRows {
  public:
    NewtonRows(DesignView X, RowFunctions rows, bool intercept);

    std::int64_t n() const { return rows_.n; }
    const RowFunctions& functions() const { return rows_; }
    std::int64_t order() const { return n_columns(X_) + (intercept_ ? 1 : 0); }

    // t at b, whose last entry is the intercept if there is one.
    void place(std::span<const double> b);
    void place_at(std::span<const double> z);        // t at known predictions
    void set_direction(std::span<const double> db);  // the change of t along db
    // Multipliers from slopes in the predictions (g), clipped into their ranges; empty: all zero.
    void set_multiplier(std::span<const double> g);

    // d/dstep of the augmented cost at t + step * direction.
    double derivative(double step, double S) const;
    // Moves to t + step * direction, evaluates slopes and J there. Returns sum weight (s -
    // multiplier)^2 / (2 S): what this outer step changed.
    double evaluate(double step, double S);
    RowSums values() const;     // of the pair that was evaluated last
    void update_multipliers();  // multipliers := slopes
    // Slopes times a factor, towards the least loss. They and their image change, nothing else.
    void scale_slopes(double factor);
    void restore_slopes();  // as they were before

    // sum_i weight_i direction_i s_i (x_i, 1), updated for the rows whose slope changed.
    const std::vector<double>& image();
    // sum over J of the Newton weights times x x', updated for the rows whose weight changed
    bool gram(std::span<double> H, Interrupt& interrupt);  // false: interrupted

    // The rows of J themselves, for systems of their size; vectors end with the intercept.
    std::int64_t n_free() const { return n_free_; }
    double curvature() const { return curvature_; }  // sum of the Newton weights
    const std::vector<double>& free_weight() const { return list_free(), free_weight_; }
    std::int64_t free_entries() const;          // stored entries of these rows
    void free_rows(std::span<double> P) const;  // n_free() x order()
    // q += X_J' W X_J b, with the Newton weights W
    void add_free_product(std::span<const double> b, std::span<double> q) const;

    void dual(std::span<double> g) const;  // slopes in the predictions
    // Moves entries of g that belong to J, within their ranges, until g sums to zero.
    void balance(std::span<double> g) const;
    const std::vector<double>& arguments() const { return t_; }
    // Distance of each t to its nearest knot; infinite for rows of zero weight.
    void slack(std::span<double> out) const;
    // What frozen rows, those not marked in `keep`, add as long as they stay on their piece, in the
    // user's variables. `dual` receives their slopes in the predictions, 0 for the others. None if
    // the rows kept could not balance the others under an intercept, or if it is interrupted.
    std::optional<FrozenTerms> freeze(std::span<const std::uint8_t> keep, std::span<double> dual,
                                      Interrupt& interrupt) const;

  private:
    double multiply_columns(std::span<const double> b, std::span<double> z) const;
    void set_arguments(std::span<const double> z, double intercept);
    void prepare_ramps(double S) const;
    void list_free() const;  // J, when it is asked for

    DesignView X_;
    RowFunctions rows_;
    bool intercept_;

    std::vector<double> t_, dt_, s_, multiplier_, imaged_, change_;
    std::vector<double> image_, image_change_;
    std::vector<double> saved_slopes_, saved_image_;
    std::vector<double> newton_weight_;       // per row, 0 outside J
    mutable std::vector<std::int64_t> free_;  // J
    mutable std::vector<double> free_weight_;
    mutable bool free_listed_ = true;
    std::int64_t n_free_ = 0;
    double curvature_ = 0;
    double evaluated_for_ = -1,
           moved_ = 0;  // S and result of the last evaluation; -1: not any more
    bool image_current_ = false;
    std::int64_t images_ = 0;
    UpdatedGram gram_;
    mutable std::vector<Ramps> ramps_;
    mutable double ramps_for_ = -1;
};

}  // namespace rectiline::newton
