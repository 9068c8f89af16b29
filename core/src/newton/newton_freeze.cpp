// Working sets: which rows may meet a knot, and what the others add while they stay on their
// pieces.
#include "rectiline/design/products.hpp"
#include "rectiline/newton/newton_kernels.hpp"
#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace rectiline::newton {

// Sums of a freezing: slopes and losses of the frozen rows, weights of the kept ones by direction.
struct FreezeSums {
    double slopes, loss, kept_up, kept_down, curved;
};

namespace {

// Fills of the frozen rows slopes in the predictions (g) and weights times curvature, 0 for the
// others.
template <class Curves>
RECTILINE_MULTIVERSION FreezeSums freeze_pass(const Curves& curves, std::int64_t first,
                                              std::int64_t last, const RowFunctions& rows,
                                              const double* t, const double* keep, double* g,
                                              double* curved) {
    const Curves f = curves;
    const double *weight = rows.weight, *direction = rows.direction;
    double slopes = 0, loss = 0, up = 0, down = 0, total = 0;
#pragma omp simd reduction(+ : slopes, loss, up, down, total)
    for (std::int64_t i = first; i < last; ++i) {
        const double kept = keep[i] > 0 ? weight[i] : 0.0, frozen = weight[i] - kept;
        const double slope = f[i].slope_at(t[i]);
        g[i] = direction[i] * frozen * slope;
        curved[i] = frozen * f[i].curvature_at(t[i]);
        slopes += g[i];
        total += curved[i];
        loss += frozen * f[i].loss(t[i]);
        up += direction[i] > 0 ? kept : 0.0;
        down += direction[i] > 0 ? 0.0 : kept;
    }
    return {slopes, loss, up, down, total};
}

}  // namespace

void NewtonRows::slack(std::span<double> out) const {
    assert(std::ssize(out) == rows_.n);
    over_stretches(rows_.n, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            const Curve& f = rows_.curve(i);
            double nearest = std::numeric_limits<double>::infinity();
            for (std::int64_t k = 0; rows_.weight[i] > 0 && k < f.n_knots; ++k)
                nearest = std::min(nearest, std::fabs(t_[i] - f.knot[k]));
            out[i] = nearest;
        }
    });
}

FreezeSums NewtonRows::set_frozen(std::span<const double> keep, std::span<double> g) {
    frozen_weight_.resize(static_cast<std::size_t>(rows_.n));
    FreezeSums sums{0, 0, 0, 0, 0};
    with_curves(rows_, [&](const auto& curves) {
        const auto part = [&](std::int64_t first, std::int64_t last) {
            return freeze_pass(curves, first, last, rows_, t_.data(), keep.data(), g.data(),
                               frozen_weight_.data());
        };
        for (const FreezeSums& one : each_stretch(rows_.n, part)) {
            sums.slopes += one.slopes, sums.curved += one.curved, sums.loss += one.loss;
            sums.kept_up += one.kept_up, sums.kept_down += one.kept_down;
        }
    });
    return sums;
}

Frozen NewtonRows::freeze(std::span<const double> keep, double reserve, std::span<double> linear,
                          std::span<double> quadratic, std::span<double> g, Interrupt& interrupt) {
    const std::int64_t n = rows_.n, d = n_columns(X_);
    assert(std::ssize(keep) == n && std::ssize(g) == n && std::ssize(linear) == order());
    assert(std::ssize(quadratic) == order() * order());
    const FreezeSums sums = set_frozen(keep, g);
    Frozen out{true, sums.curved > 0, 0, 0, sums.loss};
    reachable_sums(keep, sums, &out);
    const double others = -sums.slopes / reserve;
    if (intercept_ && !out.curved && !(out.low_sum < others && others < out.high_sum)) {
        out.balanced = false;
        return out;
    }
    // Most rows stay on the piece that the last call froze them on: add what changed.
    std::int64_t changed = n;
    if (frozen_.size() == static_cast<std::size_t>(n))
        changed = count_changed(g.data(), frozen_.data(), n);
    if (2 * changed < n) {
        for (std::int64_t i = 0; i < n; ++i)
            change_[i] = g[i] - frozen_[i];
        multiply_transposed(X_, change_, linear.first(static_cast<std::size_t>(d)));
        for (std::int64_t j = 0; j < d; ++j)
            frozen_image_[j] += linear[j];
    } else {
        frozen_image_.resize(static_cast<std::size_t>(d));
        multiply_transposed(X_, g, frozen_image_);
    }
    frozen_.assign(g.begin(), g.end());
    std::copy(frozen_image_.begin(), frozen_image_.end(), linear.begin());
    if (intercept_) linear[d] = sums.slopes;
    if (!out.curved) return out;
    const std::vector<double>* gram = frozen_gram_.at(X_, frozen_weight_, intercept_, interrupt);
    out.balanced = gram != nullptr;
    if (gram != nullptr) std::copy(gram->begin(), gram->end(), quadratic.begin());
    return out;
}

// Sums of slopes in the predictions between which the kept rows can choose.
void NewtonRows::reachable_sums(std::span<const double> keep, const FreezeSums& sums,
                                Frozen* out) const {
    const auto add = [&](const Curve& f, double up, double down) {
        if (up > 0) out->low_sum += up * f.lowest_slope(), out->high_sum += up * f.highest_slope();
        if (down > 0)
            out->low_sum -= down * f.highest_slope(), out->high_sum -= down * f.lowest_slope();
    };
    if (!rows_.curve_index) return add(rows_.curves[0], sums.kept_up, sums.kept_down);
    for (std::int64_t i = 0; i < rows_.n; ++i)
        if (keep[i] > 0)
            add(rows_.curve(i), rows_.direction[i] > 0 ? rows_.weight[i] : 0.0,
                rows_.direction[i] > 0 ? 0.0 : rows_.weight[i]);
}

}  // namespace rectiline::newton
