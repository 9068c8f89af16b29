#include "rectiline/design/gram.hpp"
#include "rectiline/design/products.hpp"
#include "rectiline/proof/free_columns.hpp"
#include "rectiline/proof/twofold.hpp"
#include "rectiline/support/dense_algebra.hpp"

#include <cassert>
#include <functional>
#include <numeric>

namespace rectiline::proof {
namespace {

constexpr int kRounds = 25, kIdleRounds = 3;
constexpr double kGain = 0.9;                      // of the least leftover: not an idle round
constexpr double kBalanced = 1e-16;                // relative leftover that ends the rounds
constexpr double kFarthest = 10, kNearest = 1e-7;  // most and least room, in widths of the box
constexpr double kRidge = 1e-14, kMostRidge = 1e-6, kRidgeGrowth = 100;  // of the scaled system

// The squared room of each multiplier; boxes without end are as wide as the point is large.
RECTILINE_MULTIVERSION void set_weights(const double* low, const double* high, const double* g,
                                        double largest, std::int64_t n, double* weight) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) {
        const double span = high[i] - low[i], width = span < kInfinity ? span : largest;
        const double down = g[i] - low[i], up = high[i] - g[i], size = size_of(g[i]);
        double room = down < up ? down : up;
        room = room < kInfinity ? room : (size > width ? size : width);
        room = room < kFarthest * width ? room : kFarthest * width;
        weight[i] = room * room + (kNearest * width) * (kNearest * width);
    }
}

// Dense X with rows and columns changed.
DesignView transposed(const DesignView& X) {
    return std::visit(
        []<class View>(const View& view) -> DesignView {
            if constexpr (requires { view.row_stride; })
                return View{view.data, view.d, view.n, view.column_stride, view.row_stride};
            else
                return view;
        },
        X);
}

// All rows from 0 to n - 1.
std::vector<std::int64_t> all_rows(std::int64_t n) {
    std::vector<std::int64_t> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
}

// Solves after scaling the diagonal to one. A small ridge makes singular matrices definite.
bool solve_scaled(std::span<double> matrix, std::span<double> right, Interrupt& interrupt) {
    const std::size_t k = right.size();
    if (interrupt.poll_ahead(static_cast<std::int64_t>(k * k * k / 6))) return false;
    std::vector<double> scale(k), factor(k * k);
    for (std::size_t j = 0; j < k; ++j)
        scale[j] = 1.0 / std::sqrt(std::max(matrix[j * k + j], 1e-300));
    for (double ridge = kRidge; ridge <= kMostRidge; ridge *= kRidgeGrowth) {
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t i = j; i < k; ++i)
                factor[j * k + i] = matrix[j * k + i] * scale[i] * scale[j] + (i == j ? ridge : 0);
        if (!cholesky(factor.data(), static_cast<std::int64_t>(k))) continue;
        for (std::size_t j = 0; j < k; ++j)
            right[j] *= scale[j];
        cholesky_solve(factor.data(), static_cast<std::int64_t>(k), right.data(), 1);
        for (std::size_t j = 0; j < k; ++j)
            right[j] *= scale[j];
        return true;
    }
    return false;
}

bool by_columns(const FreeColumns& Z, std::span<const double> weight, std::span<const double> right,
                std::span<double> out, Interrupt& interrupt) {
    std::vector<double> gram(right.size() * right.size()), x(right.begin(), right.end());
    const auto rows = all_rows(std::ssize(weight));
    if (!weighted_gram(Z.X, rows, weight, Z.intercept, gram, interrupt)) return false;
    if (!solve_scaled(gram, x, interrupt)) return false;
    Z.multiply(x, out);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] *= weight[i];
    return true;
}

// B (B'B)^+ = (B B')^+ B with B = sqrt(weight) Z, and B B' is the smaller matrix.
bool by_rows(const FreeColumns& Z, std::span<const double> weight, std::span<const double> right,
             std::span<double> out, Interrupt& interrupt) {
    const std::size_t n = weight.size();
    std::vector<double> root(n), kernel(n * n);
    const auto columns = all_rows(n_columns(Z.X));
    const std::vector<double> ones(columns.size(), 1.0);
    if (!weighted_gram(transposed(Z.X), columns, ones, false, kernel, interrupt)) return false;
    for (std::size_t i = 0; i < n; ++i)
        root[i] = std::sqrt(weight[i]);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            kernel[i * n + j] = root[i] * root[j] * (kernel[i * n + j] + (Z.intercept ? 1 : 0));
    Z.multiply(right, out);
    std::transform(out.begin(), out.end(), root.begin(), out.begin(), std::multiplies<>());
    if (!solve_scaled(kernel, out, interrupt)) return false;
    std::transform(out.begin(), out.end(), root.begin(), out.begin(), std::multiplies<>());
    return true;
}

}  // namespace

void FreeColumns::multiply(std::span<const double> x, std::span<double> z) const {
    design::multiply(X, x.first(n_columns(X)), z);
    if (intercept)
        for (double& one : z)
            one += x.back();
}

void FreeColumns::multiply_transposed(std::span<const double> g, std::span<double> image) const {
    design::multiply_transposed(X, g, image.first(n_columns(X)));
    if (intercept) image.back() = std::accumulate(g.begin(), g.end(), 0.0);
}

SolveNormal dense_solver(const FreeColumns& Z, Interrupt& interrupt) {
    return [&](std::span<const double> weight, std::span<const double> right, auto out) {
        return right.size() > weight.size() ? by_rows(Z, weight, right, out, interrupt)
                                            : by_columns(Z, weight, right, out, interrupt);
    };
}

double balance_columns(const FreeColumns& Z, const SolveNormal& solve, DualBoxes boxes,
                       std::span<const double> column_norm, std::span<const double> target,
                       std::span<const double> size, std::span<double> g) {
    const auto order = static_cast<std::size_t>(Z.order());
    const std::size_t n = g.size();
    assert(target.size() == order && size.size() == order);
    assert(column_norm.size() == static_cast<std::size_t>(n_columns(Z.X)));
    assert(boxes.low.size() == n && boxes.high.size() == n);
    double largest = 0, square = 0, best_left = kInfinity;
    int idle = 0;
    for (const double one : g)
        largest = std::max(largest, size_of(one)), square += one * one;
    if (largest == 0) largest = 1.0;
    std::vector<double> left(order), level(order), weight(n), change(n), best;
    std::vector<bool> stays(n);  // at an end of its box, and was pushed beyond it
    for (std::size_t j = 0; j < order; ++j) {
        const double norm = j < column_norm.size() ? column_norm[j] : std::sqrt(n);
        level[j] = norm * std::sqrt(square) + size[j] + 1e-300;
    }
    for (int round = 0; round <= kRounds; ++round) {
        Z.multiply_transposed(g, left);
        double most = 0;
        for (std::size_t j = 0; j < order; ++j) {
            left[j] -= target[j];
            const double share = size_of(left[j]) / level[j];
            most = share <= most ? most : share;  // not a number counts as the largest
        }
        const bool is_best = round == 0 || most < best_left;
        idle = round == 0 || most < kGain * best_left ? 0 : idle + 1;
        if (is_best) best_left = most >= 0 ? most : kInfinity;
        const bool is_last =
            most <= kBalanced || !(most < kInfinity) || idle == kIdleRounds || round == kRounds;
        if (is_last && is_best) return best_left;
        if (is_last) break;
        if (is_best) best.assign(g.begin(), g.end());
        set_weights(boxes.low.data(), boxes.high.data(), g.data(), largest, std::ssize(g),
                    weight.data());
        for (std::size_t i = 0; i < n; ++i)
            if (stays[i]) weight[i] = 0;
        if (!solve(weight, left, change)) break;
        for (std::size_t i = 0; i < n; ++i) {
            const double moved = std::min(std::max(g[i] - change[i], boxes.low[i]), boxes.high[i]);
            if (moved == g[i] && (moved == boxes.low[i] || moved == boxes.high[i])) stays[i] = true;
            g[i] = moved;
        }
    }
    std::copy(best.begin(), best.end(), g.begin());
    return best_left;
}

}  // namespace rectiline::proof
