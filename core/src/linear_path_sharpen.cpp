// The interior method on the rows of the band. With v the multiplier of a row and r+ - r- = a its
// two parts, the optimum has r+ (1 - v) = r- v = 0, and so have columns with u+ - u- = b, whose
// multiplier q has the slacks l1 - q and l1 + q. A step solves, linearised,
//
//     r+ (1 - v) = r- v = t,   u+ (l1 - q) = u- (l1 + q) = t',   pull of the rows + q = 0,
//
// for targets t, t' a little above zero. The parts are those of a and b, lifted off zero by a
// length that is halved with every step.
#include "rectiline/linear_path.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline {
namespace {

constexpr int kMostSteps = 8;
constexpr double kInside = 1e-3;    // multipliers start so far inside their ranges
constexpr double kLift = 0.1;       // of h
constexpr double kLower = 0.5;      // lifts from one step to the next
constexpr double kCentre = 0.15;    // of the mean product: where products should go
constexpr double kBend = 0.4;       // of h: most that the second-order term may ask for
constexpr double kLongest = 1.5;    // step of the coefficients
constexpr int kHalvings = 9;        // of the interval that their step lies in
constexpr double kBoundary = 0.95;  // of the way to the end of a range
constexpr double kRidge = 1e-8;     // of the curvature

}  // namespace

struct LinearPath::Band {
    std::vector<std::int64_t> rows;
    Vector b, a, v, g;          // the pair, of all columns and rows
    Vector q;                   // multipliers of the columns
    Vector plus, minus, D, dv;  // of the rows inside
    Vector wanted;              // change of their multipliers is D (da + wanted)
    Vector E, dq, up, down, column_wanted;
    double lift;
    double shrink = 1.0;  // of the lifts so far
};

bool LinearPath::sharpen(double target, LinearStep& out, Interrupt& interrupt) {
    Band band;
    band.b = b_, band.a = a_, band.v = v_;
    band.lift = kLift * h_;
    for (std::int64_t i = 0; i < n_; ++i) {
        if (!(std::fabs(a_[i]) < h_)) continue;
        band.rows.push_back(i);
        band.v[i] = std::clamp(v_[i], kInside, 1.0 - kInside);
    }
    const std::size_t inside = band.rows.size(), d = static_cast<std::size_t>(d_);
    if (inside == 0) return false;
    for (auto* one : {&band.plus, &band.minus, &band.D, &band.dv, &band.wanted})
        one->resize(inside);
    for (auto* one : {&band.q, &band.E, &band.dq, &band.up, &band.down, &band.column_wanted})
        one->resize(d);
    band.g.resize(static_cast<std::size_t>(p_));
    rows_.pull(band.v.data(), band.g.data());
    for (std::int64_t j = 0; j < d_; ++j) {
        const double most = (1.0 - kInside) * l1_[j];
        band.q[j] = std::clamp(-band.g[j], -most, most);
    }
    for (int k = 0; k < kMostSteps; ++k) {
        if (!set_directions(band)) return false;
        move_coefficients(band);
        move_multipliers(band);
        offer(band.b, band.a);
        offer_multipliers(band.v, band.g);
        ++out.steps;
        if (relative_gap() <= target) return true;
        if (interrupt.poll(4 * n_ * p_)) {
            out.interrupted = true;
            return false;
        }
        band.lift *= kLower;
        band.shrink *= kLower;
    }
    return false;
}

bool LinearPath::set_directions(Band& band) {
    const std::size_t inside = band.rows.size();
    const Vector& width = rows_.width();
    weight_.resize(inside);
    double products = 0, total = 0, column_products = 0;
    for (std::size_t k = 0; k < inside; ++k) {
        const std::int64_t i = band.rows[k];
        const double v = band.v[i], a = band.a[i];
        band.plus[k] = std::max(a, 0.0) + band.lift;
        band.minus[k] = std::max(-a, 0.0) + band.lift;
        band.D[k] = 1.0 / (band.plus[k] / (1.0 - v) + band.minus[k] / v);
        products += width[i] * (band.plus[k] * (1.0 - v) + band.minus[k] * v);
        total += width[i];
        weight_[k] = width[i] * band.D[k];
    }
    for (std::int64_t j = 0; j < d_; ++j) {
        const double lift = band.shrink * w_[j];
        band.up[j] = std::max(band.b[j], 0.0) + lift;
        band.down[j] = std::max(-band.b[j], 0.0) + lift;
        const double above = l1_[j] - band.q[j], below = l1_[j] + band.q[j];
        stiffness_[j] = band.E[j] = 1.0 / (band.up[j] / above + band.down[j] / below);
        column_products += band.up[j] * above + band.down[j] * below;
    }
    if (p_ > d_) stiffness_[d_] = 0.0;
    if (!system_.set(rows_, band.rows, weight_.data(), stiffness_.data(), kRidge, 0.0, true))
        return false;
    const double row_target = kCentre * 0.5 * products / total;
    const double column_target = kCentre * 0.5 * column_products / static_cast<double>(d_);
    for (std::size_t k = 0; k < inside; ++k) {
        const double v = band.v[band.rows[k]];
        band.wanted[k] = band.a[band.rows[k]] - row_target * (1.0 / (1.0 - v) - 1.0 / v);
    }
    for (std::int64_t j = 0; j < d_; ++j)
        band.column_wanted[j] =
            band.b[j] - column_target * (1.0 / (l1_[j] - band.q[j]) - 1.0 / (l1_[j] + band.q[j]));
    for (int order = 1;; ++order) {
        for (std::int64_t j = 0; j < p_; ++j)
            right_[j] = -band.g[j];
        for (std::size_t k = 0; k < inside; ++k)
            axpy(-weight_[k] * band.wanted[k], rows_.row(band.rows[k]), right_.data(), p_);
        for (std::int64_t j = 0; j < d_; ++j)
            right_[j] -= band.q[j] + band.E[j] * band.column_wanted[j];
        system_.solve(right_.data(), db_.data());
        for (std::size_t k = 0; k < inside; ++k) {
            const double da = dot(rows_.row(band.rows[k]), db_.data(), p_);
            band.dv[k] = band.D[k] * (da + band.wanted[k]);
        }
        if (order == 2) break;
        // What the products of the changes would add, as Mehrotra's corrector has it.
        const double most = kBend * h_;
        for (std::size_t k = 0; k < inside; ++k) {
            const double v = band.v[band.rows[k]], dv = band.dv[k], up = 1.0 - v;
            const double more = (row_target - band.plus[k] * (up - dv)) / up;
            const double less = (row_target - band.minus[k] * (v + dv)) / v;
            band.wanted[k] += std::clamp(-dv * (more / up + less / v), -most, most);
        }
    }
    for (std::int64_t j = 0; j < d_; ++j)
        band.dq[j] = band.E[j] * (db_[j] + band.column_wanted[j]);
    return true;
}

// To where the true objective is least on the step: its slope grows, so halve the interval.
void LinearPath::move_coefficients(Band& band) {
    rows_.change(db_.data(), da_.data());
    const double fixed = dot(rows_.linear().data(), db_.data(), p_);
    double low = 0, high = kLongest;
    for (int k = 0; k < kHalvings; ++k) {
        const double step = 0.5 * (low + high);
        double slope = fixed + rows_.slope(band.a.data(), da_.data(), step);
        for (std::int64_t j = 0; j < d_; ++j)
            slope += band.b[j] + step * db_[j] > 0 ? l1_[j] * db_[j] : -l1_[j] * db_[j];
        (slope < 0 ? low : high) = step;
    }
    const double step = 0.5 * (low + high);
    axpy(step, db_.data(), band.b.data(), p_);
    axpy(step, da_.data(), band.a.data(), n_);
}

void LinearPath::move_multipliers(Band& band) {
    const auto until = [](double room, double speed) { return speed > 0 ? room / speed : 1e300; };
    double longest = 1e300;
    for (std::size_t k = 0; k < band.rows.size(); ++k) {
        const double v = band.v[band.rows[k]], dv = band.dv[k];
        longest = std::min({longest, until(v, -dv), until(1.0 - v, dv)});
    }
    for (std::int64_t j = 0; j < d_; ++j) {
        const double q = band.q[j], dq = band.dq[j];
        longest = std::min({longest, until(l1_[j] + q, -dq), until(l1_[j] - q, dq)});
    }
    const double step = std::min(1.0, kBoundary * longest);
    for (std::size_t k = 0; k < band.rows.size(); ++k) {
        const std::int64_t i = band.rows[k];
        band.v[i] += step * band.dv[k];
        axpy(step * band.dv[k] * rows_.width()[i], rows_.row(i), band.g.data(), p_);
    }
    axpy(step, band.dq.data(), band.q.data(), d_);
}

}  // namespace rectiline
