// Working sets: which rows may meet a knot, and what the others add while they stay on their
// pieces.
#include "rectiline/design/products.hpp"
#include "rectiline/newton/freeze_kernels.hpp"
#include "rectiline/newton/newton_kernels.hpp"
#include "rectiline/newton/newton_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rectiline::newton {
void NewtonRows::slack(double* out) const {
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        const Curve& f = rows_.curve(i);
        double nearest = std::numeric_limits<double>::infinity();
        for (std::int64_t k = 0; rows_.weight[i] > 0 && k < f.n_knots; ++k)
            nearest = std::min(nearest, std::fabs(t_[i] - f.knot[k]));
        out[i] = nearest;
    }
}

FreezeArrays NewtonRows::freeze_arrays() const {
    return {t_.data(), rows_.weight, rows_.direction};
}

FreezeSums NewtonRows::set_frozen(const double* keep, double* g) {
    frozen_weight_.resize(static_cast<std::size_t>(rows_.n));
    FreezeSums sums{0, 0, 0, 0, 0};
    if (!rows_.curve_index && with_packed(rows_.curves[0], [&](const auto& packed) {
            sums = freeze_pass(packed, rows_.n, freeze_arrays(), keep, {g, frozen_weight_.data()});
        }))
        return sums;
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        const Curve& f = rows_.curve(i);
        const double kept = keep[i] > 0 ? rows_.weight[i] : 0.0, frozen = rows_.weight[i] - kept;
        const double slope = f.slope(t_[i]);
        g[i] = rows_.direction[i] * frozen * slope;
        frozen_weight_[i] = frozen * f.curvature[f.piece(t_[i])];
        sums.slopes += g[i];
        sums.curved += frozen_weight_[i];
        sums.loss += frozen * f(t_[i]);
        (rows_.direction[i] > 0 ? sums.kept_up : sums.kept_down) += kept;
    }
    return sums;
}

Frozen NewtonRows::freeze(const double* keep, double reserve, double* linear, double* quadratic,
                          double* g, Interrupt& interrupt) {
    const std::int64_t n = rows_.n, d = n_columns(X_);
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
        changed = count_changed(g, frozen_.data(), n);
    if (2 * changed < n) {
        for (std::int64_t i = 0; i < n; ++i)
            change_[i] = g[i] - frozen_[i];
        multiply_transposed(X_, change_, {linear, static_cast<std::size_t>(d)}, n_threads_);
        for (std::int64_t j = 0; j < d; ++j)
            frozen_image_[j] += linear[j];
    } else {
        frozen_image_.resize(static_cast<std::size_t>(d));
        multiply_transposed(X_, {g, static_cast<std::size_t>(n)}, frozen_image_, n_threads_);
    }
    frozen_.assign(g, g + n);
    std::copy(frozen_image_.begin(), frozen_image_.end(), linear);
    if (intercept_) linear[d] = sums.slopes;
    if (!out.curved) return out;
    const std::vector<double>* gram =
        frozen_gram_.at(X_, frozen_weight_, intercept_, n_threads_, interrupt);
    out.balanced = gram != nullptr;
    if (gram != nullptr) std::copy(gram->begin(), gram->end(), quadratic);
    return out;
}

// Sums of slopes in the predictions between which the kept rows can choose.
void NewtonRows::reachable_sums(const double* keep, const FreezeSums& sums, Frozen* out) const {
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
