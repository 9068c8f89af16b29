// Products with a design matrix in twofold arithmetic, for certificates that plain doubles cannot
// decide. About ten times the work of a plain product.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/proof/twofold.hpp"

namespace rectiline::proof {

// Arrays of n finished sums.
struct TwofoldVector {
    std::int64_t n;
    double *hi, *lo, *error, *size;

    Twofold operator[](std::int64_t i) const { return {hi[i], lo[i], error[i], size[i]}; }
    void set(std::int64_t i, const Twofold& value) const {
        hi[i] = value.hi, lo[i] = value.lo, error[i] = value.error, size[i] = value.size;
    }
};

// z = X b
void multiply(const DesignView& X, std::span<const double> b, const TwofoldVector& z);

// q = X' g
void multiply_transposed(const DesignView& X, std::span<const double> g, const TwofoldVector& q);

// sum_i x_i
Twofold sum(std::span<const double> x);

}  // namespace rectiline::proof
