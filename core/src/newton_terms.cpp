#include "rectiline/newton_terms.hpp"

#include "rectiline/design.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline {

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

void FrozenTerms::add_gradient(const double* b, std::int64_t order, double* gradient) const {
    if (!linear) return;
    for (std::int64_t j = 0; j < order; ++j)
        gradient[j] += linear[j];
    if (!quadratic) return;
    for (std::int64_t i = 0; i < order; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < order; ++j)
            sum += quadratic[i * order + j] * (b[j] - at[j]);
        gradient[i] += sum;
    }
}

double FrozenTerms::change(const double* b, std::int64_t order) const {
    double sum = 0;
    for (std::int64_t i = 0; linear && i < order; ++i) {
        double slope = linear[i];
        for (std::int64_t j = 0; quadratic && j < order; ++j)
            slope += 0.5 * quadratic[i * order + j] * (b[j] - at[j]);
        sum += slope * (b[i] - at[i]);
    }
    return sum;
}

double FrozenTerms::curvature_along(const double* direction, std::int64_t order) const {
    if (!quadratic) return 0.0;
    double sum = 0;
    for (std::int64_t i = 0; i < order; ++i)
        sum += direction[i] * dot(quadratic + i * order, direction, order);
    return sum;
}

}  // namespace rectiline
