#include "rectiline/newton/smoothed_l1.hpp"

#include "rectiline/newton/line_search.hpp"

#include <numeric>

namespace rectiline::newton {

namespace {

constexpr double kDamping = 1e-3;    // of the largest curvature, added to that of the model
constexpr double kModelShare = 0.1;  // of its first violation that a model may leave
constexpr int kModelSweeps = 40;
constexpr int kCheckEvery = 10;  // sweeps over the columns in use between looks at the others
constexpr double kFirstTrust = 1.0;
constexpr double kShort = 0.2;  // a step this short says that the model is poor: a sweep follows

// By how much a coefficient fails its optimality condition, given the slope of the loss in it.
RECTILINE_INLINE double violation(double b, double slope, double l1) {
    if (b == 0) return std::max(std::fabs(slope) - l1, 0.0);
    return std::fabs(slope + (b > 0 ? l1 : -l1));
}

// The minimiser of slope * (x - b) + curvature / 2 (x - b)^2 + l1 |x|.
RECTILINE_INLINE double minimiser(double b, double slope, double curvature, double l1) {
    const double x = b - slope / curvature, least = l1 / curvature;
    return x > least ? x - least : (x < -least ? x + least : 0.0);
}

}  // namespace

SmoothedL1::SmoothedL1(RowFunctions rows, bool intercept)
    : rows_(rows), intercept_(intercept), t_(rows.n), slope_(rows.n), dt_(rows.n), place_(rows.n) {
    place({}, 0.0);
}

void SmoothedL1::add(std::span<const double> values, std::span<const std::int32_t> indices,
                     std::span<const std::int64_t> pointers, std::span<const double> l1) {
    const std::int64_t before = start_.back();
    for (std::size_t k = 0; k < l1.size(); ++k) {
        double square = 0;
        for (std::int64_t e = pointers[k]; e < pointers[k + 1]; ++e) {
            const std::int32_t i = indices[e];
            row_.push_back(i), value_.push_back(rows_.direction[i] * values[e]);
            square += rows_.weight[i] * values[e] * values[e];
        }
        start_.push_back(before + pointers[k + 1]);
        square_.push_back(square);
    }
    l1_.insert(l1_.end(), l1.begin(), l1.end());
    b_.resize(l1_.size(), 0.0);
    trust_.resize(l1_.size(), kFirstTrust);
    for (std::vector<double>* one : {&direction_, &gradient_, &curvature_, &with_intercept_})
        one->resize(l1_.size(), 0.0);
    model_start_.resize(l1_.size() + 1, 0);
    all_.resize(l1_.size());
    std::iota(all_.begin(), all_.end(), 0);
    used_.reserve(l1_.size());
}

void SmoothedL1::place(std::span<const double> b, double intercept) {
    std::copy(b.begin(), b.end(), b_.begin());
    b0_ = intercept;
    for (std::int64_t i = 0; i < rows_.n; ++i)
        t_[i] = rows_.argument(i, intercept);
    for (std::int64_t j = 0; j < count(); ++j)
        add_column(j, b_[j], t_);
}

void SmoothedL1::add_column(std::int64_t j, double factor, std::vector<double>& t) const {
    if (factor == 0) return;
    for (std::int64_t e = start_[j]; e < start_[j + 1]; ++e)
        t[row_[e]] += factor * value_[e];
}

void SmoothedL1::smooth(double mu) {
    if (smoothed_for_ == mu) return;
    smoothed_for_ = mu;
    ramps_.clear();
    for (std::size_t k = 0; k < rows_.n_curves(); ++k)
        ramps_.emplace_back(rows_.curves[k], 1.0 / mu);
}

void SmoothedL1::predictions(std::span<double> z) const {
    for (std::int64_t i = 0; i < rows_.n; ++i)
        z[i] = rows_.direction[i] * (t_[i] - rows_.offset[i]);
}

void SmoothedL1::dual(double mu, std::span<double> g) {
    smooth(mu);
    for (std::int64_t i = 0; i < rows_.n; ++i)
        g[i] = rows_.weight[i] * rows_.direction[i] * ramps(i).slope(t_[i]);
}

double SmoothedL1::derivative(double step) const {
    double total = 0;
    for (std::int64_t i = 0; i < rows_.n; ++i)
        total += rows_.weight[i] * dt_[i] * ramps(i).slope(t_[i] + step * dt_[i]);
    for (std::int64_t j = 0; j < count(); ++j) {
        const double d = direction_[j], at = b_[j] + step * d;
        total += l1_[j] * (at > 0 ? d : (at < 0 ? -d : std::fabs(d)));
    }
    return total;
}

void SmoothedL1::move(double step) {
    for (std::int64_t j = 0; j < count(); ++j)
        b_[j] += step * direction_[j];
    for (std::int64_t i = 0; i < rows_.n; ++i)
        t_[i] += step * dt_[i];
    b0_ += step * intercept_direction_;
}

void SmoothedL1::shift_intercept(double mu) {
    std::fill(direction_.begin(), direction_.end(), 0.0);
    intercept_direction_ = mu;
    for (const int turn : {1, -1}) {
        intercept_direction_ *= turn;
        for (std::int64_t i = 0; i < rows_.n; ++i)
            dt_[i] = rows_.direction[i] * intercept_direction_;
        const double slope = derivative(0.0);
        if (slope < 0) return move(search_step([&](double a) { return derivative(a); }, slope));
    }
}

// The slope of a column's cost, and a bound on its curvature within its trust region.
template <class RampsOf>
SmoothedL1::Column SmoothedL1::look_at(std::int64_t j, double damping, const RampsOf& ramps) const {
    const double trust = trust_[j];
    double slope = 0, curvature = damping * square_[j];
    for (std::int64_t e = start_[j]; e < start_[j + 1]; ++e) {
        const std::int64_t i = row_[e];
        const double t = t_[i], x = rows_.weight[i] * value_[e];
        const double reach = std::fabs(value_[e]) * trust, square = x * value_[e];
        slope += x * ramps[i].slope(t);
        curvature += square * ramps[i].rate_near(t, reach);
    }
    return {slope, curvature};
}

void SmoothedL1::sweep(double mu, bool all, Interrupt& interrupt) {
    smooth(mu);
    if (intercept_) shift_intercept(mu);
    const double damping = kDamping / mu;
    with_ramps(ramps_, rows_.curve_index, [&](const auto& ramps) {
        for (std::int64_t j = 0; j < count(); ++j) {
            if (!all && b_[j] == 0) continue;
            if (interrupt.poll(start_[j + 1] - start_[j])) return;
            const Column at = look_at(j, damping, ramps);
            if (!(at.curvature > 0)) continue;
            const double wanted = minimiser(b_[j], at.slope, at.curvature, l1_[j]) - b_[j];
            const double change = std::clamp(wanted, -trust_[j], trust_[j]);
            trust_[j] = std::max(2 * std::fabs(change), 0.5 * trust_[j]);
            b_[j] += change;
            add_column(j, change, t_);
        }
    });
}

void SmoothedL1::set_model(double mu) {
    smooth(mu);
    root_.clear();
    intercept_gradient_ = 0, intercept_curvature_ = 0;
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        const double weight = rows_.weight[i], bend = weight * ramps(i).jacobian(t_[i]);
        slope_[i] = weight * ramps(i).slope(t_[i]);
        intercept_gradient_ += rows_.direction[i] * slope_[i];
        intercept_curvature_ += bend + kDamping * weight / mu;
        place_[i] = bend > 0 ? static_cast<std::int32_t>(root_.size()) : -1;
        if (bend > 0) root_.push_back(std::sqrt(bend));
    }
    change_.assign(root_.size(), 0.0);
    model_row_.clear(), model_value_.clear();
    worst_ = 0;
    for (std::int64_t j = 0; j < count(); ++j) {
        double gradient = 0, curvature = kDamping * square_[j] / mu, product = 0;
        for (std::int64_t e = start_[j]; e < start_[j + 1]; ++e) {
            gradient += value_[e] * slope_[row_[e]];
            const std::int32_t k = place_[row_[e]];
            if (k < 0) continue;
            const double x = value_[e] * root_[k];
            model_row_.push_back(k), model_value_.push_back(x);
            curvature += x * x, product += x * root_[k] * rows_.direction[row_[e]];
        }
        model_start_[j + 1] = std::ssize(model_row_);
        gradient_[j] = gradient, curvature_[j] = curvature;
        with_intercept_[j] = intercept_ ? product : 0.0;
        worst_ = std::max(worst_, violation(b_[j], gradient, l1_[j]) / l1_[j]);
    }
    std::fill(direction_.begin(), direction_.end(), 0.0);
    intercept_direction_ = intercept_ ? -intercept_gradient_ / intercept_curvature_ : 0.0;
}

double SmoothedL1::sweep_model(std::span<const std::int64_t> columns) {
    double worst = 0;
    for (const std::int64_t j : columns) {
        const double product = with_intercept_[j];
        // The intercept follows, which takes away from the curvature of the column.
        const double curvature = std::max(curvature_[j] - product * product / intercept_curvature_,
                                          kDamping * curvature_[j]);
        if (!(curvature > 0)) continue;
        double slope = gradient_[j] + product * intercept_direction_;
        for (std::int64_t e = model_start_[j]; e < model_start_[j + 1]; ++e)
            slope += model_value_[e] * change_[model_row_[e]];
        const double b = b_[j] + direction_[j];
        worst = std::max(worst, violation(b, slope, l1_[j]) / l1_[j]);
        const double move = minimiser(b, slope, curvature, l1_[j]) - b;
        if (move == 0) continue;
        direction_[j] += move;
        intercept_direction_ -= product * move / intercept_curvature_;
        for (std::int64_t e = model_start_[j]; e < model_start_[j + 1]; ++e)
            change_[model_row_[e]] += model_value_[e] * move;
    }
    return worst;
}

bool SmoothedL1::minimise_model(Interrupt& interrupt) {
    double first = 0;
    bool all = true;
    for (int done = 0; done < kModelSweeps; ++done) {
        if (interrupt.poll(std::ssize(model_row_))) return false;
        const double worst = sweep_model(all ? all_ : used_);
        if (done == 0) first = worst;
        if (!all) {
            all = worst <= 0.7 * kModelShare * first || done % kCheckEvery == 0;
            continue;
        }
        if (worst <= kModelShare * first) return true;
        used_.clear();
        for (std::int64_t j = 0; j < count(); ++j)
            if (b_[j] != 0 || direction_[j] != 0) used_.push_back(j);
        all = false;
    }
    return true;
}

double SmoothedL1::step(double mu, Interrupt& interrupt) {
    set_model(mu);
    if (!minimise_model(interrupt)) return worst_;
    for (std::int64_t i = 0; i < rows_.n; ++i)
        dt_[i] = rows_.direction[i] * intercept_direction_;
    for (std::int64_t j = 0; j < count(); ++j)
        add_column(j, direction_[j], dt_);
    const double slope = derivative(0.0);
    if (!(slope < 0)) return -1.0;
    // Whole steps keep coefficients at zero that the model puts there.
    const bool whole = derivative(1.0) <= -kSearchShare * slope;
    const double length = whole ? 1.0 : search_step([&](double a) { return derivative(a); }, slope);
    move(length);
    if (length < kShort) sweep(mu, false, interrupt);
    return worst_;
}

}  // namespace rectiline::newton
