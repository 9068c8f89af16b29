// The systems of weighted least squares on sparse rows R, with weights W and a diagonal D:
//
//     D x + R's = v,     R x - s/W = r/W
//
// Most rows are eliminated: D + R'W R has few entries where rows are short, as with fixed effects,
// trends, graphs and splines. Long rows (factors of a portfolio, sums over all columns) would fill
// it; they stay, with s as unknowns of their own, and the matrix is quasi-definite.
#pragma once

#include "rectiline/sparse/factor.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::sparse {

// Rows in compressed form with increasing columns.
struct CompressedRows {
    std::vector<std::int64_t> begin, columns;
    std::vector<double> values;

    std::int64_t n_rows() const { return std::ssize(begin) - 1; }
    std::int64_t length(std::int64_t row) const { return begin[row + 1] - begin[row]; }
};

// Where the entries of each column begin, their places among those of the rows, and their rows.
struct EntriesByColumns {
    std::vector<std::int64_t> begin, places;
    std::vector<Index> rows;
};

class NormalEquations {
  public:
    NormalEquations(CompressedRows rows, std::int64_t width, bool keeps_long_rows);

    const CompressedRows& rows() const { return rows_; }
    std::int64_t width() const { return width_; }
    // Finds order and structure; false when asked to stop, or beyond so many entries of the factor.
    bool analyse(double most, Interrupt& interrupt);
    // Takes over order and structure of equations with the same columns whose rows join them as
    // much or more: further rows of one entry change neither.
    void adopt(const NormalEquations& other);
    bool is_analysed() const { return is_analysed_; }
    const Factor& factor() const { return factor_; }
    bool has_kept_rows() const { return !kept_.empty(); }
    // Same pattern, other values.
    void set_values(std::span<const double> values);

    // Analyses first if need be. False where there is no factor, or when asked to stop.
    bool factorise(std::span<const double> weight, std::span<const double> diagonal,
                   Interrupt& interrupt);
    // Replaces v by x. Sets s of the rows that are kept.
    void solve(std::span<double> v, std::span<const double> r, std::span<double> s) const;

  private:
    Graph graph(double most, Interrupt& interrupt) const;
    void arrange();
    bool sum_up(std::span<const double> weight, std::span<const double> diagonal,
                Interrupt& interrupt);

    CompressedRows rows_;
    std::int64_t width_;
    std::vector<std::int64_t> kept_;  // rows that stay
    std::vector<Index> unknown_;      // of each row, -1 where it is eliminated
    std::vector<double> kept_weight_;
    bool is_analysed_ = false;
    Factor factor_;
    // The rows with their columns in the order of elimination, which begin where those of rows_ do.
    std::vector<Index> row_columns_;
    EntriesByColumns columns_;
    std::vector<std::int64_t> sources_;  // of each entry, in rows_
    std::vector<double> values_, signs_, entries_, sums_;
};

}  // namespace rectiline::sparse
