// Numbers of twice the precision of a double: an unevaluated sum hi + lo (about 32 digits), and
// matrices of them and of doubles. The operations are those of Dekker ("A floating-point technique
// for extending the available precision", 1971), accurate to a few units of 2^-104 of their
// operands.
#pragma once

#include "rectiline/proof/twofold.hpp"

namespace rectiline::interior {

struct Number {
    double hi = 0, lo = 0;

    Number() = default;
    RECTILINE_INLINE Number(double value) : hi(value) {}
    RECTILINE_INLINE Number(double value, double rest) {
        hi = value + rest;
        lo = rest - (hi - value);
    }
};

RECTILINE_INLINE Number operator-(Number a) {
    Number negative;
    negative.hi = -a.hi, negative.lo = -a.lo;
    return negative;
}
RECTILINE_INLINE Number operator+(Number a, Number b) {
    const proof::Pair sum = proof::two_sum(a.hi, b.hi);
    return {sum.value, sum.rest + (a.lo + b.lo)};
}
RECTILINE_INLINE Number operator-(Number a, Number b) {
    return a + -b;
}
RECTILINE_INLINE Number operator*(Number a, Number b) {
    const proof::Pair product = proof::two_product(a.hi, b.hi);
    return {product.value, product.rest + (a.hi * b.lo + a.lo * b.hi)};
}
RECTILINE_INLINE Number operator/(Number a, Number b) {
    const double first = a.hi / b.hi;
    Number left = a - Number(first) * b;
    const double second = left.hi / b.hi;
    left = left - Number(second) * b;
    return Number(first, second) + Number(left.hi / b.hi);
}
RECTILINE_INLINE Number& operator+=(Number& a, Number b) {
    return a = a + b;
}
RECTILINE_INLINE Number& operator-=(Number& a, Number b) {
    return a = a - b;
}
inline Number square_root(Number a) {
    const double root = std::sqrt(a.hi);
    if (!(root > 0)) return Number(root);
    return Number(root) + Number((a - Number(root) * Number(root)).hi / (2 * root));
}

RECTILINE_INLINE double leading(double a) {
    return a;
}
RECTILINE_INLINE double leading(Number a) {
    return a.hi;
}

// A symmetric matrix by its lower triangle, one column after the other, and its Cholesky factor.
template <class Real>
class SymmetricMatrix {
  public:
    explicit SymmetricMatrix(std::int64_t size) : size_(size), entries_(size * size) {}

    void clear() { std::fill(entries_.begin(), entries_.end(), Real(0.0)); }
    void add_to_diagonal(std::int64_t j, Real value) { column(j)[j] += value; }
    // Adds weight * row row', where the row has entries at increasing columns.
    void add_row(Real weight, std::span<const std::int64_t> columns,
                 std::span<const double> values);
    // Replaces the matrix by its factor L with L L' = matrix; false where there is none. Of numbers
    // a pivot that rounding has used up makes its unknown zero.
    bool factorise();
    // Solves with the factor, in place.
    void solve(std::span<Real> x) const;

  private:
    Real* column(std::int64_t j) { return entries_.data() + j * size_; }
    const Real* column(std::int64_t j) const { return entries_.data() + j * size_; }

    std::int64_t size_;
    std::vector<Real> entries_;
};

}  // namespace rectiline::interior
