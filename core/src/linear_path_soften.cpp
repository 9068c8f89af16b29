// The softened problem by Newton steps.
#include "rectiline/line_search.hpp"
#include "rectiline/linear_path.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline {
namespace {

constexpr int kMostSteps = 12;
constexpr double kOutside = 0.05;     // multipliers may pull with so much more than the penalty
constexpr double kUnbalanced = 1e-3;  // of the objective: cost of balancing the intercept
constexpr double kFullStep = 0.9;     // from which on the rows on their parabolas are known
constexpr double kRidge = 1e-4;       // of the curvature
constexpr double kLeastRows = 0.01;   // of all: a matrix has at least their curvature

}  // namespace

// The derivative is piecewise linear and grows: regula falsi kept away from the ends.
double LinearPath::soft_step() {
    const auto derivative = [&](double step) {
        double total = dot(rows_.linear().data(), db_.data(), p_) +
                       rows_.soft_slope(a_.data(), da_.data(), step, h_);
        for (std::int64_t j = 0; j < d_; ++j) {
            const double share = (b_[j] + step * db_[j]) / w_[j];
            total += db_[j] * l1_[j] * std::clamp(share, -1.0, 1.0);
        }
        return total;
    };
    return search_step(derivative, derivative(0.0));
}

bool LinearPath::soften(std::int64_t max_steps, LinearStep& out, Interrupt& interrupt) {
    double least = 0;
    for (const double width : rows_.width())
        least += width;
    least *= kLeastRows * 0.5 / h_;
    for (int k = 0;; ++k) {
        rows_.soft_multipliers(a_.data(), h_, v_.data());
        rows_.pull(v_.data(), g_.data());
        double outside = 0;
        for (std::int64_t j = 0; j < d_; ++j) {
            outside = std::max(outside, std::fabs(g_[j]) / l1_[j] - 1.0);
            right_[j] = -g_[j] - l1_[j] * std::clamp(b_[j] / w_[j], -1.0, 1.0);
            stiffness_[j] = std::fabs(b_[j]) < w_[j] ? l1_[j] / w_[j] : 0.0;
        }
        double unbalanced = 0;
        if (p_ > d_) {
            right_[d_] = -g_[d_], stiffness_[d_] = 0.0;
            unbalanced = spread_ * std::fabs(g_[d_]) / std::max(value_, 1e-300);
        }
        const bool near = outside < kOutside && unbalanced < kUnbalanced;
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

}  // namespace rectiline
