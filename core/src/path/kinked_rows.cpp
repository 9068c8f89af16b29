#include "rectiline/path/kinked_rows.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/design/row_access.hpp"

#include <algorithm>

namespace rectiline::path {
namespace {

constexpr std::int64_t kShared = 2'000'000;  // entries from which on products pay for more threads

RECTILINE_MULTIVERSION double positive_sum(const double* width, const double* a, std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i)
        sum += width[i] * (a[i] > 0 ? a[i] : 0.0);
    return sum;
}

RECTILINE_MULTIVERSION double step_sum(const double* width, const double* a, const double* da,
                                       double step, std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i)
        sum += a[i] + step * da[i] > 0 ? width[i] * da[i] : 0.0;
    return sum;
}

RECTILINE_MULTIVERSION double ramp_sum(const double* width, const double* a, const double* da,
                                       double step, double half, std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) {
        const double v = 0.5 + half * (a[i] + step * da[i]);
        sum += width[i] * da[i] * (v < 0 ? 0.0 : v > 1 ? 1.0 : v);
    }
    return sum;
}

RECTILINE_MULTIVERSION void scale_row(double sign, const double* center, const double* scale,
                                      std::int64_t size, double* row) {
    if (center) {
#pragma omp simd
        for (std::int64_t j = 0; j < size; ++j)
            row[j] = sign * scale[j] * (row[j] - center[j]);
    } else {
#pragma omp simd
        for (std::int64_t j = 0; j < size; ++j)
            row[j] *= sign * scale[j];
    }
}

}  // namespace

bool KinkedRows::accepts(const RowFunctions& rows) {
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const Curve& f = rows.curve(i);
        if (f.n_knots != 1 || f.curvature[0] != 0 || f.curvature[1] != 0) return false;
        if (!(f.left[0] <= 0 && f.right[0] >= 0 && f.left[0] < f.right[0])) return false;
        if (!rows.curve_index) return true;
    }
    return true;
}

KinkedRows::KinkedRows(const DesignView& X, const RowFunctions& rows, const NewtonTerms& terms,
                       int n_threads)
    : n_given_(rows.n), p_(terms.order), stride_(whole_lines(terms.order)), n_threads_(n_threads) {
    for (std::int64_t i = 0; i < rows.n; ++i)
        if (rows.weight[i] > 0) used_.push_back(i);
    if (n() * p_ < kShared) n_threads_ = 1;
    const std::size_t size = used_.size();
    T_.resize(size * static_cast<std::size_t>(stride_));
    for (auto* one : {&offset_, &width_, &lowest_, &direction_, &weighted_})
        one->resize(size);
    with_row_access(X, [&](auto& access) {
        access.reserve();
        for (std::size_t k = 0; k < size; ++k) {
            double* row = T_.data() + k * static_cast<std::size_t>(stride_);
            access.load(&used_[k], 1);
            access.for_each(0, used_[k], [&](std::int64_t j, double x) { row[j] = x; });
        }
    });
    for (std::size_t k = 0; k < size; ++k) {
        const std::int64_t i = used_[k];
        const Curve& f = rows.curve(i);
        direction_[k] = rows.direction[i];
        offset_[k] = rows.offset[i] - f.knot[0];
        width_[k] = rows.weight[i] * (f.right[0] - f.left[0]);
        lowest_[k] = rows.weight[i] * f.left[0];
        value_at_kinks_ += rows.weight[i] * f.value[0];
        constant_ += lowest_[k] * offset_[k];
        double* row = T_.data() + k * static_cast<std::size_t>(stride_);
        scale_row(direction_[k], terms.center, terms.scale, terms.d, row);
        if (p_ > terms.d) row[terms.d] = direction_[k] * terms.scale[terms.d];
    }
    constant_ += value_at_kinks_;
    view_ = DenseView<double>{T_.data(), n(), p_, stride_, 1};
    linear_.resize(static_cast<std::size_t>(p_));
    multiply_transposed(view_, lowest_.data(), linear_.data(), n_threads_);
}

void KinkedRows::arguments(const double* b, double* a) const {
    multiply(view_, b, a, n_threads_);
    for (std::int64_t i = 0; i < n(); ++i)
        a[i] += offset_[i];
}

void KinkedRows::change(const double* db, double* da) const {
    multiply(view_, db, da, n_threads_);
}

void KinkedRows::pull(const double* v, double* g) const {
    for (std::int64_t i = 0; i < n(); ++i)
        weighted_[i] = width_[i] * v[i];
    multiply_transposed(view_, weighted_.data(), g, n_threads_);
    for (std::int64_t j = 0; j < p_; ++j)
        g[j] += linear_[j];
}

double KinkedRows::loss(const double* b, const double* a) const {
    return constant_ + dot(linear_.data(), b, p_) + positive_sum(width_.data(), a, n());
}

double KinkedRows::slope(const double* a, const double* da, double step) const {
    return step_sum(width_.data(), a, da, step, n());
}

double KinkedRows::soft_slope(const double* a, const double* da, double step, double h) const {
    return ramp_sum(width_.data(), a, da, step, 0.5 / h, n());
}

void KinkedRows::soft_multipliers(const double* a, double h, double* v) const {
    const double half = 0.5 / h;
    for (std::int64_t i = 0; i < n(); ++i)
        v[i] = std::clamp(0.5 + half * a[i], 0.0, 1.0);
}

double KinkedRows::dual_value(const double* v, double share) const {
    double sum = 0;
    for (std::int64_t i = 0; i < n(); ++i)
        sum += (lowest_[i] + width_[i] * v[i]) * offset_[i];
    return value_at_kinks_ + share * sum;
}

void KinkedRows::slopes(const double* v, double* g) const {
    std::fill(g, g + n_given_, 0.0);
    for (std::int64_t k = 0; k < n(); ++k)
        g[used_[k]] = direction_[k] * (lowest_[k] + width_[k] * v[k]);
}

}  // namespace rectiline::path
