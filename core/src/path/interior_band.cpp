#include "rectiline/path/interior_band.hpp"

#include "rectiline/design/products.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline::path {
namespace {

constexpr double kInside = 1e-3;    // multipliers start so far inside their ranges
constexpr double kEntry = 0.004;    // the same of rows that enter later
constexpr double kAgain = 0.01;     // the same of rows near their kinks when it goes on
constexpr double kNear = 0.3;       // of the band: these rows
constexpr double kLift = 0.1;       // of h
constexpr double kLiftAgain = 0.3;  // of the first lifts, when it goes on
constexpr double kLower = 0.5;      // lifts from one step to the next
constexpr double kCentre = 0.15;    // of the mean product: where products should go
constexpr double kBend = 0.4;       // of h: most that the second-order term may ask for
constexpr double kLongest = 1.5;    // step of the coefficients
constexpr int kHalvings = 9;        // of the interval that their step lies in
constexpr double kBoundary = 0.95;  // of the way to the end of a range
constexpr double kRidge = 1e-8;     // of the curvature
constexpr int kRefinements = 1;

double until(double room, double speed) {
    return speed > 0 ? room / speed : 1e300;
}

}  // namespace

InteriorBand::InteriorBand(const KinkedRows& rows) : rows_(rows), n_(rows.n()), p_(rows.order()) {
    is_inside_.assign(static_cast<std::size_t>(n_), 0);
    da_.resize(static_cast<std::size_t>(n_));
    for (auto* one : {&g_, &stiffness_, &right_, &db_, &pull_, &change_})
        one->resize(static_cast<std::size_t>(p_));
}

DesignView InteriorBand::inside() const {
    return DenseView<double>{packed_.data(), static_cast<std::int64_t>(listed_.size()), p_,
                             rows_.stride(), 1};
}

void InteriorBand::include(std::int64_t i) {
    is_inside_[i] = 1;
    places_.push_back(static_cast<std::int64_t>(listed_.size()));
    listed_.push_back(i);
    packed_.insert(packed_.end(), rows_.row(i), rows_.row(i) + rows_.stride());
}

bool InteriorBand::start(const Vector& b, const Vector& a, const Vector& v, double h,
                         const Vector& w, const Vector& l1, const Vector& rho) {
    b_ = b, a_ = a, v_ = v, w_ = w, l1_ = l1, rho_ = rho;
    h_ = h, lift_ = kLift * h, column_lift_ = 1.0;
    d_ = static_cast<std::int64_t>(l1.size());
    for (auto* one : {&q_, &E_, &dq_, &column_wanted_})
        one->resize(l1.size());
    std::fill(is_inside_.begin(), is_inside_.end(), 0);
    listed_.clear(), places_.clear(), packed_.clear();
    for (std::int64_t i = 0; i < n_; ++i)
        if (std::fabs(a_[i]) < h) {
            include(i);
            v_[i] = std::clamp(v_[i], kInside, 1.0 - kInside);
        }
    rows_.pull(v_.data(), g_.data());
    for (std::int64_t j = 0; j < d_; ++j) {
        const double most = (1.0 - kInside) * l1_[j];
        q_[j] = std::clamp(-g_[j], -most, most);
    }
    return is_started();
}

void InteriorBand::go_on(double ratio) {
    for (std::int64_t j = 0; j < d_; ++j) {
        l1_[j] *= ratio, rho_[j] *= ratio;
        q_[j] *= ratio;
    }
    lift_ = kLiftAgain * kLift * h_, column_lift_ = kLiftAgain;
    for (std::int64_t i = 0; i < n_; ++i) {
        if (!(std::fabs(a_[i]) < kNear * h_)) continue;
        if (!is_inside_[i]) include(i);
        v_[i] = std::clamp(v_[i], kAgain, 1.0 - kAgain);
    }
    rows_.pull(v_.data(), g_.data());
}

void InteriorBand::admit() {
    for (std::int64_t i = 0; i < n_; ++i) {
        if (is_inside_[i] || (v_[i] > 0.5) == (a_[i] > 0)) continue;
        const double move = v_[i] > 0.5 ? -kEntry : kEntry;
        include(i);
        v_[i] += move;
        axpy(move * rows_.width()[i], rows_.row(i), g_.data(), p_);
    }
}

bool InteriorBand::step() {
    set_parts();
    if (!system_.set(packed_.data(), rows_.stride(), p_, places_, weight_.data(), stiffness_.data(),
                     kRidge, 0.0, true))
        return false;
    set_directions();
    move_coefficients();
    move_multipliers();
    lift_ *= kLower, column_lift_ *= kLower;
    return true;
}

void InteriorBand::set_parts() {
    const std::size_t count = listed_.size();
    for (auto* one : {&plus_, &minus_, &D_, &weight_, &wanted_, &dv_, &da_inside_})
        one->resize(count);
    double products = 0, total = 0, column_products = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t i = listed_[k];
        const double v = v_[i], a = a_[i], width = rows_.width()[i];
        plus_[k] = std::max(a, 0.0) + lift_;
        minus_[k] = std::max(-a, 0.0) + lift_;
        D_[k] = 1.0 / (plus_[k] / (1.0 - v) + minus_[k] / v);
        products += width * (plus_[k] * (1.0 - v) + minus_[k] * v);
        total += width;
        weight_[k] = width * D_[k];
    }
    for (std::int64_t j = 0; j < d_; ++j) {
        stiffness_[j] = rho_[j], E_[j] = 0.0;
        if (!(l1_[j] > 0)) continue;
        const double lift = column_lift_ * w_[j];
        const double up = std::max(b_[j], 0.0) + lift, down = std::max(-b_[j], 0.0) + lift;
        const double above = l1_[j] - q_[j], below = l1_[j] + q_[j];
        E_[j] = 1.0 / (up / above + down / below);
        stiffness_[j] += E_[j];
        column_products += up * above + down * below;
    }
    if (p_ > d_) stiffness_[d_] = 0.0;
    row_target_ = kCentre * 0.5 * products / total;
    column_target_ = kCentre * 0.5 * column_products / static_cast<double>(d_);
}

// The multipliers must balance the columns to many digits: a solution in single precision is
// refined.
void InteriorBand::solve() {
    system_.solve(right_.data(), db_.data());
    multiply(inside(), db_.data(), da_inside_.data(), 1);
    for (int round = 0; system_.is_single() && round < kRefinements; ++round) {
        for (std::size_t k = 0; k < listed_.size(); ++k)
            dv_[k] = weight_[k] * da_inside_[k];
        multiply_transposed(inside(), dv_.data(), pull_.data(), 1);
        for (std::int64_t j = 0; j < p_; ++j)
            pull_[j] = right_[j] - pull_[j] - stiffness_[j] * db_[j];
        system_.solve(pull_.data(), change_.data());
        axpy(1.0, change_.data(), db_.data(), p_);
        multiply(inside(), db_.data(), da_inside_.data(), 1);
    }
}

// Twice with the same factor: the second time with what the products of the changes add, as
// Mehrotra's corrector has it.
void InteriorBand::set_directions() {
    const std::size_t count = listed_.size();
    for (std::size_t k = 0; k < count; ++k) {
        const double v = v_[listed_[k]];
        wanted_[k] = a_[listed_[k]] - row_target_ * (1.0 / (1.0 - v) - 1.0 / v);
    }
    for (std::int64_t j = 0; j < d_; ++j)
        column_wanted_[j] =
            l1_[j] > 0 ? b_[j] - column_target_ * (1.0 / (l1_[j] - q_[j]) - 1.0 / (l1_[j] + q_[j]))
                       : 0.0;
    for (int order = 1; order <= 2; ++order) {
        for (std::size_t k = 0; k < count; ++k)
            dv_[k] = weight_[k] * wanted_[k];
        multiply_transposed(inside(), dv_.data(), pull_.data(), 1);
        for (std::int64_t j = 0; j < p_; ++j)
            right_[j] = -g_[j] - pull_[j];
        for (std::int64_t j = 0; j < d_; ++j)
            right_[j] -= q_[j] + rho_[j] * b_[j] + E_[j] * column_wanted_[j];
        solve();
        for (std::size_t k = 0; k < count; ++k)
            dv_[k] = D_[k] * (da_inside_[k] + wanted_[k]);
        if (order == 2) break;
        const double most = kBend * h_;
        for (std::size_t k = 0; k < count; ++k) {
            const double v = v_[listed_[k]], dv = dv_[k], rest = 1.0 - v;
            const double more = (row_target_ - plus_[k] * (rest - dv)) / rest;
            const double less = (row_target_ - minus_[k] * (v + dv)) / v;
            wanted_[k] += std::clamp(-dv * (more / rest + less / v), -most, most);
        }
    }
    for (std::int64_t j = 0; j < d_; ++j)
        dq_[j] = E_[j] * (db_[j] + column_wanted_[j]);
}

// The slope of the objective grows along the step: halve the interval in which it turns.
void InteriorBand::move_coefficients() {
    rows_.change(db_.data(), da_.data());
    const double fixed = dot(rows_.linear().data(), db_.data(), p_);
    double low = 0, high = kLongest;
    for (int k = 0; k < kHalvings; ++k) {
        const double step = 0.5 * (low + high);
        double slope = fixed + rows_.slope(a_.data(), da_.data(), step);
        for (std::int64_t j = 0; j < d_; ++j) {
            const double b = b_[j] + step * db_[j];
            slope += db_[j] * (rho_[j] * b + (b > 0 ? l1_[j] : -l1_[j]));
        }
        (slope < 0 ? low : high) = step;
    }
    const double step = 0.5 * (low + high);
    axpy(step, db_.data(), b_.data(), p_);
    axpy(step, da_.data(), a_.data(), n_);
}

void InteriorBand::move_multipliers() {
    double longest = 1e300;
    for (std::size_t k = 0; k < listed_.size(); ++k) {
        const double v = v_[listed_[k]];
        longest = std::min({longest, until(v, -dv_[k]), until(1.0 - v, dv_[k])});
    }
    for (std::int64_t j = 0; j < d_; ++j)
        longest =
            std::min({longest, until(l1_[j] + q_[j], -dq_[j]), until(l1_[j] - q_[j], dq_[j])});
    const double step = std::min(1.0, kBoundary * longest);
    for (std::size_t k = 0; k < listed_.size(); ++k) {
        v_[listed_[k]] += step * dv_[k];
        dv_[k] *= step * rows_.width()[listed_[k]];
    }
    multiply_transposed(inside(), dv_.data(), pull_.data(), 1);
    axpy(1.0, pull_.data(), g_.data(), p_);
    axpy(step, dq_.data(), q_.data(), d_);
}

}  // namespace rectiline::path
