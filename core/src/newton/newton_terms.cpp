#include "rectiline/newton/newton_terms.hpp"

#include "rectiline/support/vectors.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline::newton {

void NewtonTerms::expand(const double* b, double* user) const {
    for (std::int64_t j = 0; j < order; ++j)
        user[j] = b[j] * scale[j];
    if (center) user[d] -= dot(center, user, d);
}

void NewtonTerms::contract(const double* gradient, double* out) const {
    const double last = order > d ? gradient[d] : 0.0;
    for (std::int64_t j = 0; j < order; ++j)
        out[j] = gradient[j] * scale[j];
    if (center)
        for (std::int64_t j = 0; j < d; ++j)
            out[j] -= last * center[j] * scale[j];
}

void NewtonTerms::contract_matrix(double* H) const {
    if (center) {
        const double* last = H + d * order;
        for (std::int64_t i = 0; i < d; ++i)
            axpy(-center[i], last, H + i * order, order);
        for (std::int64_t i = 0; i < order; ++i) {
            double* row = H + i * order;
            axpy(-row[d], center, row, d);
        }
    }
    for (std::int64_t i = 0; i < order; ++i)
        for (std::int64_t j = 0; j < order; ++j)
            H[i * order + j] *= scale[i] * scale[j];
}

NewtonTerms::Kink NewtonTerms::kink(std::int64_t k, double b, double multiplier,
                                    double growth) const {
    const std::int64_t j = kinked[k];
    const double stiff = column_stiffness[k] * growth;
    const double w = b + multiplier / stiff, limit = l1[j] / stiff;
    const double soft = w - std::clamp(w, -limit, limit);
    const double target = std::clamp(soft, lower[j], upper[j]);
    const bool held = (l1[j] > 0 && std::fabs(w) <= limit) || soft <= lower[j] || soft >= upper[j];
    return {stiff * (w - target), target, held};
}

double NewtonTerms::constraint_value(std::int64_t r, const double* b) const {
    return dot(rows + r * order, b, order) + offset[r];
}

double NewtonTerms::constraint_slope(std::int64_t r, double value, double multiplier,
                                     double growth) const {
    const double xi = multiplier - constraint_stiffness * growth * value;
    return equality[r] ? xi : std::max(xi, 0.0);
}

double NewtonTerms::penalty(const double* b) const {
    double sum = 0;
    for (std::int64_t j = 0; j < order; ++j)
        sum += b[j] * b[j] * 0.5 * rho[j] + l1[j] * std::fabs(b[j]);
    return sum;
}

double NewtonTerms::column_gap(const double* b, const double* q) const {
    double total = 0;
    for (std::int64_t j = 0; j < order; ++j) {
        const double pull = std::clamp(q[j], -l1[j], l1[j]), rest = q[j] - pull;
        double gap;
        if (rho[j] > 0) {
            const double best = std::clamp(rest / rho[j], lower[j], upper[j]);
            const double move = b[j] - best;
            gap = 0.5 * rho[j] * move * move - (q[j] - rho[j] * best) * move +
                  l1[j] * (std::fabs(b[j]) - std::fabs(best));
        } else if (b[j] <= lower[j] || b[j] >= upper[j]) {
            gap = 0;
        } else {
            gap = l1[j] * std::fabs(b[j]) - pull * b[j] + std::fabs(rest * b[j]);
        }
        total += std::max(gap, 0.0);
    }
    return total;
}

namespace {

RECTILINE_INLINE double times_difference(const double* row, const double* b, const double* from,
                                         std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t j = 0; j < n; ++j)
        sum += row[j] * (b[j] - from[j]);
    return sum;
}

// out += Q (b - from)
RECTILINE_MULTIVERSION void add_times_difference(const double* Q, const double* b,
                                                 const double* from, std::int64_t n, double* out) {
    for (std::int64_t i = 0; i < n; ++i)
        out[i] += times_difference(Q + i * n, b, from, n);
}

// (b - from)'Q (b - from), or b'Q b without `from`
RECTILINE_MULTIVERSION double form_of_difference(const double* Q, const double* b,
                                                 const double* from, std::int64_t n) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
        sum += from ? times_difference(Q + i * n, b, from, n) * (b[i] - from[i])
                    : dot(Q + i * n, b, n) * b[i];
    return sum;
}

}  // namespace

void FrozenTerms::add_gradient(const double* b, std::int64_t order, double* gradient) const {
    if (!linear) return;
    for (std::int64_t j = 0; j < order; ++j)
        gradient[j] += linear[j];
    if (!quadratic) return;
    add_times_difference(quadratic, b, at, order, gradient);
}

double FrozenTerms::change(const double* b, std::int64_t order) const {
    if (!linear) return 0.0;
    double sum = 0;
    for (std::int64_t i = 0; i < order; ++i)
        sum += linear[i] * (b[i] - at[i]);
    return quadratic ? sum + 0.5 * form_of_difference(quadratic, b, at, order) : sum;
}

double FrozenTerms::curvature_along(const double* direction, std::int64_t order) const {
    return quadratic ? form_of_difference(quadratic, direction, nullptr, order) : 0.0;
}

}  // namespace rectiline::newton
