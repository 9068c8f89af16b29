// What the Newton method reduces over its rows: the image, the matrix, and products with the rows
// of the free set J.
#include "rectiline/design/products.hpp"
#include "rectiline/design/row_access.hpp"
#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/threads.hpp"

#include <cassert>

namespace rectiline::newton {

namespace {

// change = weight * direction * (s - from), and from = s; returns the sum of the changes.
RECTILINE_MULTIVERSION double change_pass(const double* weight, const double* direction,
                                          const double* s, std::int64_t n, double* from,
                                          double* change) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) {
        change[i] = weight[i] * direction[i] * (s[i] - from[i]);
        from[i] = s[i];
        sum += change[i];
    }
    return sum;
}

template <class Rows>
RECTILINE_MULTIVERSION double add_weighted(Rows& access, std::span<const std::int64_t> free,
                                           const double* weight, const double* b, double b0,
                                           double* q) {
    double sum = 0;
    for (std::size_t k = 0; k < free.size(); ++k) {
        access.load({&free[k], 1});
        const double u = weight[k] * (access.dot(0, free[k], b) + b0);
        access.axpy(0, free[k], u, q);
        sum += u;
    }
    return sum;
}

// Share of their ranges that the kept rows may use up to balance the frozen ones.
constexpr double kBalancedShare = 0.9;

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

void NewtonRows::list_free() const {
    if (free_listed_) return;
    // Which rows these are is hard to foresee for a processor, so every row is written and the
    // place moves on by one or not at all.
    free_.resize(static_cast<std::size_t>(rows_.n) + 1);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        free_[count] = i;
        count += newton_weight_[i] > 0;
    }
    free_.resize(count);
    free_weight_.resize(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k)
        free_weight_[k] = newton_weight_[free_[k]];
    free_listed_ = true;
}

const std::vector<double>& NewtonRows::image() {
    if (image_current_) return image_;
    const std::int64_t n = rows_.n, d = n_columns(X_);
    constexpr std::int64_t kRefreshEvery = 16;  // removes the rounding of repeated updates
    if (++images_ % kRefreshEvery == 0)
        for (std::vector<double>* one : {&imaged_, &image_})
            std::fill(one->begin(), one->end(), 0.0);
    double sum = 0;
    for (const double part : each_stretch(n, [&](std::int64_t first, std::int64_t last) {
             return change_pass(rows_.weight + first, rows_.direction + first, s_.data() + first,
                                last - first, imaged_.data() + first, change_.data() + first);
         }))
        sum += part;
    // Products skip zero weights, so an update costs only the rows whose slope changed.
    image_change_.resize(d);
    multiply_transposed(X_, change_, image_change_);
    for (std::int64_t j = 0; j < d; ++j)
        image_[j] += image_change_[j];
    if (intercept_) image_[d] += sum;
    image_current_ = true;
    return image_;
}

void NewtonRows::scale_slopes(double factor) {
    image();  // of the slopes at hand
    saved_slopes_ = s_, saved_image_ = image_;
    for (double& slope : s_)
        slope *= factor;
    for (double& entry : image_)
        entry *= factor;
    imaged_ = s_;
    evaluated_for_ = -1;
}

void NewtonRows::restore_slopes() {
    s_ = saved_slopes_, image_ = saved_image_;
    imaged_ = s_;
}

bool NewtonRows::gram(std::span<double> H, Interrupt& interrupt) {
    assert(std::ssize(H) == order() * order());
    const std::vector<double>* sum = gram_.at(X_, newton_weight_, intercept_, interrupt);
    if (sum != nullptr) std::copy(sum->begin(), sum->end(), H.begin());
    return sum != nullptr;
}

std::int64_t NewtonRows::free_entries() const {
    list_free();
    std::int64_t total = 0;
    with_row_access(X_, [&](auto& access) {
        for (const std::int64_t i : free_)
            total += access.length(i);
    });
    return total;
}

void NewtonRows::free_rows(std::span<double> P) const {
    list_free();
    const std::int64_t width = order();
    assert(std::ssize(P) == n_free() * width);
    std::fill(P.begin(), P.end(), 0.0);
    with_row_access(X_, [&](auto& access) {
        for (std::int64_t k = 0; k < n_free(); ++k) {
            double* row = P.data() + k * width;
            access.load({&free_[k], 1});
            access.for_each(0, free_[k], [&](std::int64_t j, double x) { row[j] = x; });
            if (intercept_) row[width - 1] = 1.0;
        }
    });
}

void NewtonRows::add_free_product(std::span<const double> b, std::span<double> q) const {
    assert(std::ssize(b) == order() && std::ssize(q) == order());
    list_free();
    double sum = 0;
    with_row_access(X_, [&](auto& access) {
        sum = add_weighted(access, free_, free_weight_.data(), b.data(),
                           intercept_ ? b.back() : 0.0, q.data());
    });
    if (intercept_) q.back() += sum;
}

// ---- working sets -------------------------------------------------------------------------------

// Working sets: which rows may meet a knot, and what the others add while they stay on their
// pieces.

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
    FrozenTerms out{std::vector<double>(order()), {}, {}};
    multiply_transposed(X_, g, std::span(out.linear).first(d));
    if (intercept_) out.linear.back() = sums.slopes;
    if (!curved) return out;
    UpdatedGram gram;
    const std::vector<double>* sum = gram.at(X_, curvature, intercept_, interrupt);
    if (sum == nullptr) return std::nullopt;
    out.quadratic = *sum;
    return out;
}

}  // namespace rectiline::newton
