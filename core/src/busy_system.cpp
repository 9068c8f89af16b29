#include "rectiline/busy_system.hpp"

#include "rectiline/dense_algebra.hpp"
#include "rectiline/multiversion.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline {
namespace {

constexpr double kIdle = 10.0;  // times the curvature: stiffness of an idle column

RECTILINE_MULTIVERSION void scale_row(const double* row, double scale, std::int64_t size,
                                      double* out) {
#pragma omp simd
    for (std::int64_t c = 0; c < size; ++c)
        out[c] = scale * row[c];
}

}  // namespace

bool BusySystem::set(const double* rows, std::int64_t order, const std::vector<std::int64_t>& which,
                     const double* weight, const double* stiffness, double ridge, double floor,
                     bool all) {
    const std::int64_t p = order, count = static_cast<std::int64_t>(which.size());
    double curvature = 0;
    for (std::int64_t k = 0; k < count; ++k)
        curvature += weight[k];
    curvature = std::max(curvature, floor);
    diagonal_.resize(static_cast<std::size_t>(p));
    busy_.clear();
    for (std::int64_t j = 0; j < p; ++j) {
        diagonal_[j] = stiffness[j] + curvature;
        if (all || stiffness[j] <= kIdle * curvature) busy_.push_back(j);
    }
    const std::int64_t m = static_cast<std::int64_t>(busy_.size());
    packed_.resize(static_cast<std::size_t>(count * m));
    for (std::int64_t k = 0; k < count; ++k) {
        const double root = std::sqrt(weight[k]);
        const double* row = rows + which[k] * p;
        double* out = packed_.data() + k * m;
        if (m == p)
            scale_row(row, root, m, out);
        else
            for (std::int64_t c = 0; c < m; ++c)
                out[c] = root * row[busy_[c]];
    }
    H_.resize(static_cast<std::size_t>(m * m));
    sum_of_squares(packed_.data(), count, m, H_.data());
    for (std::int64_t c = 0; c < m; ++c)
        H_[c * m + c] += stiffness[busy_[c]] + ridge * curvature;
    x_.resize(static_cast<std::size_t>(m));
    return cholesky(H_.data(), m);
}

void BusySystem::solve(const double* right, double* x) {
    const std::int64_t m = static_cast<std::int64_t>(busy_.size());
    for (std::size_t j = 0; j < diagonal_.size(); ++j)
        x[j] = right[j] / diagonal_[j];
    for (std::int64_t c = 0; c < m; ++c)
        x_[c] = right[busy_[c]];
    cholesky_solve(H_.data(), m, x_.data(), 1);
    for (std::int64_t c = 0; c < m; ++c)
        x[busy_[c]] = x_[c];
}

}  // namespace rectiline
