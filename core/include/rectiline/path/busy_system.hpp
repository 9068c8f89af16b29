// Newton systems of which only some columns matter,
//
//     (diag(stiffness) + sum_k weight_k t_k t_k') x = right,
//
// over rows t_k of scaled columns, each of which has about the curvature sum_k weight_k. A column
// that is much stiffer than that barely moves: it is idle, and solved by its diagonal entry alone.
// Factors of many columns are in single precision where there are routines for that.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>
#include <vector>

namespace rectiline::path {

class BusySystem {
  public:
    // `rows`: `order` entries each, `stride` apart; `which` of them count, by their weights.
    // `floor`: curvature to count with at least; `all`: no column is idle. False when there is no
    // factor.
    bool set(const double* rows, std::int64_t stride, std::int64_t order,
             const std::vector<std::int64_t>& which, const double* weight, const double* stiffness,
             double ridge, double floor, bool all);
    // The same for weights `factor * width`, where the same rows come again and again: only those
    // that came and went since the last call are summed. All rows of a system have the same `rows`.
    bool set_again(const double* rows, std::int64_t stride, std::int64_t order,
                   const std::vector<std::int64_t>& which, const std::vector<double>& width,
                   double factor, const double* stiffness, double ridge, double floor);
    void solve(const double* right, double* x);
    bool is_single() const { return single_; }

  private:
    std::vector<std::int64_t> busy_;
    template <class Real>
    bool factorise(const double* rows, std::int64_t stride, std::int64_t order,
                   const std::vector<std::int64_t>& which, const double* weight,
                   const double* stiffness, double ridge, std::vector<Real>& packed,
                   std::vector<Real>& H);

    double choose_busy(std::int64_t order, const double* stiffness, double curvature, double floor,
                       bool all);  // returns the curvature to count with
    void update_gram(const double* rows, std::int64_t stride, std::int64_t order,
                     const std::vector<std::int64_t>& which, const std::vector<double>& width);
    void pack(const double* rows, std::int64_t stride, std::int64_t order,
              const std::vector<std::int64_t>& which, const std::vector<double>& width);

    bool single_ = false;  // solutions have the digits of single precision
    std::vector<double> diagonal_, weight_, packed_, H_, x_;
    std::vector<float> single_packed_, single_H_, single_x_;
    std::vector<float> gram_;              // of all columns over the rows
    std::vector<std::uint8_t> is_summed_;  // here, by row
    std::vector<std::int64_t> came_, went_;
    std::int64_t updates_ = 0;
};

}  // namespace rectiline::path
