#include "rectiline/newton/newton_terms.hpp"

#include "rectiline/support/vectors.hpp"

namespace rectiline::newton {

void NewtonTerms::set_columns(const ColumnFunctions& columns, std::span<const double> unit,
                              bool intercept) {
    d = columns.d;
    const auto order = static_cast<std::size_t>(d) + intercept;
    scale.assign(unit.begin(), unit.end());
    scale.resize(order, 1.0);
    rho.assign(order, 0.0), l1.assign(order, 0.0);
    lower.assign(order, -kInfinity), upper.assign(order, kInfinity);
    for (std::int64_t j = 0; j < d; ++j) {
        const Column column = columns[j];
        rho[j] = column.rho * unit[j] * unit[j], l1[j] = column.l1 * unit[j];
        lower[j] = column.lower / unit[j], upper[j] = column.upper / unit[j];
        if (l1[j] > 0 || column.is_bounded()) kinked.push_back(j);
    }
    constraint_stiffness = 10 * stiffness;
    set_stiffness();
}

void NewtonTerms::set_stiffness() {
    column_stiffness.resize(kinked.size());
    for (std::int64_t k = 0; k < n_kinked(); ++k) {
        const double pull = l1[kinked[k]];
        column_stiffness[k] = pull > 0 ? 20 * pull / argument_scale : 10 * stiffness;
    }
    // The proximal term holds columns whose own curvature cannot be relied on. A weak penalty that
    // is not tiny makes the Newton matrix safe without.
    proximal.assign(rho.size(), 0.0);
    const auto weaker = [&](double share) {
        return [bound = share * stiffness](double own) { return own < bound; };
    };
    // Of smooth losses the intercept alone asks for none: rows with curvature hold it.
    const auto last = rho.begin() + (smooth ? d : order());
    if (!std::any_of(rho.begin(), last, weaker(1e-9))) return;
    std::transform(rho.begin(), rho.end(), proximal.begin(),
                   [&](double own) { return weaker(1e-2)(own) ? 1e-3 * stiffness : 0.0; });
}

NewtonTerms NewtonTerms::times_strength(double factor) const {
    NewtonTerms other = *this;
    for (std::vector<double>* strengths : {&other.rho, &other.l1})
        for (double& entry : *strengths)
            entry *= factor;
    other.set_stiffness();
    return other;
}

void NewtonTerms::expand(std::span<const double> b, std::span<double> user) const {
    for (std::int64_t j = 0; j < order(); ++j)
        user[j] = b[j] * scale[j];
    if (!center.empty()) user[d] -= dot(center.data(), user.data(), d);
}

void NewtonTerms::shrink(std::span<const double> user, std::span<double> b) const {
    std::copy(user.begin(), user.end(), b.begin());
    if (!center.empty()) b[d] += dot(center.data(), user.data(), d);
    for (std::int64_t j = 0; j < order(); ++j)
        b[j] /= scale[j];
}

void NewtonTerms::contract(std::span<const double> gradient, std::span<double> out) const {
    const std::int64_t order = this->order();
    const double last = order > d ? gradient[d] : 0.0;
    for (std::int64_t j = 0; j < order; ++j)
        out[j] = gradient[j] * scale[j];
    if (!center.empty())
        for (std::int64_t j = 0; j < d; ++j)
            out[j] -= last * center[j] * scale[j];
}

void NewtonTerms::contract_matrix(std::span<double> H) const {
    const std::int64_t order = this->order();
    if (!center.empty()) {
        const double* last = H.data() + d * order;
        for (std::int64_t i = 0; i < d; ++i)
            axpy(-center[i], last, H.data() + i * order, order);
        for (std::int64_t i = 0; i < order; ++i) {
            double* row = H.data() + i * order;
            axpy(-row[d], center.data(), row, d);
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

void NewtonTerms::set_multipliers(std::span<const double> b, std::span<const double> gradient,
                                  std::span<double> column) const {
    for (std::int64_t k = 0; k < n_kinked(); ++k) {
        const std::int64_t j = kinked[k];
        // Beyond an l1 term only a bound can pull, and only outwards.
        const double most = upper[j] < kInfinity ? kInfinity : l1[j];
        const double least = lower[j] > -kInfinity ? -kInfinity : -l1[j];
        column[k] = std::clamp(-gradient[j] - rho[j] * b[j], least, most);
    }
}

double NewtonTerms::constraint_value(std::int64_t r, std::span<const double> b) const {
    return dot(row(r), b.data(), order()) + offset[r];
}

double NewtonTerms::constraint_slope(std::int64_t r, double value, double multiplier,
                                     double growth) const {
    const double xi = multiplier - constraint_stiffness * growth * value;
    return equality[r] ? xi : std::max(xi, 0.0);
}

double NewtonTerms::penalty(std::span<const double> b) const {
    double sum = 0;
    for (std::int64_t j = 0; j < order(); ++j)
        sum += b[j] * b[j] * 0.5 * rho[j] + l1[j] * std::fabs(b[j]);
    return sum;
}

double NewtonTerms::column_gap(std::span<const double> b, std::span<const double> q,
                               double curvature) const {
    double total = 0;
    for (std::int64_t j = 0; j < order(); ++j) {
        const double inside = std::clamp(b[j], lower[j], upper[j]), beyond = b[j] - inside;
        if (beyond != 0)  // the answer moves back to the bound, against what pulls it beyond
            total += std::fabs((q[j] - rho[j] * inside) * beyond -
                               l1[j] * (std::fabs(b[j]) - std::fabs(inside)));
        if (rho[j] > 0) {
            total += Column{rho[j], l1[j], lower[j], upper[j]}.fenchel_young(inside, q[j]);
        } else if (b[j] > lower[j] && b[j] < upper[j]) {
            const double pull = std::clamp(q[j], -l1[j], l1[j]), rest = q[j] - pull;
            double away = std::fabs(b[j]);
            if (j == d && curvature > 0) away = std::min(away, 0.5 * std::fabs(rest) / curvature);
            total += l1[j] * std::fabs(b[j]) - pull * b[j] + std::fabs(rest) * away;
        }
    }
    return total;
}

namespace {

// out += Q (b - from)
RECTILINE_MULTIVERSION void add_times_difference(const double* Q, const double* b,
                                                 const double* from, std::int64_t n, double* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        const double* row = Q + i * n;
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t j = 0; j < n; ++j)
            sum += row[j] * (b[j] - from[j]);
        out[i] += sum;
    }
}

// b'Q b
RECTILINE_MULTIVERSION double quadratic_form(const double* Q, const double* b, std::int64_t n) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
        sum += dot(Q + i * n, b, n) * b[i];
    return sum;
}

}  // namespace

void FrozenTerms::contract(const NewtonTerms& terms) {
    terms.contract(linear, linear);
    if (!quadratic.empty()) terms.contract_matrix(quadratic);
}

void FrozenTerms::add_gradient(std::span<const double> b, std::span<double> gradient) const {
    for (std::size_t j = 0; j < linear.size(); ++j)
        gradient[j] += linear[j];
    if (!quadratic.empty())
        add_times_difference(quadratic.data(), b.data(), at.data(), std::ssize(b), gradient.data());
}

double FrozenTerms::curvature_along(std::span<const double> direction) const {
    if (quadratic.empty()) return 0.0;
    return quadratic_form(quadratic.data(), direction.data(), std::ssize(direction));
}

}  // namespace rectiline::newton
