// A dense simplex method for linear programs whose columns are all boxed:
//
//     maximise cost'v   subject to   low <= A v <= high,   0 <= v <= width
//
// which is the dual of minimising a sum of kinks without any constraint but signs,
//
//     min_y  sum_u width_u max(0, cost_u - a_u'y) + sum_r max(high_r y_r, low_r y_r).
//
// Every y is a feasible point of the latter, so there is no first phase: each step leaves a vertex
// along an edge on which the sum falls and follows it over kink after kink until it rises (the dual
// simplex method with bound flipping, steepest edges). A vertex is held by its kernel: as many
// columns at their kink as rows with y_r free to move. Only the kernel is inverted, explicitly;
// slack rows cost nothing. Bounds of rows may be infinite: then y_r has one sign, or is zero.
#pragma once

#include "rectiline/support/interrupt.hpp"

#include <optional>

namespace rectiline::simplex {

// ---- the matrix and the inverse of the kernel ---------------------------------------------------

// Parts of the boxed simplex method: a growing matrix stored both ways, and the explicit inverse of
// the kernel, the square block of the basis that is not slack.

// An edge: t + step * dt, where a column at its low end (turn +1) has t <= 0 and one at its high
// end (turn -1) t >= 0; `open` is the width of columns that may meet their kink, and 0 for the
// others.
struct EdgeArrays {
    const double *t, *dt, *turn, *open;
};

// step[u]: to where t_u = 0, infinite if it is not on its way or slower than `slowest`.
void edge_steps(const EdgeArrays& edge, std::int64_t size, double slowest, double* step);

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

// ---- the method ---------------------------------------------------------------------------------

enum class SimplexOutcome {
    optimal,     // the vertex prices out, with values computed from the factors
    unbounded,   // the sum of kinks falls for ever along an edge
    limit,       // of work or time, or interrupted; may go on
    step_limit,  // more steps than allowed
    stalled,     // no way out of a degenerate vertex; it is feasible, but not shown to be best
    trouble      // the numbers contradict each other or overflow
};

// Where a column or a row is in a basis.
enum SimplexPlace : std::uint8_t { kAtLow = 0, kBasic = 1, kAtHigh = 2 };

class BoxedSimplex {
  public:
    // values: one line per named row, with an entry for each new column.
    void add_columns(std::span<const double> cost, std::span<const double> width,
                     std::span<const std::int32_t> named, const double* values);
    // values: one line per new row, with an entry for each named column.
    void add_rows(std::span<const double> low, std::span<const double> high,
                  std::span<const std::int32_t> named, const double* values);
    void set_row_bounds(std::span<const std::int32_t> rows, std::span<const double> low,
                        std::span<const double> high);
    void set_widths(std::span<const std::int32_t> columns, std::span<const double> width);

    // Goes on from the present basis; stops at the limit after so much more work, in products.
    SimplexOutcome solve(std::int64_t most_steps, Interrupt& interrupt,
                         double most_work = kInfinity);
    void forget_basis();
    // Singular kernels lose the pairs that make them so.
    void set_basis(std::span<const std::uint8_t> columns, std::span<const std::uint8_t> rows);
    void basis(std::span<std::uint8_t> columns, std::span<std::uint8_t> rows) const;

    std::int64_t n_rows() const { return A_.n_rows(); }
    std::int64_t n_columns() const { return A_.n_columns(); }
    std::int64_t n_steps() const { return n_steps_; }
    double work() const { return work_; }
    const std::vector<double>& multipliers() const { return y_; }
    void values(std::span<double> v) const;

  private:
    struct Leaving {
        std::int64_t index;  // of the kernel's columns, or -1 - row
        double sign;         // of the step along its line of the inverse
        double infeasibility;
        double bound;  // where it goes
    };
    struct Crossing {
        double step, rise, speed;
        std::int64_t which;  // column, or -1 - index of the kernel's rows
    };

    void refresh(bool factorise, Interrupt& interrupt);
    void compute_vertex();
    void compute_values();
    void compute_row_norms(std::int64_t first);
    bool price(Leaving& found) const;
    void set_direction(const Leaving& leaving);
    void collect_crossings(double within);
    double squared_length(const Leaving& leaving) const;  // of its line of the inverse
    std::int64_t choose_crossing(double slope);
    std::int64_t with_usable_pivot(std::int64_t chosen);
    void flip(std::int64_t passed);
    double image(const Leaving& leaving, const Crossing& entering);
    void change_basis(const Leaving& leaving, const Crossing& entering, double pivot);
    void leave_for_column(const Leaving& leaving, std::int32_t column, double value, double pivot);
    void leave_for_row(const Leaving& leaving, std::int64_t i, double value, double pivot);
    void update_row_norms(const Leaving& leaving, double pivot);
    std::optional<SimplexOutcome> step(const Leaving& leaving, Interrupt& interrupt);
    // The column that leaves, or -1 - row.
    std::int64_t name_of(const Leaving& leaving) const {
        return leaving.index < 0 ? leaving.index : kernel_.columns[leaving.index];
    }
    bool at_high(std::int64_t column) const { return turn_[column] < 0.0; }
    void note_places();  // of the kernel's rows and columns
    void perturb(Interrupt& interrupt);
    std::int64_t step_work() const;
    bool is_worn() const;  // whether the inverse has been updated often

    TwoWayMatrix A_;
    KernelInverse kernel_;
    std::vector<double> cost_, given_cost_, width_, low_, high_;
    std::vector<std::int32_t> column_place_, row_place_;  // in the kernel, or -1
    std::vector<double> turn_;       // of columns outside the kernel: -1 at high, +1 at low
    std::vector<double> open_;       // width of columns outside the kernel, 0 for the others
    std::vector<double> side_;       // of the kernel's rows, by row: +1 at high, -1 at low
    std::vector<double> y_, t_;      // the vertex; t = cost - A'y
    std::vector<double> basic_;      // v of the kernel's columns
    std::vector<double> slack_;      // A v of all rows; used outside the kernel
    std::vector<double> row_norms_;  // steepest edges of the rows outside the kernel
    std::int64_t normed_rows_ = 0, n_steps_ = 0, n_flat_ = 0, n_perturbed_ = 0;
    double work_ = 0.0;            // products of all steps so far
    std::int64_t unreported_ = 0;  // work that the interrupt has not heard of
    bool perturbed_ = false;
    std::vector<std::int64_t> banned_;  // columns and -1 - rows without a usable pivot here
    // work space of one step
    std::vector<double> line_, dt_, dy_, alpha_, tau_, moved_, alpha_rows_, tau_rows_, moved_rows_;
    std::vector<double> right_, flips_, gathered_;
    std::vector<std::int32_t> dy_rows_;
    std::vector<Crossing> crossings_;
    std::vector<double> step_;  // to the kink of each column
    double usual_step_ = 0.0;   // of the last edges
    bool flipped_ = false;
};

}  // namespace rectiline::simplex
