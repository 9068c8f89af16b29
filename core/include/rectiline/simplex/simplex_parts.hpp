// Parts of the boxed simplex method: a growing matrix stored both ways, and the explicit inverse of
// the kernel, the square block of the basis that is not slack.
#pragma once

#include "rectiline/support/interrupt.hpp"

namespace rectiline::simplex {

// An edge: t + step * dt, where a column at its low end (turn +1) has t <= 0 and one at its high
// end (turn -1) t >= 0; `open` is the width of columns that may meet their kink, and 0 for the
// others.
struct EdgeArrays {
    const double *t, *dt, *turn, *open;
};

// step[u]: to where t_u = 0, infinite if it is not on its way or slower than `slowest`. Returns how
// much the slope of the sum of kinks rises over those up to `within`.
double edge_steps(const EdgeArrays& edge, std::int64_t size, double slowest, double within,
                  double* step);

// Factors of some lines, and where their sum goes.
struct Combination {
    const double* scale;
    double* out;
};

// A dense matrix to which rows and columns are appended, held by rows and by columns, so that
// combinations of either are sums of contiguous stretches.
class TwoWayMatrix {
  public:
    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t n_columns() const { return n_columns_; }
    const double* row(std::int64_t r) const { return by_row_.data() + r * row_stride_; }
    const double* column(std::int64_t u) const { return by_column_.data() + u * column_stride_; }

    // Appends zero rows or columns; entries are set afterwards.
    void grow(std::int64_t rows, std::int64_t columns);
    void set(std::int64_t r, std::int64_t u, double value) {
        by_row_[r * row_stride_ + u] = value;
        by_column_[u * column_stride_ + r] = value;
    }

    // out (one per column) -= sum_i scale_i * row(rows_i)
    void subtract_rows(const std::int32_t* rows, const double* scale, std::int64_t count,
                       double* out) const;
    // out (one per row) += sum_i scale_i * column(columns_i), of every combination
    void add_columns(const std::int32_t* columns, std::span<const Combination> wanted,
                     std::int64_t count) const;

  private:
    std::int64_t n_rows_ = 0, n_columns_ = 0, row_stride_ = 0, column_stride_ = 0;
    std::vector<double> by_row_, by_column_;
};

// The kernel K = A[rows, columns] of a basis and its inverse G; G has one row per column of K.
class KernelInverse {
  public:
    std::int64_t size() const { return std::ssize(rows); }
    const double* line(std::int64_t j) const { return inverse_.data() + j * stride_; }
    double entry(std::int64_t j, std::int64_t i) const { return inverse_[j * stride_ + i]; }

    std::vector<std::int32_t> rows, columns;  // in the order of the inverse
    std::vector<double> norms;                // squared length of every line of the inverse
    std::int64_t n_updates = 0;               // since the last factorisation

    // out = G scale, of every combination
    void solve(std::span<const Combination> wanted) const;
    // out = left' G
    void solve_transposed(const double* left, double* out) const;

    // The basis changes. `alpha` is B^-1 times the new column on the kernel's columns. "column_for"
    // names an index of the kernel that leaves, "grow" and "row_for" the row `g` = A[r, columns] G
    // that enters with the pivot of r itself.
    void column_for_column(std::int64_t j, std::int32_t column, const double* alpha);
    void row_for_column(std::int64_t j, std::int64_t i, const double* alpha);
    void column_for_row(std::int32_t row, std::int32_t column, const double* alpha, const double* g,
                        double pivot);
    void row_for_row(std::int32_t row, std::int64_t i, const double* alpha, const double* g,
                     double pivot);

    // Inverts A[rows, columns] from scratch; pairs without a pivot leave. False if any did. When it
    // is interrupted, the inverse stays as it was.
    bool factorise(const TwoWayMatrix& A, Interrupt& interrupt);

  private:
    void reserve(std::int64_t size, std::int64_t kept);
    void eliminate(std::int64_t count, const double* alpha, double pivot, const double* pivot_line,
                   std::int64_t skip);
    void drop_line(std::int64_t j);
    bool invert(const TwoWayMatrix& A, Interrupt& interrupt);
    void drop_dependent(const TwoWayMatrix& A);
    std::vector<double> entries(const TwoWayMatrix& A) const;
    void measure();
    std::int64_t stride_ = 0;
    std::vector<double> inverse_;
    std::vector<double> spare_;
};

}  // namespace rectiline::simplex
