#include "rectiline/proof/close_rows.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/proof/column_bounds.hpp"
#include "rectiline/proof/products.hpp"
#include "rectiline/rows/certificate.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace rectiline::proof {
namespace {

using design::DenseView;
using design::SparseView;

// out_j += factor |x_kj|
template <class T>
void add_row_sizes(const DenseView<T>& X, std::int64_t k, double factor, std::span<double> out) {
    for (std::int64_t j = 0; j < X.d; ++j)
        out[j] += factor * size_of(static_cast<double>(X.row(k)[j * X.column_stride]));
}

template <class T, class I>
void add_row_sizes(const SparseView<T, I>& X, std::int64_t k, double factor,
                   std::span<double> out) {
    const std::int64_t first = X.by_rows ? k : 0, last = X.by_rows ? k + 1 : X.d;
    for (std::int64_t i = first; i < last; ++i) {
        const auto line = X.line(i);
        for (std::size_t e = 0; e < line.values.size(); ++e) {
            const auto index = static_cast<std::int64_t>(line.indices[e]);
            if (X.by_rows || index == k)
                out[X.by_rows ? index : i] += factor * size_of(static_cast<double>(line.values[e]));
        }
    }
}

// An upper bound on the Euclidean norm.
double norm_of(std::span<const double> values) {
    double square = 0;
    for (const double one : values)
        square += one * one;
    const auto count = static_cast<double>(values.size());
    return std::sqrt(square + count * 0x1p-1022) * (1 + 1.01 * (count + 4) * kUnit);
}

// Shows that multipliers which balance the free columns exist within `move`, and adds what that
// may change in q to its error.
bool balance_free(const FreeColumns& free, BoxedMultipliers dual,
                  std::span<const double> column_norm, std::span<double> q, std::span<double> error,
                  std::vector<double>& move) {
    std::vector<double> left;
    for (const std::int64_t j : free.columns)
        left.push_back((size_of(q[j]) + error[j]) * (1 + 4 * kUnit));
    if (free.intercept) left.push_back(dual.total);
    move.resize(dual.g.size());
    if (!balancing_move(free, dual.boxes, dual.g, left, move)) return false;
    const bool moves = std::any_of(move.begin(), move.end(), [](double one) { return one != 0; });
    const double most = moves ? norm_of(move) : 0.0;
    for (std::size_t j = 0; moves && j < error.size(); ++j)
        error[j] += column_norm[j] * most * (1 + 4 * kUnit);
    for (const std::int64_t j : free.columns)
        q[j] = error[j] = 0.0;
    return true;
}

// Arguments and q = -X'g in twofold arithmetic, rounded once at the end.
void multiply_twofold(const DesignView& X, const RowFunctions& rows, std::span<const double> b,
                      double intercept, std::span<const double> g, PairProducts out) {
    const std::size_t n = g.size(), d = b.size();
    std::vector<double> space(4 * std::max(n, d));
    const auto vector = [&](std::size_t size) {
        double* at = space.data();
        return TwofoldVector{static_cast<std::int64_t>(size), at, at + size, at + 2 * size,
                             at + 3 * size};
    };
    multiply(X, b, vector(n));
    twofold_arguments(rows, vector(n), intercept, out.argument, out.radius);
    const TwofoldVector image = vector(d);
    multiply_transposed(X, g, image);
    for (std::size_t j = 0; j < d; ++j) {
        const auto [hi, lo, error, size] = image[static_cast<std::int64_t>(j)];
        const Pair total = two_sum(hi, lo);
        out.q[j] = -total.value;
        out.error[j] = size_of(total.rest) + error + 9 * kUnit * size_of(lo);
        if (!(out.error[j] >= 0)) out.error[j] = kInfinity;  // undefined
    }
}

}  // namespace

std::optional<ClosedRows> close_rows(const FreeColumns& free, const RowFunctions& rows,
                                     const ColumnFunctions& columns, Arguments at,
                                     BoxedMultipliers dual, std::span<const double> column_norm,
                                     double least, std::span<double> q, std::span<double> error) {
    const auto [g, boxes, total] = dual;
    assert(std::ssize(g) == rows.n && std::ssize(at.value) == rows.n);
    assert(std::ssize(q) == columns.d && std::ssize(error) == columns.d);
    std::int64_t k = -1;
    std::vector<double> move;
    if (!free.columns.empty()) {
        if (!balance_free(free, dual, column_norm, q, error, move)) return std::nullopt;
    } else if (total != 0) {
        k = row_inside(rows, g, 4.0 * total);
        if (k < 0) return std::nullopt;
        const double by = total * (1 + 4 * kUnit);
        std::visit([&](const auto& view) { add_row_sizes(view, k, by, error); }, free.X);
    }
    const double share = dual_share(columns, q, error);
    if (!(share > least)) return std::nullopt;
    double shrunk = 0;  // by how much more than without rounding errors
    if (share != 1.0) {
        const std::vector<double> none(q.size(), 0.0);
        const double exact = dual_share(columns, q, none);
        shrunk = exact > 0 ? std::max(1.0 - share / exact, 0.0) : 0.0;
        for (std::size_t j = 0; j < q.size(); ++j) {
            error[j] = share * error[j] + 2 * kUnit * size_of(q[j]);
            q[j] *= share;
        }
    }
    RowBounds bounds = row_bounds(rows, at.value, at.radius, g, move, share);
    // What the rows pay for that is rounding as well: at most about twice the losses' share of it.
    bounds.gap = std::max(bounds.gap - 2.0 * shrunk * size_of(bounds.loss), 0.0);
    const double growth =
        k < 0 ? 0.0 : row_growth(rows, k, at.value[k], at.radius[k], g[k], total, share);
    return ClosedRows{bounds, growth, share};
}

std::optional<ClosedRows> close_pair(const FreeColumns& free, const RowFunctions& rows,
                                     const ColumnFunctions& columns, std::span<const double> b,
                                     double intercept, const DesignNorms& norms, DualBoxes boxes,
                                     bool twofold, double least, std::span<double> g,
                                     PairProducts out) {
    if (!free.columns.empty()) {
        const std::vector<double> zero(static_cast<std::size_t>(free.order()), 0.0);
        rows::clip_dual(rows, g);
        balance_columns(free, boxes, norms.column, zero, zero, g);
        rows::clip_dual(rows, g);
    } else if (free.intercept) {
        rows::balance_dual(rows, g);
    } else {
        rows::clip_dual(rows, g);
    }
    if (twofold) {
        multiply_twofold(free.X, rows, b, intercept, g, out);
    } else {
        std::vector<double> z(g.size()), image(b.size());
        design::multiply_both(free.X, b, g, z, image);
        plain_arguments(rows, z, intercept, b, {norms.scale, norms.row}, out.argument, out.radius);
        plain_slopes(g, image, norms.column, out.q, out.error);
    }
    double total = 0;
    if (free.intercept) {
        const Twofold found = sum(g);
        total = (size_of(found.hi) + (found.error + size_of(found.lo))) * (1 + 4 * kUnit);
    }
    return close_rows(free, rows, columns, {out.argument, out.radius}, {g, boxes, total},
                      norms.column, least, out.q, out.error);
}

}  // namespace rectiline::proof
