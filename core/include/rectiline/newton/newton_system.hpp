// The linear system of one Newton step,
//
//     (diag(D) + X_J' W X_J + c * sum over active constraints r r' + Q) x = v,
//
// in scaled variables. Q (frozen rows) may be absent. Three ways, chosen by their cost:
//
//   matrix   Cholesky factor of the size of the columns;
//   rows     one of the size of J and the active constraints: x = D^-1 (v - P'u) with
//            (I + P D^-1 P') u = P D^-1 v, P the weighted rows. Columns whose diagonal is tiny
//            against their curvature (active ones under an L1 penalty, the intercept) would lose
//            all digits there and stay unknowns of their own; iterative refinement does the rest;
//   cg       conjugate gradients with the diagonal as preconditioner, where neither fits;
//            tried first on sparse rows of smooth losses with many columns, as long as its products
//            cost less than the matrix.
#pragma once

#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/newton/newton_terms.hpp"
#include "rectiline/support/conjugate_gradients.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::newton {

class NewtonSystem {
  public:
    struct Parts {
        NewtonRows& rows;
        const NewtonTerms& terms;
        const FrozenTerms& frozen;
        std::span<const double> diagonal;      // D, order() values
        std::span<const std::int64_t> active;  // constraints that count
        double constraint_weight;              // c
        bool is_smooth = false;                // no envelopes: W is the curvature of the losses
    };
    enum class Way { automatic, matrix, rows, cg };

    // x = solution for the right-hand side v; false when no way gives one. When it is interrupted,
    // there is none, or an inexact one that is still a direction of descent.
    bool solve(const Parts& parts, std::span<const double> v, std::span<double> x,
               Interrupt& interrupt, Way way = Way::automatic);

    // Whether the last solution is one of a few products.
    bool is_loose() const { return is_loose_; }

    // The way that `solve` would take.
    static Way choose(const Parts& parts);

  private:
    bool by_matrix(const Parts& parts, std::span<const double> v, std::span<double> x,
                   Interrupt& interrupt);
    bool by_rows(const Parts& parts, std::span<const double> v, std::span<double> x,
                 Interrupt& interrupt);
    bool try_products(const Parts& parts, std::span<const double> v, std::span<double> x,
                      Interrupt& interrupt);
    std::int64_t by_conjugate_gradients(const Parts& parts, std::span<const double> v,
                                        std::span<double> x, std::int64_t most, double share,
                                        Interrupt& interrupt);
    bool set_rows(const Parts& parts, Interrupt& interrupt);
    void multiply(const Parts& parts, std::span<const double> x, std::span<double> out);
    bool solve_rows(std::span<const double> D, std::span<const double> v, std::span<double> x);

    double bump_ = 0;  // share of the largest diagonal entry added when a factorisation fails
    std::vector<double> H_, factor_, base_;
    std::vector<double> P_, scaled_, kernel_, explicit_columns_, schur_, image_, residual_, step_;
    std::vector<std::int64_t> explicit_;
    std::vector<double> user_, product_, preconditioner_;
    ConjugateGradients iterative_;
    bool tries_products_ = true;  // whether few of them have been enough so far
    bool is_loose_ = false;
};

}  // namespace rectiline::newton
