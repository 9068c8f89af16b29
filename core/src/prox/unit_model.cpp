#include "rectiline/prox/unit_model.hpp"

#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/vectors.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline::prox {

namespace {

constexpr int kMostRidges = 40;  // tried in turn, each a hundred times the last

}  // namespace

UnitModel::UnitModel(const std::vector<std::int64_t>& row, const std::vector<double>& sign,
                     std::int64_t n_rows)
    : row_(row), sign_(sign), n_(n_rows), diagonal_(row.size()) {}

std::span<double> UnitModel::vectors(std::int64_t count) {
    count_ = count;
    F_.resize(static_cast<std::size_t>(count * n_));
    return F_;
}

void UnitModel::multiply(std::span<const double> move, std::span<double> image) {
    weight_.assign(static_cast<std::size_t>(n_), 0.0);
    by_row_.assign(static_cast<std::size_t>(n_), 0.0);
    for (std::size_t u = 0; u < row_.size(); ++u)
        weight_[row_[u]] += sign_[u] * move[u];
    for (std::int64_t c = 0; c < count_; ++c) {
        const double* f = F_.data() + c * n_;
        add_multiple(product(f, weight_.data(), n_), f, by_row_.data(), n_);
    }
    for (std::size_t u = 0; u < row_.size(); ++u)
        image[u] = diagonal_[u] * move[u] + sign_[u] * by_row_[row_[u]];
}

void UnitModel::solve(const std::vector<std::int64_t>& free, std::vector<double>& right) {
    if (count_ < static_cast<std::int64_t>(free.size()))
        solve_by_vectors(free, right);
    else
        solve_by_units(free, right);
}

std::int64_t UnitModel::work(std::size_t n_free) const {
    const auto free = static_cast<std::int64_t>(n_free);
    const std::int64_t few = std::min(free, count_), many = std::max(free, count_);
    return few * few * many + 2 * count_ * n_;
}

void UnitModel::solve_by_vectors(const std::vector<std::int64_t>& free,
                                 std::vector<double>& right) {
    // Units on one row share it: their weights add up.
    weight_.assign(static_cast<std::size_t>(n_), 0.0);
    by_row_.assign(static_cast<std::size_t>(n_), 0.0);
    for (std::size_t k = 0; k < free.size(); ++k) {
        const std::int64_t u = free[k];
        weight_[row_[u]] += 1.0 / diagonal_[u];
        by_row_[row_[u]] += sign_[u] * right[k] / diagonal_[u];
    }
    used_.clear();
    for (std::int64_t i = 0; i < n_; ++i)
        if (weight_[i] > 0.0) used_.push_back(i);
    for (const std::int64_t i : used_)
        weight_[i] = std::sqrt(weight_[i]);
    const std::int64_t depth = static_cast<std::int64_t>(used_.size());
    P_.resize(static_cast<std::size_t>(count_ * depth));
    core_.resize(static_cast<std::size_t>(count_));
    for (std::int64_t c = 0; c < count_; ++c) {
        const double* f = F_.data() + c * n_;
        double* p = P_.data() + c * depth;
        for (std::int64_t t = 0; t < depth; ++t)
            p[t] = f[used_[t]] * weight_[used_[t]];
        core_[c] = product(f, by_row_.data(), n_);
    }
    added_.assign(static_cast<std::size_t>(count_), 1.0);
    solve_square(P_.data(), count_, depth, added_.data(), core_.data());
    std::fill(by_row_.begin(), by_row_.end(), 0.0);
    for (std::int64_t c = 0; c < count_; ++c)
        add_multiple(core_[c], F_.data() + c * n_, by_row_.data(), n_);
    for (std::size_t k = 0; k < free.size(); ++k) {
        const std::int64_t u = free[k];
        right[k] = (right[k] - sign_[u] * by_row_[row_[u]]) / diagonal_[u];
    }
}

void UnitModel::solve_by_units(const std::vector<std::int64_t>& free, std::vector<double>& right) {
    const std::int64_t size = static_cast<std::int64_t>(free.size());
    P_.resize(static_cast<std::size_t>(size * count_));
    added_.resize(static_cast<std::size_t>(size));
    for (std::int64_t c = 0; c < count_; ++c) {
        const double* f = F_.data() + c * n_;
        for (std::int64_t k = 0; k < size; ++k)
            P_[k * count_ + c] = sign_[free[k]] * f[row_[free[k]]];
    }
    for (std::int64_t k = 0; k < size; ++k)
        added_[k] = diagonal_[free[k]];
    solve_square(P_.data(), size, count_, added_.data(), right.data());
}

void UnitModel::solve_square(const double* P, std::int64_t size, std::int64_t depth,
                             const double* diag, double* right) {
    if (size == 0) return;
    square_.resize(static_cast<std::size_t>(size * size));
    double ridge = 0.0;
    for (int attempt = 0; attempt < kMostRidges; ++attempt) {
        if (depth > 0)
            square_of_rows(P, size, depth, depth, square_.data());
        else
            std::fill(square_.begin(), square_.end(), 0.0);
        double trace = 0.0;
        for (std::int64_t i = 0; i < size; ++i) {
            double& one = square_[i * size + i];
            one = (one + diag[i]) * (1.0 + 1e-13) + ridge;
            trace += one;
        }
        if (cholesky(square_.data(), size) || !(trace < HUGE_VAL)) break;
        const double mean = trace / static_cast<double>(size);
        ridge = std::max(100.0 * ridge, mean > 0.0 ? 1e-8 * mean : 1e-300);
    }
    cholesky_solve(square_.data(), size, right, 1);
}

}  // namespace rectiline::prox
