// Proximal Newton steps on a smoothed loss under L1, on a growing set of columns.
//
//     min over b, b0   sum_i w_i phi_mu(p_i (x_i'b + b0) + o_i) + sum_j l1_j |b_j|
//
// phi_mu is the Moreau envelope of the row's curve with step mu: its slope climbs at rate 1/mu
// across each kink. A step minimises the quadratic model of the rows whose slope is not flat here,
// plus the L1 norm, by coordinate descent, and searches along the line to that minimiser. Few rows
// are near a kink, so that sweeps over the model cost a small part of one product with X. The
// intercept is eliminated from the model: after every coordinate it takes its best value at the
// cost of one number. That matters, as common columns of text and the intercept are nearly
// parallel.
//
// Far from the solution the model says little. There `sweep` descends coordinate by coordinate with
// a trust region for each: within it the curvature is bounded by counting the rows that come near a
// kink (Zhang and Oles, "Text categorization based on regularized linear classification methods").
//
// Only the columns that were added are stored, by columns.
#pragma once

#include "rectiline/rows/ramps.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::newton {

class SmoothedL1 {
  public:
    SmoothedL1(RowFunctions rows, bool intercept);

    // Adds compressed columns of X, with their strengths, at coefficients of zero.
    void add(std::span<const double> values, std::span<const std::int32_t> indices,
             std::span<const std::int64_t> pointers, std::span<const double> l1);
    // Starts at coefficients of the columns that are there, and an intercept.
    void place(std::span<const double> b, double intercept);

    // One sweep over all columns, or over those in use.
    void sweep(double mu, bool all, Interrupt& interrupt);
    // One Newton step. Returns by how much the optimality conditions of the columns failed before
    // it, in units of the strengths; a negative number if no step descends.
    double step(double mu, Interrupt& interrupt);

    std::int64_t n() const { return rows_.n; }
    std::span<const double> coefficients() const { return b_; }
    double intercept() const { return b0_; }
    void predictions(std::span<double> z) const;
    void dual(double mu, std::span<double> g);  // slopes in the predictions

  private:
    std::int64_t count() const { return std::ssize(b_); }
    const Ramps& ramps(std::int64_t i) const {
        return ramps_[rows_.curve_index ? rows_.curve_index[i] : 0];
    }
    struct Column {
        double slope, curvature;
    };
    template <class RampsOf>
    Column look_at(std::int64_t j, double damping, const RampsOf& ramps) const;
    void add_column(std::int64_t j, double factor, std::vector<double>& t) const;
    void smooth(double mu);
    void set_model(double mu);
    bool minimise_model(Interrupt& interrupt);
    double sweep_model(std::span<const std::int64_t> columns);
    double derivative(double step) const;  // along the direction
    void shift_intercept(double mu);
    void move(double step);

    RowFunctions rows_;
    bool intercept_;
    double b0_ = 0, smoothed_for_ = -1;
    std::vector<Ramps> ramps_;
    // The columns: entries times directions, where they are, strengths, sums of squares,
    // coefficients, trust regions.
    std::vector<std::int64_t> start_{0};
    std::vector<std::int32_t> row_;
    std::vector<double> value_, l1_, square_, b_, trust_;
    std::vector<double> t_, slope_;  // of the rows: arguments, weighted slopes in them
    // The direction: change of coefficients, intercept and arguments.
    std::vector<double> direction_, dt_;
    double intercept_direction_ = 0;
    // The model: gradient and curvature of each column and of the intercept, products of columns
    // with the intercept, and the entries of curved rows, times roots of their curvature.
    std::vector<double> gradient_, curvature_, with_intercept_;
    double intercept_gradient_ = 0, intercept_curvature_ = 0, worst_ = 0;
    std::vector<std::int32_t> place_;  // of each row among the curved ones, or -1
    std::vector<double> root_, change_;
    std::vector<std::int64_t> model_start_, all_, used_;
    std::vector<std::int32_t> model_row_;
    std::vector<double> model_value_;
};

}  // namespace rectiline::newton
