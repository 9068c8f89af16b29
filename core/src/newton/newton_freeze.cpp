// Working sets: which rows may meet a knot, and what the others add while they stay on their
// pieces.
#include "rectiline/design/products.hpp"
#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <cassert>

namespace rectiline::newton {

// Share of their ranges that the kept rows may use up to balance the frozen ones.
constexpr double kBalancedShare = 0.9;

void NewtonRows::slack(std::span<double> out) const {
    assert(std::ssize(out) == rows_.n);
    over_stretches(rows_.n, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            out[i] = rows_.weight[i] > 0 ? rows_.curve(i).slack(t_[i]) : kOpen;
    });
}

std::optional<FrozenTerms> NewtonRows::freeze(std::span<const std::uint8_t> keep,
                                              std::span<double> g, Interrupt& interrupt) const {
    const std::int64_t n = rows_.n, d = n_columns(X_);
    assert(std::ssize(keep) == n && std::ssize(g) == n);
    std::vector<double> curvature(static_cast<std::size_t>(n));
    double frozen_sum = 0, low_sum = 0, high_sum = 0;  // of slopes in the predictions
    bool curved = false;
    for (std::int64_t i = 0; i < n; ++i) {
        const Curve& f = rows_.curve(i);
        const double weight = rows_.direction[i] * rows_.weight[i];
        if (keep[i] && weight != 0) {
            const auto [low, high] =
                std::minmax({weight * f.lowest_slope(), weight * f.highest_slope()});
            low_sum += low, high_sum += high;
        }
        g[i] = keep[i] ? 0.0 : weight * f.slope_at(t_[i]);
        curvature[i] = keep[i] ? 0.0 : rows_.weight[i] * f.curvature_at(t_[i]);
        frozen_sum += g[i];
        curved = curved || curvature[i] > 0;
    }
    const double others = -frozen_sum / kBalancedShare;
    if (intercept_ && !curved && !(low_sum < others && others < high_sum)) return std::nullopt;
    FrozenTerms out{std::vector<double>(static_cast<std::size_t>(order())), {}, {}};
    multiply_transposed(X_, g, std::span(out.linear).first(static_cast<std::size_t>(d)));
    if (intercept_) out.linear.back() = frozen_sum;
    if (!curved) return out;
    UpdatedGram gram;
    const std::vector<double>* sum = gram.at(X_, curvature, intercept_, interrupt);
    if (sum == nullptr) return std::nullopt;
    out.quadratic = *sum;
    return out;
}

}  // namespace rectiline::newton
