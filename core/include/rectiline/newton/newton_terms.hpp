// The part of the semismooth Newton method that lives in coefficient space, in scaled variables:
//
//     sum_j rho_j/2 b_j^2 + l1_j |b_j| + [lower_j <= b_j <= upper_j],     R b + k >= 0 (or = 0)
//
// The last variable is the intercept when there is one. Kinked columns (l1, bounds) and constraints
// have multipliers and penalty parameters of their own, as the rows of X have.
#pragma once

#include "rectiline/columns/columns.hpp"

namespace rectiline::newton {

struct NewtonTerms {
    std::int64_t d;                     // columns
    std::vector<double> scale, center;  // user's coefficient = scale * b; center: d values, or none
    std::vector<double> rho, l1, lower, upper;  // one entry per variable
    std::vector<std::int64_t> kinked;
    std::vector<double> column_stiffness;    // per kinked column
    std::span<const double> rows, offset;    // of the constraints, which have norm 1
    std::span<const std::uint8_t> equality;  // per constraint
    double constraint_stiffness = 0;
    // Natural units: how much arguments vary, and slopes per argument, of one row and of all rows.
    double argument_scale = 1, row_stiffness = 1, stiffness = 1;
    bool smooth = false;           // losses without kinks need no envelopes
    std::vector<double> proximal;  // weight of a proximal term per variable; 0: none

    // Takes the terms of the columns from the user's units, where column j is unit_j times as
    // large.
    void set_columns(const ColumnFunctions& columns, std::span<const double> unit, bool intercept);
    // The same terms under a penalty so many times as strong.
    NewtonTerms times_strength(double factor) const;

    std::int64_t order() const { return std::ssize(scale); }  // columns and the intercept
    std::int64_t n_kinked() const { return std::ssize(kinked); }
    std::int64_t n_constraints() const { return std::ssize(offset); }
    const double* row(std::int64_t r) const { return rows.data() + r * order(); }

    // There and back between scaled variables and the user's (intercept last).
    void expand(std::span<const double> b, std::span<double> user) const;
    void shrink(std::span<const double> user, std::span<double> b) const;
    // `out` may be `gradient`.
    void contract(std::span<const double> gradient, std::span<double> out) const;
    void contract_matrix(std::span<double> H) const;  // order x order, both halves

    // Slope of the augmented term of the k-th kinked column at b, its proximal point, and whether
    // that lies on a kink or bound.
    struct Kink {
        double slope, target;
        bool held;
    };
    Kink kink(std::int64_t k, double b, double multiplier, double growth) const;
    // What the kinked columns' own terms must pull with at b against the gradient of all others.
    void set_multipliers(std::span<const double> b, std::span<const double> gradient,
                         std::span<double> column) const;
    double constraint_value(std::int64_t r, std::span<const double> b) const;
    // The multiplier of constraint r at its value.
    double constraint_slope(std::int64_t r, double value, double multiplier, double growth) const;

    double penalty(std::span<const double> b) const;
    // Fenchel-Young gap of the columns at b and slopes q = -(gradient of everything else), and what
    // coefficients beyond their bounds have saved. What an intercept is off by costs no more than
    // to move it, where `curvature` of the rows is known.
    double column_gap(std::span<const double> b, std::span<const double> q,
                      double curvature = 0) const;

  private:
    void set_stiffness();
};

// What rows outside a working set add: a linear term, and a quadratic one around `at`.
struct FrozenTerms {
    std::vector<double> linear;     // empty: nothing is frozen
    std::vector<double> quadratic;  // order x order; empty: none
    std::vector<double> at;

    void contract(const NewtonTerms& terms);  // from the user's variables to scaled ones
    void add_gradient(std::span<const double> b, std::span<double> gradient) const;
    double curvature_along(std::span<const double> direction) const;
};

}  // namespace rectiline::newton
