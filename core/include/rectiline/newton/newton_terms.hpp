// The part of the semismooth Newton method that lives in coefficient space, in scaled variables:
//
//     sum_j rho_j/2 b_j^2 + l1_j |b_j| + [lower_j <= b_j <= upper_j],     R b + k >= 0 (or = 0)
//
// The last variable is the intercept when there is one. Kinked columns (l1, bounds) and constraints
// have multipliers and penalty parameters of their own, as the rows of X have.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>
#include <span>

namespace rectiline::newton {

struct NewtonTerms {
    std::int64_t d;                  // columns
    std::span<const double> scale;   // user's coefficient = scale * b; one entry per variable
    std::span<const double> center;  // of the columns, d values, or empty: not centred
    std::span<const double> rho, l1, lower, upper;  // one entry per variable
    std::span<const std::int64_t> kinked;
    std::span<const double> column_stiffness;  // per kinked column
    std::span<const double> rows;              // of the constraints, norm 1
    std::span<const double> offset;            // one per constraint
    std::span<const std::uint8_t> equality;
    double constraint_stiffness;

    std::int64_t order() const { return std::ssize(scale); }  // columns and the intercept
    std::int64_t n_kinked() const { return std::ssize(kinked); }
    std::int64_t n_constraints() const { return std::ssize(offset); }
    const double* row(std::int64_t r) const { return rows.data() + r * order(); }

    // There and back between scaled variables and the user's (intercept last).
    void expand(std::span<const double> b, std::span<double> user) const;
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
    double constraint_value(std::int64_t r, std::span<const double> b) const;
    // The multiplier of constraint r at its value.
    double constraint_slope(std::int64_t r, double value, double multiplier, double growth) const;

    double penalty(std::span<const double> b) const;
    // Fenchel-Young gap of the columns at b and slopes q = -(gradient of everything else).
    double column_gap(std::span<const double> b, std::span<const double> q) const;
};

// What rows outside a working set add: a linear term, and a quadratic one around `at`.
struct FrozenTerms {
    std::span<const double> linear;     // empty: nothing is frozen
    std::span<const double> quadratic;  // order x order; empty: none
    std::span<const double> at;

    void add_gradient(std::span<const double> b, std::span<double> gradient) const;
    double curvature_along(std::span<const double> direction) const;
};

}  // namespace rectiline::newton
