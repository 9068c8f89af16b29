// What a certificate needs of a pair of coefficients and multipliers: where the losses are
// evaluated, q = shift - X'g, and the sum of the multipliers, each with a bound on its error. In
// plain doubles the bounds come from norms of X; in twofold arithmetic from the products
// themselves.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/proof/twofold.hpp"
#include "rectiline/rows/rows.hpp"

namespace rectiline::proof {

// ---- twofold products ---------------------------------------------------------------------------

// Products with a design matrix in twofold arithmetic, for certificates that plain doubles cannot
// decide. About ten times the work of a plain product.

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

// Upper bounds on norms of X: rows of X / scale, and columns.
struct DesignNorms {
    std::span<const double> scale, row, column;
};

// What constraint rows, and rows that were summed elsewhere, add to q: within `error` of
// value + rest. Each may be empty.
struct Shift {
    std::span<const double> value = {}, rest = {}, error = {};
};

struct PairProducts {
    std::span<double> argument, radius;  // one entry per row
    std::span<double> q, error;          // one entry per column
};

struct Candidate {
    std::span<const double> b;
    double intercept;
    std::span<const double> g;
};

// The products z = X b and image = X'g have been made in plain doubles.
void measure_plain(const RowFunctions& rows, const Candidate& pair, std::span<const double> z,
                   std::span<const double> image, const DesignNorms& norms, const Shift& shift,
                   PairProducts out);

void measure_twofold(const DesignView& X, const RowFunctions& rows, const Candidate& pair,
                     const Shift& shift, PairProducts out);

// The sum of numbers, and a bound on its error.
struct BoundedSum {
    double value, error;
};
BoundedSum bounded_sum(std::span<const double> g);

// The largest relative error of a sum of `count` products, with a small margin.
double gamma(std::size_t count);

}  // namespace rectiline::proof
