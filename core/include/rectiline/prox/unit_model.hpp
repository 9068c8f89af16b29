// The quadratic model over units: diag(diagonal) + S F F'S', where S puts the signs of the units on
// their rows and the columns of F are a few vectors over rows.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::prox {

class UnitModel {
  public:
    // row and sign must outlive the model.
    UnitModel(const std::vector<std::int64_t>& row, const std::vector<double>& sign,
              std::int64_t n_rows);

    // Room for `count` vectors of F, to be filled by the caller, each of n_rows entries.
    std::span<double> vectors(std::int64_t count);
    std::vector<double>& diagonal() { return diagonal_; }

    // image = matrix times move
    void multiply(std::span<const double> move, std::span<double> image);
    // Solves the equations of the units listed in `free`, in the smaller of the two dimensions;
    // `right` is overwritten by the solution.
    void solve(const std::vector<std::int64_t>& free, std::vector<double>& right);
    // Products that `solve` takes for so many units, about.
    std::int64_t work(std::size_t n_free) const;

  private:
    void solve_by_vectors(const std::vector<std::int64_t>& free, std::vector<double>& right);
    void solve_by_units(const std::vector<std::int64_t>& free, std::vector<double>& right);
    // Solves (P P' + diag) x = right for P of `size` rows.
    void solve_square(const double* P, std::int64_t size, std::int64_t depth, const double* diag,
                      double* right);

    const std::vector<std::int64_t>& row_;
    const std::vector<double>& sign_;
    std::int64_t n_, count_ = 0;
    std::vector<double> F_, diagonal_;  // F by columns
    std::vector<double> P_, square_, added_, weight_, by_row_, core_;
    std::vector<std::int64_t> used_;
};

}  // namespace rectiline::prox
