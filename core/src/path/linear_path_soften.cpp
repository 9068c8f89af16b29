// How soft, and the softened problem by Newton steps.
#include "rectiline/newton/line_search.hpp"
#include "rectiline/path/linear_path.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline::path {
namespace {

constexpr double kRows = 1.8;      // in the band, per column in use
constexpr double kManyRows = 4.0;  // so many are too soft
constexpr double kSpare = 10.0;    // columns that may come into use
constexpr double kNarrower = 2.0;  // band from one round to the next, at most
constexpr double kNarrowerRidge = 8.0;
constexpr double kWider = 1.6;
constexpr double kSoftShare = 0.5;  // of the target: what parabolas may cost whatever their rows
constexpr double kWidening = 1.4;
constexpr int kWidenings = 16;
constexpr double kFirst = 0.1;         // of the spread: half-width at the first place, at least
constexpr double kThinnest = 1e-3;     // of the spread: least half-width of the band
constexpr double kColumnShare = 0.25;  // of h over the root of the columns in use: width of columns
constexpr double kColumnCost = 0.03;   // of the objective over all columns: what that may cost
constexpr double kLeastWidth = 1e-9;   // of the widest
constexpr int kMostSteps = 12;
constexpr double kOutside = 0.05;     // multipliers may pull with so much more than the penalty
constexpr double kOff = 0.3;          // of the target: what ridge terms may pay
constexpr double kUnbalanced = 1e-3;  // of the objective: cost of balancing the intercept
constexpr double kFullStep = 0.9;     // from which on the rows on their parabolas are known
constexpr double kRidge = 1e-4;       // of the curvature
constexpr double kLeastRows = 0.01;   // of all: a matrix has at least their curvature

}  // namespace

// The widest band, if any wider than `least`, whose parabolas cost no more than `most`: a row pays
// a sixth of h there on average.
double LinearPath::harmless_width(double least, double most) const {
    double h = least;
    for (int k = 0; k < kWidenings; ++k) {
        const double next = kWidening * h;
        double inside = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            inside += std::fabs(a_[i]) < next ? rows_.width()[i] : 0.0;
        if (inside * next > 6.0 * most) break;
        h = next;
    }
    return h;
}

// Those that are off zero by more than their widths; a ridge term holds a share of each.
double LinearPath::columns_in_use() const {
    double sum = 0;
    for (std::int64_t j = 0; j < d_; ++j) {
        const double free = curvature_ > 0 ? curvature_ / (curvature_ + rho_[j]) : 1.0;
        sum += l1_[j] > 0 && !(std::fabs(b_[j]) > w_[j]) ? 0.0 : free;
    }
    return sum;
}

void LinearPath::set_softness(double target) {
    const double in_use = columns_in_use();
    double squares = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
        sizes_[i] = std::fabs(a_[i]);
        squares += a_[i] * a_[i];
    }
    spread_ = std::sqrt(squares / static_cast<double>(n_));
    const auto want = static_cast<std::int64_t>(
        std::min(kRows * (in_use + kSpare), 0.5 * static_cast<double>(n_)));
    std::nth_element(sizes_.begin(), sizes_.begin() + want, sizes_.end());
    double near = sizes_[want];
    // A start may have many rows on their kinks by chance: they say nothing. With a ridge term the
    // first problems are easy, however thin the band.
    const double first = has_ridge_ ? kThinnest * spread_ : std::max(near, kFirst * spread_);
    const double narrower = has_ridge_ ? kNarrowerRidge : kNarrower;
    near = h_ > 0 ? std::clamp(near, h_ / narrower, h_ * kWider) : first;
    value_ = std::fabs(rows_.loss(b_.data(), a_.data()) + penalty(b_));
    near = std::max({near, kThinnest * spread_, 1e-300});
    h_ = std::max(near, harmless_width(near, kSoftShare * target * value_));
    const double widest = kColumnShare * h_ / std::sqrt(in_use + 1.0);
    for (std::int64_t j = 0; j < d_; ++j)
        w_[j] =
            std::max(kLeastWidth * widest,
                     std::min(widest, kColumnCost * value_ / (static_cast<double>(d_) * l1_[j])));
}

bool LinearPath::is_too_soft(double target) {
    const double in_use = columns_in_use();
    double inside = 0, width = 0;
    for (std::int64_t i = 0; i < n_; ++i)
        if (std::fabs(a_[i]) < h_) inside += 1, width += rows_.width()[i];
    curvature_ = 0.5 * width / h_;
    return inside > kManyRows * (in_use + kSpare) && width * h_ > 6.0 * target * value_;
}

// The derivative is piecewise linear and grows: regula falsi kept away from the ends.
double LinearPath::soft_step() {
    const auto derivative = [&](double step) {
        double total = dot(rows_.linear().data(), db_.data(), p_) +
                       rows_.soft_slope(a_.data(), da_.data(), step, h_);
        for (std::int64_t j = 0; j < d_; ++j) {
            const double b = b_[j] + step * db_[j];
            total += db_[j] * (rho_[j] * b + l1_[j] * std::clamp(b / w_[j], -1.0, 1.0));
        }
        return total;
    };
    return search_step(derivative, derivative(0.0));
}

bool LinearPath::soften(std::int64_t max_steps, double target, LinearStep& out,
                        Interrupt& interrupt) {
    double least = 0;
    for (const double width : rows_.width())
        least += width;
    least *= kLeastRows * 0.5 / h_;
    for (int k = 0;; ++k) {
        rows_.soft_multipliers(a_.data(), h_, v_.data());
        rows_.pull(v_.data(), g_.data());
        double outside = 0, off = 0;  // the latter: what ridge terms pay for the former
        for (std::int64_t j = 0; j < d_; ++j) {
            const double held = l1_[j] * std::clamp(b_[j] / w_[j], -1.0, 1.0);
            right_[j] = -g_[j] - held - rho_[j] * b_[j];
            stiffness_[j] = rho_[j] + (std::fabs(b_[j]) < w_[j] ? l1_[j] / w_[j] : 0.0);
            if (has_ridge_)
                off += 0.5 * right_[j] * right_[j] / rho_[j];
            else
                outside = std::max(outside, std::fabs(g_[j]) / l1_[j] - 1.0);
        }
        double unbalanced = 0;
        if (p_ > d_) {
            right_[d_] = -g_[d_], stiffness_[d_] = 0.0;
            unbalanced = spread_ * std::fabs(g_[d_]) / std::max(value_, 1e-300);
        }
        const bool near =
            outside < kOutside && off <= kOff * target * value_ && unbalanced < kUnbalanced;
        if (k >= kMostSteps || out.steps >= max_steps || (k > 0 && near)) return true;
        listed_.clear();
        for (std::int64_t i = 0; i < n_; ++i)
            if (std::fabs(a_[i]) < h_) listed_.push_back(i);
        if (!system_.set_again(rows_.row(0), rows_.stride(), p_, listed_, rows_.width(), 0.5 / h_,
                               stiffness_.data(), kRidge, least)) {
            out.failed = true;
            return false;
        }
        system_.solve(right_.data(), db_.data());
        rows_.change(db_.data(), da_.data());
        const double step = soft_step();
        axpy(step, db_.data(), b_.data(), p_);
        axpy(step, da_.data(), a_.data(), n_);
        ++out.steps;
        if (interrupt.poll(4 * n_ * p_)) {
            out.interrupted = true;
            return false;
        }
    }
}

}  // namespace rectiline::path
