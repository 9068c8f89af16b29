// Working sets: which rows may meet a knot, and what the others add while they stay on their
// pieces.
#include "rectiline/design/products.hpp"
#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/multiversion.hpp"
#include "rectiline/support/threads.hpp"

#include <cassert>

namespace rectiline::newton {

// Share of their ranges that the kept rows may use up to balance the frozen ones.
constexpr double kBalancedShare = 0.9;

namespace {

// Sums of slopes in the predictions: of the frozen rows, and the range of those of the kept ones.
struct FrozenSums {
    double slopes = 0, low = 0, high = 0, curvature = 0;
};

template <class Curves>
RECTILINE_MULTIVERSION FrozenSums freeze_pass(const Curves& curves, const RowFunctions& rows,
                                              std::int64_t first, std::int64_t last,
                                              const double* t, const double* kept, double* g,
                                              double* curvature) {
    const Curves f = curves;
    const double *weight = rows.weight, *direction = rows.direction;
    double slopes = 0, low = 0, high = 0, curved = 0;
#pragma omp simd reduction(+ : slopes, low, high, curved)
    for (std::int64_t i = first; i < last; ++i) {
        const double lowest = f[i].lowest_slope(), highest = f[i].highest_slope();
        const double least = weight[i] * (direction[i] > 0 ? lowest : -highest);
        const double most = weight[i] * (direction[i] > 0 ? highest : -lowest);
        const bool moves = kept[i] * weight[i] > 0;  // zero times an open end is not a number
        low += moves ? least : 0.0;
        high += moves ? most : 0.0;
        const double frozen = (1.0 - kept[i]) * weight[i];
        g[i] = direction[i] * frozen * f[i].slope_at(t[i]);
        curvature[i] = frozen * f[i].curvature_at(t[i]);
        slopes += g[i];
        curved += curvature[i];
    }
    return {slopes, low, high, curved};
}

}  // namespace

void NewtonRows::slack(std::span<double> out) const {
    assert(std::ssize(out) == rows_.n);
    over_stretches(rows_.n, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            out[i] = rows_.weight[i] > 0 ? rows_.curve(i).slack(t_[i]) : kInfinity;
    });
}

std::optional<FrozenTerms> NewtonRows::freeze(std::span<const std::uint8_t> keep,
                                              std::span<double> g, Interrupt& interrupt) const {
    const std::int64_t n = rows_.n, d = n_columns(X_);
    assert(std::ssize(keep) == n && std::ssize(g) == n);
    const std::vector<double> kept(keep.begin(), keep.end());
    std::vector<double> curvature(kept.size());
    FrozenSums sums;
    with_curves(rows_, [&](const auto& curves) {
        const auto part = [&](std::int64_t first, std::int64_t last) {
            return freeze_pass(curves, rows_, first, last, t_.data(), kept.data(), g.data(),
                               curvature.data());
        };
        for (const FrozenSums& one : each_stretch(n, part)) {
            sums.slopes += one.slopes, sums.curvature += one.curvature;
            sums.low += one.low, sums.high += one.high;
        }
    });
    const bool curved = sums.curvature > 0;
    const double others = -sums.slopes / kBalancedShare;
    if (intercept_ && !curved && !(sums.low < others && others < sums.high)) return std::nullopt;
    FrozenTerms out{std::vector<double>(static_cast<std::size_t>(order())), {}, {}};
    multiply_transposed(X_, g, std::span(out.linear).first(static_cast<std::size_t>(d)));
    if (intercept_) out.linear.back() = sums.slopes;
    if (!curved) return out;
    UpdatedGram gram;
    const std::vector<double>* sum = gram.at(X_, curvature, intercept_, interrupt);
    if (sum == nullptr) return std::nullopt;
    out.quadratic = *sum;
    return out;
}

}  // namespace rectiline::newton
