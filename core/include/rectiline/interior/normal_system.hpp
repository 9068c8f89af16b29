// The linear systems of a step of `UnitInterior`, with rows R, their weights W and a diagonal D
// (rho and a small proximal term):
//
//     D x + R's = v,     R x - s/W = r/W
//
// `NormalSystem` is the seam: `DenseSystem` below solves small ones in any arithmetic and
// `SparseSystem` those with sparse factors; larger ones (dense by columns or by rows, by rows with
// an arrow per group) come from Python.
#pragma once

#include "rectiline/proof/twofold.hpp"
#include "rectiline/sparse/normal_equations.hpp"
#include "rectiline/support/interrupt.hpp"

#include <memory>

namespace rectiline::interior {

// ---- numbers and matrices -----------------------------------------------------------------------

// Numbers of twice the precision of a double: an unevaluated sum hi + lo (about 32 digits), and
// matrices of them and of doubles. The operations are those of Dekker ("A floating-point technique
// for extending the available precision", 1971), accurate to a few units of 2^-104 of their
// operands.

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

// ---- the systems --------------------------------------------------------------------------------

struct UnitProgram {
    // One entry per unit. `least` is added to the stiffness of its multiplier, so that the weights
    // of rows stay within the reach of refinement and those of free multipliers are finite. A unit
    // that is open on one side starts `room` away from the other.
    std::vector<std::int64_t> row;
    std::vector<double> shift, low, high, soft, least, room;
    // One entry per column; `price` is the unit of its absolute value, or -1.
    std::vector<double> rho, linear;
    std::vector<std::int64_t> price;
    double constant = 0;          // of the objective
    double reference = 0;         // what zero coefficients cost: the yardstick of rounding
    bool is_nonnegative = false;  // whether nothing can cost less than `constant`

    std::int64_t width() const { return std::ssize(rho); }
    bool is_boxed(std::int64_t k) const { return std::isfinite(low[k]) || std::isfinite(high[k]); }
    std::int64_t n_units() const { return std::ssize(row); }
};

template <class Real>
class NormalSystem {
  public:
    virtual ~NormalSystem() = default;
    virtual std::int64_t n_rows() const = 0;
    // rows = R x and x = R'rows.
    virtual void multiply(std::span<const Real> x, std::span<Real> rows) = 0;
    virtual void multiply_transposed(std::span<const Real> rows, std::span<Real> x) = 0;
    // False where there is no factor, or when asked to stop.
    virtual bool factorise(std::span<const Real> weight, Interrupt& interrupt) = 0;
    // Replaces v by x; returns whether s was found along with it.
    virtual bool solve(std::span<Real> v, std::span<const Real> r, std::span<Real> s) = 0;
};

// A system whose rows are at hand. The proximal term keeps columns that nothing holds where they
// are; it is raised where there is no factor.
template <class Real>
class CompressedSystem : public NormalSystem<Real> {
  public:
    CompressedSystem(const UnitProgram& program, double proximal)
        : rho_(program.rho), proximal_(proximal), diagonal_(rho_.size()) {}

    std::int64_t n_rows() const override { return rows().n_rows(); }
    void multiply(std::span<const Real> x, std::span<Real> rows) override;
    void multiply_transposed(std::span<const Real> rows, std::span<Real> x) override;
    bool factorise(std::span<const Real> weight, Interrupt& interrupt) override;

  protected:
    virtual const CompressedRows& rows() const = 0;
    // With the present diagonal.
    virtual bool try_factor(std::span<const Real> weight, Interrupt& interrupt) = 0;

    std::vector<double> rho_;
    double proximal_;
    std::vector<Real> diagonal_;
};

// By columns: D + R'W R is factorised. Rows whose weight never changes (squares, equalities) are
// summed up once.
//
// By rows: rows of one entry belong to the diagonal D, and with K for the others
// x = (v - K's) / D, where (K D^-1 K' + 1/W) s = K D^-1 v has the size of these rows.
template <class Real>
class DenseSystem final : public CompressedSystem<Real> {
  public:
    DenseSystem(const UnitProgram& program, CompressedRows rows, bool by_rows, double proximal);

    bool solve(std::span<Real> v, std::span<const Real> r, std::span<Real> s) override;

  private:
    const CompressedRows& rows() const override { return rows_; }
    bool try_factor(std::span<const Real> weight, Interrupt& interrupt) override;
    bool sum_rows(std::span<const Real> weight, bool steady, SymmetricMatrix<Real>& sum,
                  Interrupt& interrupt) const;
    bool sum_all_rows(std::span<const Real> weight, Interrupt& interrupt);
    bool sum_columns(std::span<const Real> weight, Interrupt& interrupt);

    using CompressedSystem<Real>::diagonal_;

    CompressedRows rows_;
    bool by_rows_;
    bool has_steady_ = false;
    std::vector<std::uint8_t> is_steady_;       // whether the weight of a row never changes
    std::vector<std::int64_t> wide_;            // by rows: those with several entries, ..
    std::vector<std::int64_t> begin_, number_;  // .. by columns, as places in `wide_` ..
    std::vector<double> values_;                // .. and entries
    std::vector<Real> image_;
    SymmetricMatrix<Real> steady_, matrix_;
};

// By a sparse factor, see `sparse::NormalEquations`.
class SparseSystem final : public CompressedSystem<double> {
  public:
    SparseSystem(const UnitProgram& program, std::shared_ptr<NormalEquations> equations,
                 double proximal)
        : CompressedSystem(program, proximal), equations_(std::move(equations)) {}

    bool solve(std::span<double> v, std::span<const double> r, std::span<double> s) override;

  private:
    const CompressedRows& rows() const override { return equations_->rows(); }
    bool try_factor(std::span<const double> weight, Interrupt& interrupt) override {
        return equations_->factorise(weight, diagonal_, interrupt);
    }

    std::shared_ptr<NormalEquations> equations_;
};

}  // namespace rectiline::interior
