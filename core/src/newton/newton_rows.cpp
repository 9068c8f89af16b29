#include "rectiline/newton/newton_rows.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/compensated.hpp"
#include "rectiline/support/threads.hpp"

#include <cassert>
#include <numeric>

namespace rectiline::newton {
namespace {

// The passes take rows first to last of arrays over all rows.
template <class RampsOf>
RECTILINE_MULTIVERSION double derivative_pass(const RampsOf& ramps, std::int64_t first,
                                              std::int64_t last, const double* t, const double* dt,
                                              const double* multiplier, const double* weight,
                                              double step, double inverse_S) {
    const RampsOf of = ramps;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = first; i < last; ++i) {
        const double w = t[i] + step * dt[i] + multiplier[i] * inverse_S;
        sum += weight[i] * dt[i] * of[i].slope(w);
    }
    return sum;
}

// What an evaluation returns besides the arrays it fills.
struct Evaluated {
    double squares = 0;  // sum weight (s - multiplier)^2
    double curvature = 0, n_free = 0;
};

struct EvaluationArrays {
    double *t, *dt, *s, *newton_weight;
    const double *multiplier, *weight;
};

// Moves t by step * dt; s and its rate of change there; rows on a flat part get Newton weight 0.
template <class RampsOf>
RECTILINE_MULTIVERSION Evaluated evaluate_pass(const RampsOf& ramps, std::int64_t first,
                                               std::int64_t last, const EvaluationArrays& a,
                                               double step, double inverse_S) {
    const RampsOf of = ramps;
    double *t = a.t, *dt = a.dt, *s = a.s, *newton_weight = a.newton_weight;
    const double *multiplier = a.multiplier, *weight = a.weight;
    double squares = 0, curvature = 0, n_free = 0;
#pragma omp simd reduction(+ : squares, curvature, n_free)
    for (std::int64_t i = first; i < last; ++i) {
        t[i] += step * dt[i];
        dt[i] = 0;
        const double w = t[i] + multiplier[i] * inverse_S;
        double slope = of[i].slope(w);
        slope = slope < of[i].lowest ? of[i].lowest : slope;
        slope = slope > of[i].highest ? of[i].highest : slope;
        s[i] = slope;
        const double change = slope - multiplier[i];
        squares += weight[i] * change * change;
        newton_weight[i] = weight[i] * of[i].jacobian(w);
        curvature += newton_weight[i];
        n_free += newton_weight[i] > 0 ? 1.0 : 0.0;
    }
    return {squares, curvature, n_free};
}

// Sums of losses and Fenchel-Young terms; without the latter where every slope is that of its
// argument.
template <bool with_gap, class Curves>
RECTILINE_MULTIVERSION RowSums value_pass(const Curves& curves, std::int64_t first,
                                          std::int64_t last, const double* t, const double* s,
                                          const double* weight) {
    const Curves f = curves;
    double loss = 0, gap = 0;
#pragma omp simd reduction(+ : loss, gap)
    for (std::int64_t i = first; i < last; ++i) {
        loss += weight[i] * f[i].loss(t[i]);
        if constexpr (with_gap) gap += weight[i] * f[i].fenchel_young(t[i], s[i]);
    }
    return {loss, gap};
}

}  // namespace

NewtonRows::NewtonRows(DesignView X, RowFunctions rows, bool intercept)
    : X_(X),
      rows_(rows),
      intercept_(intercept),
      t_(rows.n),
      dt_(rows.n, 0.0),
      s_(rows.n, 0.0),
      multiplier_(rows.n, 0.0),
      imaged_(rows.n, 0.0),
      change_(rows.n),
      image_(order(), 0.0),
      newton_weight_(rows.n) {
    std::copy(rows.offset, rows.offset + rows.n, t_.begin());
    set_multiplier({});
}

void NewtonRows::place(std::span<const double> b) {
    set_arguments(t_, multiply_columns(b, t_));
}

void NewtonRows::place_at(std::span<const double> z) {
    set_arguments(z, 0.0);
}

void NewtonRows::set_arguments(std::span<const double> z, double intercept) {
    assert(std::ssize(z) == rows_.n);
    evaluated_for_ = -1;
    over_each_row(rows_.n, [&](std::int64_t i) {
        t_[i] = rows_.argument(i, z[i] + intercept);
        dt_[i] = 0;
    });
}

void NewtonRows::set_direction(std::span<const double> db) {
    const double intercept = multiply_columns(db, dt_);
    over_each_row(rows_.n,
                  [&](std::int64_t i) { dt_[i] = rows_.direction[i] * (dt_[i] + intercept); });
}

// z = X b without the intercept, which is returned
double NewtonRows::multiply_columns(std::span<const double> b, std::span<double> z) const {
    assert(std::ssize(b) == order());
    multiply(X_, b.first(n_columns(X_)), z);
    return intercept_ ? b.back() : 0.0;
}

void NewtonRows::set_multiplier(std::span<const double> g) {
    assert(g.empty() || std::ssize(g) == rows_.n);
    evaluated_for_ = -1;
    over_each_row(rows_.n, [&](std::int64_t i) {
        const Curve& f = rows_.curve(i);
        const bool counts = !g.empty() && rows_.weight[i] > 0;
        const double slope = counts ? rows_.direction[i] * g[i] / rows_.weight[i] : 0.0;
        multiplier_[i] = std::clamp(slope, f.lowest_slope(), f.highest_slope());
    });
}

void NewtonRows::prepare_ramps(double S) const {
    if (ramps_for_ == S) return;
    ramps_.clear();
    for (std::size_t k = 0; k < rows_.n_curves(); ++k)
        ramps_.emplace_back(rows_.curves[k], S);
    ramps_for_ = S;
}

double NewtonRows::derivative(double step, double S) const {
    prepare_ramps(S);
    const double inverse_S = std::isinf(S) ? 0.0 : 1.0 / S;
    const auto parts = each_stretch(rows_.n, [&](std::int64_t first, std::int64_t last) {
        double sum = 0;
        with_ramps(ramps_, rows_.curve_index, [&](const auto& ramps) {
            sum = derivative_pass(ramps, first, last, t_.data(), dt_.data(), multiplier_.data(),
                                  rows_.weight, step, inverse_S);
        });
        return sum;
    });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

double NewtonRows::evaluate(double step, double S) {
    if (step == 0.0 && S == evaluated_for_) return moved_;
    prepare_ramps(S);
    const double inverse_S = std::isinf(S) ? 0.0 : 1.0 / S;
    const EvaluationArrays arrays{t_.data(),          dt_.data(),  s_.data(), newton_weight_.data(),
                                  multiplier_.data(), rows_.weight};
    const auto parts = each_stretch(rows_.n, [&](std::int64_t first, std::int64_t last) {
        Evaluated part;
        with_ramps(ramps_, rows_.curve_index, [&](const auto& ramps) {
            part = evaluate_pass(ramps, first, last, arrays, step, inverse_S);
        });
        return part;
    });
    Evaluated all;
    for (const Evaluated& part : parts) {
        all.squares += part.squares, all.curvature += part.curvature;
        all.n_free += part.n_free;
    }
    curvature_ = all.curvature, n_free_ = static_cast<std::int64_t>(all.n_free);
    free_listed_ = image_current_ = false;
    evaluated_for_ = S;
    return moved_ = 0.5 * inverse_S * all.squares;
}

RowSums NewtonRows::values() const {
    const auto parts = each_stretch(rows_.n, [&](std::int64_t first, std::int64_t last) {
        RowSums sum{0, 0};
        with_curves(rows_, [&](const auto& curves) {
            const double *t = t_.data(), *s = s_.data(), *weight = rows_.weight;
            sum = std::isinf(evaluated_for_) ? value_pass<false>(curves, first, last, t, s, weight)
                                             : value_pass<true>(curves, first, last, t, s, weight);
        });
        return sum;
    });
    RowSums total{0, 0};
    for (const RowSums& part : parts)
        total.loss += part.loss, total.fenchel_young += part.fenchel_young;
    return total;
}

void NewtonRows::update_multipliers() {
    multiplier_ = s_;
    evaluated_for_ = -1;
}

void NewtonRows::dual(std::span<double> g) const {
    assert(std::ssize(g) == rows_.n);
    over_each_row(rows_.n,
                  [&](std::int64_t i) { g[i] = rows_.direction[i] * rows_.weight[i] * s_[i]; });
}

void NewtonRows::balance(std::span<double> g) const {
    assert(std::ssize(g) == rows_.n);
    list_free();
    const auto exact_sum = [&] {
        CompensatedLanes sum;
        sum.add(g.data(), rows_.n);
        return sum.value();
    };
    const double excess = exact_sum();
    // Range of the slope of row i in its prediction, towards which an excess is taken off.
    const auto room = [&](std::int64_t i) {
        const Curve& f = rows_.curve(i);
        const double s = rows_.direction[i] * g[i] / rows_.weight[i];
        const bool down = (excess > 0) == (rows_.direction[i] > 0);
        return rows_.weight[i] * std::max(down ? s - f.lowest_slope() : f.highest_slope() - s, 0.0);
    };
    double total = 0, most = 0;
    std::int64_t best = -1;
    for (const std::int64_t i : free_) {
        const double r = room(i);
        if (!std::isfinite(r)) return;  // without ends there are better ways
        total += r;
        if (r > most) most = r, best = i;
    }
    if (!(std::fabs(excess) < 0.5 * total)) return;
    const double share = excess / total;
    for (const std::int64_t i : free_)
        g[i] -= share * room(i);
    // What rounding leaves goes to the row with the most room, which is not used up.
    g[best] -= exact_sum();
}

}  // namespace rectiline::newton
