#include "rectiline/path/busy_system.hpp"

#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/multiversion.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline::path {
namespace {

constexpr double kIdle = 10.0;  // times the curvature: stiffness of an idle column

constexpr std::int64_t kManyColumns = 64;
constexpr std::int64_t kRefreshEvery = 32;  // removes the rounding of repeated updates

template <class Real>
RECTILINE_INLINE void scale(const double* row, double factor, std::int64_t size, Real* out) {
#pragma omp simd
    for (std::int64_t c = 0; c < size; ++c)
        out[c] = static_cast<Real>(factor * row[c]);
}

RECTILINE_MULTIVERSION void scale_row(const double* row, double factor, std::int64_t size,
                                      double* out) {
    scale(row, factor, size, out);
}

RECTILINE_MULTIVERSION void scale_row(const double* row, double factor, std::int64_t size,
                                      float* out) {
    scale(row, factor, size, out);
}

}  // namespace

template <class Real>
bool BusySystem::factorise(const double* rows, std::int64_t stride, std::int64_t order,
                           const std::vector<std::int64_t>& which, const double* weight,
                           const double* stiffness, double ridge, std::vector<Real>& packed,
                           std::vector<Real>& H) {
    const std::int64_t count = static_cast<std::int64_t>(which.size());
    const std::int64_t m = static_cast<std::int64_t>(busy_.size());
    packed.resize(static_cast<std::size_t>(count * m));
    for (std::int64_t k = 0; k < count; ++k) {
        const double root = std::sqrt(weight[k]);
        const double* row = rows + which[k] * stride;
        Real* out = packed.data() + k * m;
        if (m == order)
            scale_row(row, root, m, out);
        else
            for (std::int64_t c = 0; c < m; ++c)
                out[c] = static_cast<Real>(root * row[busy_[c]]);
    }
    H.resize(static_cast<std::size_t>(m * m));
    sum_of_squares(packed.data(), count, m, H.data());
    for (std::int64_t c = 0; c < m; ++c)
        H[c * m + c] += static_cast<Real>(stiffness[busy_[c]] + ridge);
    return cholesky(H.data(), m);
}

double BusySystem::choose_busy(std::int64_t order, const double* stiffness, double curvature,
                               double floor, bool all) {
    curvature = std::max(curvature, floor);
    diagonal_.resize(static_cast<std::size_t>(order));
    busy_.clear();
    for (std::int64_t j = 0; j < order; ++j) {
        diagonal_[j] = stiffness[j] + curvature;
        if (all || stiffness[j] <= kIdle * curvature) busy_.push_back(j);
    }
    x_.resize(busy_.size()), single_x_.resize(busy_.size());
    return curvature;
}

bool BusySystem::set(const double* rows, std::int64_t stride, std::int64_t order,
                     const std::vector<std::int64_t>& which, const double* weight,
                     const double* stiffness, double ridge, double floor, bool all) {
    double curvature = 0;
    for (std::size_t k = 0; k < which.size(); ++k)
        curvature += weight[k];
    ridge *= choose_busy(order, stiffness, curvature, floor, all);
    const std::int64_t m = static_cast<std::int64_t>(busy_.size());
    single_ =
        m >= kManyColumns && !which.empty() && has_single_routines() &&
        factorise(rows, stride, order, which, weight, stiffness, ridge, single_packed_, single_H_);
    return single_ || factorise(rows, stride, order, which, weight, stiffness, ridge, packed_, H_);
}

bool BusySystem::set_again(const double* rows, std::int64_t stride, std::int64_t order,
                           const std::vector<std::int64_t>& which, const std::vector<double>& width,
                           double factor, const double* stiffness, double ridge, double floor) {
    weight_.clear();
    double curvature = 0;
    for (const std::int64_t i : which)
        weight_.push_back(factor * width[i]), curvature += weight_.back();
    const double* weight = weight_.data();
    const double counted = choose_busy(order, stiffness, curvature, floor, false);
    const std::int64_t m = static_cast<std::int64_t>(busy_.size());
    if (m < kManyColumns || !has_single_routines())
        return set(rows, stride, order, which, weight, stiffness, ridge, floor, false);
    update_gram(rows, stride, order, which, width);
    single_H_.resize(static_cast<std::size_t>(m * m));
    for (std::int64_t c = 0; c < m; ++c) {
        const float* from = gram_.data() + busy_[c] * order;
        float* to = single_H_.data() + c * m;
        for (std::int64_t r = c; r < m; ++r)
            to[r] = static_cast<float>(factor) * from[busy_[r]];
        to[c] += static_cast<float>(stiffness[busy_[c]] + ridge * counted);
    }
    single_ = cholesky(single_H_.data(), m);
    return single_ || set(rows, stride, order, which, weight, stiffness, ridge, floor, false);
}

void BusySystem::pack(const double* rows, std::int64_t stride, std::int64_t order,
                      const std::vector<std::int64_t>& which, const std::vector<double>& width) {
    single_packed_.resize(which.size() * static_cast<std::size_t>(order));
    for (std::size_t k = 0; k < which.size(); ++k)
        scale_row(rows + which[k] * stride, std::sqrt(width[which[k]]), order,
                  single_packed_.data() + k * static_cast<std::size_t>(order));
}

void BusySystem::update_gram(const double* rows, std::int64_t stride, std::int64_t order,
                             const std::vector<std::int64_t>& which,
                             const std::vector<double>& width) {
    const bool fresh = is_summed_.size() != width.size() || updates_++ % kRefreshEvery == 0;
    is_summed_.resize(width.size());
    came_.clear(), went_.clear();
    for (const std::int64_t i : which) {
        if (!is_summed_[i]) came_.push_back(i);
        is_summed_[i] = 2;  // still there
    }
    for (std::size_t i = 0; i < is_summed_.size(); ++i) {
        if (is_summed_[i] == 1) went_.push_back(static_cast<std::int64_t>(i));
        is_summed_[i] = is_summed_[i] == 2;
    }
    gram_.resize(static_cast<std::size_t>(order * order));
    if (fresh || 2 * (came_.size() + went_.size()) > which.size()) {
        pack(rows, stride, order, which, width);
        sum_of_squares(single_packed_.data(), static_cast<std::int64_t>(which.size()), order,
                       gram_.data());
        return;
    }
    for (const auto* some : {&came_, &went_}) {
        if (some->empty()) continue;
        pack(rows, stride, order, *some, width);
        add_squares(single_packed_.data(), static_cast<std::int64_t>(some->size()), order,
                    some == &came_ ? 1.0f : -1.0f, gram_.data());
    }
}

void BusySystem::solve(const double* right, double* x) {
    const std::int64_t m = static_cast<std::int64_t>(busy_.size());
    for (std::size_t j = 0; j < diagonal_.size(); ++j)
        x[j] = right[j] / diagonal_[j];
    if (single_) {
        double size = 0;  // small right-hand sides would lose digits
        for (std::int64_t c = 0; c < m; ++c)
            size = std::max(size, std::fabs(right[busy_[c]]));
        if (!(size > 0)) return;
        for (std::int64_t c = 0; c < m; ++c)
            single_x_[c] = static_cast<float>(right[busy_[c]] / size);
        cholesky_solve(single_H_.data(), m, single_x_.data());
        for (std::int64_t c = 0; c < m; ++c)
            x[busy_[c]] = size * single_x_[c];
        return;
    }
    for (std::int64_t c = 0; c < m; ++c)
        x_[c] = right[busy_[c]];
    cholesky_solve(H_.data(), m, x_.data(), 1);
    for (std::int64_t c = 0; c < m; ++c)
        x[busy_[c]] = x_[c];
}

}  // namespace rectiline::path
