// Losses with one kink, sum_i width_i max(a_i, 0) and a linear term, along a list of strengths of a
// penalty, for modest targets: sum_j l1_j |b_j|, which makes it a linear program, or with ridge
// terms rho_j / 2 b_j^2 on all columns.
//
// Between two strengths the best vertex changes almost everywhere, so there is little in it to go
// on from. A softened problem has answers that move smoothly:
//
//   soften   kinks of rows become parabolas of half-width h, those of columns of half-width w_j; h
//            is such that a few times as many rows lie on a parabola as columns are in use. Newton
//            steps solve it, and its answer starts the next strength;
//   sharpen  a few steps of a primal-dual interior method on the rows inside the band alone; the
//            others stay on their side. Coefficients move along a step to where the true objective
//            is least, multipliers as far as their ranges allow.
//
// Multipliers of the softened problem are feasible and close to the best ones, which is what an
// interior method needs to start from. Where the penalty is a small part of the objective, answers
// change little, and the interior method goes on from the last one. The best coefficients and the
// best multipliers on the way are kept apart: any pair of the two has a gap.
#pragma once

#include "rectiline/path/busy_system.hpp"
#include "rectiline/path/interior_band.hpp"
#include "rectiline/path/kinked_rows.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <vector>

namespace rectiline::path {

struct LinearStep {
    std::int64_t steps;
    double relative_gap;  // estimated
    bool failed, interrupted;
};

class LinearPath {
  public:
    // `terms` are those at `strength`: l1 terms on all columns, or ridge terms on all of them, with
    // or without l1 terms; and nothing else.
    LinearPath(const DesignView& X, const RowFunctions& rows, const NewtonTerms& terms,
               double strength, int n_threads);
    LinearPath(const LinearPath&) = delete;  // its parts know one another
    LinearPath& operator=(const LinearPath&) = delete;

    // Starts at coefficients in the user's units (intercept last).
    void place(const double* user);
    LinearStep move(double strength, double target, std::int64_t max_steps, Interrupt& interrupt);
    void coefficients(double* user) const;
    void dual(double* g) const { rows_.slopes(best_v_.data(), g); }  // slopes in the predictions
    const KinkedRows& rows() const { return rows_; }

  private:
    using Vector = std::vector<double>;

    void set_strength(double strength);
    void predict();
    double columns_in_use() const;
    void set_softness(double target);
    double harmless_width(double least, double most) const;
    bool soften(std::int64_t max_steps, double target, LinearStep& out, Interrupt& interrupt);
    bool is_too_soft(double target);
    double soft_step();  // along the direction, to where the softened problem is least
    void sharpen(std::int64_t most, double target, LinearStep& out, Interrupt& interrupt);
    bool is_near(double strength) const;  // to the last answer

    double penalty(const Vector& b) const;
    // Keep a point if it is the best so far; return what it is worth.
    double offer(const Vector& b, const Vector& a);
    bool drop(std::size_t count, double target);
    void polish(double target);
    double offer_multipliers(const Vector& v, const Vector& g);
    double relative_gap() const { return gap_to(best_primal_); }
    double gap_to(double primal) const;

    KinkedRows rows_;
    std::int64_t n_, d_, p_;
    double base_strength_, strength_;
    Vector scale_, center_, base_l1_, l1_, base_rho_, rho_;
    bool has_ridge_ = false;

    Vector b_, a_, before_;                           // softened answer, and the one before
    double soft_strength_ = 0, before_strength_ = 0;  // of the two; 0: there is none
    double value_ = 0, curvature_ = 0;                // of the objective and of its rows, about
    double h_ = 0, spread_ = 0;                       // spread: root mean square of the arguments
    Vector w_;                                        // half-widths of the columns
    Vector v_, g_;                                    // multipliers, and what they pull with
    Vector best_b_, best_v_, best_g_;
    double best_primal_ = 0, best_dual_ = 0;

    InteriorBand band_;
    double band_strength_ = 0;  // where it ended with an answer; 0: nowhere
    BusySystem system_;
    Vector db_, da_, stiffness_, right_, trial_b_, trial_a_, sizes_;
    std::vector<std::int64_t> listed_, order_;
};

}  // namespace rectiline::path
