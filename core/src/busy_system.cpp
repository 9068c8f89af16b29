#include "rectiline/busy_system.hpp"

#include "rectiline/dense_algebra.hpp"
#include "rectiline/multiversion.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline {
namespace {

constexpr double kIdle = 10.0;  // times the curvature: stiffness of an idle column

constexpr std::int64_t kManyColumns = 64;

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
bool BusySystem::factorise(const double* rows, std::int64_t order,
                           const std::vector<std::int64_t>& which, const double* weight,
                           const double* stiffness, double ridge, std::vector<Real>& packed,
                           std::vector<Real>& H) {
    const std::int64_t count = static_cast<std::int64_t>(which.size());
    const std::int64_t m = static_cast<std::int64_t>(busy_.size());
    packed.resize(static_cast<std::size_t>(count * m));
    for (std::int64_t k = 0; k < count; ++k) {
        const double root = std::sqrt(weight[k]);
        const double* row = rows + which[k] * order;
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

bool BusySystem::set(const double* rows, std::int64_t order, const std::vector<std::int64_t>& which,
                     const double* weight, const double* stiffness, double ridge, double floor,
                     bool all) {
    double curvature = 0;
    for (std::size_t k = 0; k < which.size(); ++k)
        curvature += weight[k];
    curvature = std::max(curvature, floor);
    diagonal_.resize(static_cast<std::size_t>(order));
    busy_.clear();
    for (std::int64_t j = 0; j < order; ++j) {
        diagonal_[j] = stiffness[j] + curvature;
        if (all || stiffness[j] <= kIdle * curvature) busy_.push_back(j);
    }
    const std::int64_t m = static_cast<std::int64_t>(busy_.size());
    x_.resize(static_cast<std::size_t>(m)), single_x_.resize(static_cast<std::size_t>(m));
    single_ = m >= kManyColumns && !which.empty() && has_single_routines() &&
              factorise(rows, order, which, weight, stiffness, ridge * curvature, single_packed_,
                        single_H_);
    return single_ ||
           factorise(rows, order, which, weight, stiffness, ridge * curvature, packed_, H_);
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

}  // namespace rectiline
