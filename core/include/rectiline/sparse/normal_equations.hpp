// The systems of weighted least squares on sparse rows R, with weights W and a diagonal D:
//
//     D x + R's = v,     R x - s/W = r/W
//
// Most rows are eliminated: D + R'W R has few entries where rows are short, as with fixed effects,
// trends, graphs and splines. Long rows (factors of a portfolio, sums over all columns) would fill
// it; they stay, with s as unknowns of their own, and the matrix is quasi-definite.
#pragma once

#include "rectiline/support/interrupt.hpp"

namespace rectiline::sparse {

// ---- the factor ---------------------------------------------------------------------------------

// A = L S L' for sparse symmetric A and given signs S of the pivots: all positive for positive
// definite matrices, both for quasi-definite ones, which have such a factor in any order.
//
// The order, the tree of elimination and the places of all entries are found once. Columns of L
// with the same rows are stored as one dense block (a supernode), so that the work is done by
// products of dense blocks. Each block passes what it subtracts from later columns, and what its
// children in the tree have passed on to it, on to its parent (the multifrontal method).
//
// Sources: Liu, "The role of elimination trees in sparse factorization" (1990) and "The
// multifrontal method for sparse matrix solution" (1992).

// ---- the order of elimination -------------------------------------------------------------------

// An order in which to eliminate the unknowns of a sparse symmetric system so that few entries are
// filled in.

using Index = std::int32_t;

// An undirected graph: the neighbours of each node, an edge at both of its ends, without loops.
struct Graph {
    std::vector<std::int64_t> begin;
    std::vector<Index> nodes;

    Index size() const { return static_cast<Index>(begin.size()) - 1; }
    std::span<const Index> neighbours(Index i) const {
        return {nodes.data() + begin[i], static_cast<std::size_t>(begin[i + 1] - begin[i])};
    }
};

// Nodes that are eliminated one after the other and have the same later neighbours.
struct EliminatedNodes {
    Index first, width;  // places of the order
};

struct EliminationOrder {
    std::vector<Index> nodes;           // at each place
    std::vector<EliminatedNodes> sets;  // in the order
};

// Approximate minimum degree: the node that would be joined to the fewest others comes next. Nodes
// with very many neighbours come last. Empty when asked to stop, or when the factor will have more
// than `most` entries.
//
// Source: Amestoy, Davis and Duff, "An approximate minimum degree ordering algorithm" (1996).
EliminationOrder minimum_degree_order(const Graph& graph, double most, Interrupt& interrupt);

class Factor {
  public:
    // Finds order and structure; false when asked to stop, or beyond so many entries.
    bool analyse(const Graph& graph, double most, Interrupt& interrupt);
    Index size() const { return static_cast<Index>(order_.size()); }
    double entries() const { return entries_; }  // of L

    // The node at each place of the order, and the reverse.
    std::span<const Index> order() const { return order_; }
    std::span<const Index> place() const { return place_; }
    // The lower triangle of A in this order, by columns with rows that increase.
    std::span<const std::int64_t> begin() const { return begin_; }
    std::span<const Index> rows() const { return rows_; }

    // Factorises the matrix with these entries; false where a pivot has the wrong sign or is zero,
    // or when asked to stop.
    bool factorise(std::span<const double> values, std::span<const double> signs,
                   Interrupt& interrupt);
    // Solves in place, in the order of elimination.
    void solve(std::span<double> x) const;

    // Where all signs are positive, no row sum of |A - L L'| exceeds growth() times the usual bound
    // on the rounding of a sum of most_terms() terms.
    double growth() const;
    std::int64_t most_terms() const;

  private:
    struct Block {
        Index first, width;                // columns
        std::int64_t rows = 0, count = 0;  // where rows begin in block_rows_, and their number
        std::int64_t values = 0;           // where entries begin; columns are `count` apart
        Index parent = -1;
        std::vector<double> update = {};  // what children add to later columns; or nothing
    };
    double set_rows();
    std::int64_t multiply(const Block& block, std::int64_t depth, std::int64_t last);
    bool finish(const Block& block);
    void pass_on(const Block& block, const double* column, std::int64_t stride);

    std::vector<Index> order_, place_, rows_, block_rows_;
    std::vector<std::int64_t> begin_;
    std::vector<Block> blocks_;
    std::vector<double> values_, signs_;
    std::vector<double> packed_, product_;       // of `multiply`
    std::vector<std::int64_t> entry_place_;      // of each entry of A among those of L
    std::vector<std::int64_t> place_in_parent_;  // of each row of a block
    double entries_ = 0;
};

// ---- the equations ------------------------------------------------------------------------------

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
