// The part of the semismooth Newton method that lives in coefficient space, in scaled variables:
//
//     sum_j rho_j/2 b_j^2 + l1_j |b_j| + [lower_j <= b_j <= upper_j],     R b + k >= 0 (or = 0)
//
// The last variable is the intercept when there is one. Kinked columns (l1, bounds) and constraints
// have multipliers and penalty parameters of their own, as the rows of X have.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>

namespace rectiline::newton {

struct NewtonTerms {
    std::int64_t d, order;  // columns; with the intercept
    const double* scale;    // user's coefficient = scale * b
    const double* center;   // of the columns, d values, or null: not centred
    const double *rho, *l1, *lower, *upper;
    std::int64_t n_kinked;
    const std::int64_t* kinked;
    const double* column_stiffness;  // per kinked column
    std::int64_t n_constraints;
    const double* rows;  // n_constraints x order, norm 1
    const double* offset;
    const std::uint8_t* equality;
    double constraint_stiffness;

    // There and back between scaled variables and the user's (intercept last).
    void expand(const double* b, double* user) const;
    void contract(const double* gradient, double* out) const;  // `out` may be `gradient`
    void contract_matrix(double* H) const;                     // order x order, both halves

    // Slope of the augmented term of the k-th kinked column at b, its proximal point, and whether
    // that lies on a kink or bound.
    struct Kink {
        double slope, target;
        bool held;
    };
    Kink kink(std::int64_t k, double b, double multiplier, double growth) const;
    double constraint_value(std::int64_t r, const double* b) const;
    // The multiplier of constraint r at its value.
    double constraint_slope(std::int64_t r, double value, double multiplier, double growth) const;

    double penalty(const double* b) const;
    // Fenchel-Young gap of the columns at b and slopes q = -(gradient of everything else).
    double column_gap(const double* b, const double* q) const;
};

// What rows outside a working set add: a linear term, and a quadratic one around `at`.
struct FrozenTerms {
    const double* linear = nullptr;     // null: nothing is frozen
    const double* quadratic = nullptr;  // order x order; null: none
    const double* at = nullptr;

    void add_gradient(const double* b, std::int64_t order, double* gradient) const;
    double change(const double* b, std::int64_t order) const;  // of their cost since `at`
    double curvature_along(const double* direction, std::int64_t order) const;
};

}  // namespace rectiline::newton
