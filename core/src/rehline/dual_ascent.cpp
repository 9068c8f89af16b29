#include "rectiline/rehline/dual_ascent.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/design/row_access.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace rectiline::rehline {
namespace {

struct ConstraintStep {
    const double *c, *curvature;
    const std::uint8_t* equality;
    double* dual;
};

template <class Rows>
RECTILINE_MULTIVERSION double step_constraints(Rows& access, std::int64_t count,
                                               const ConstraintStep& at, const DualMove& move) {
    double gap = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        if (!(at.curvature[k] > 0)) continue;  // zero rows cannot move anything
        const double value = access.dot(0, k, move.coef.data()) + at.c[k], old = at.dual[k];
        const double free = old - value / at.curvature[k];
        const double next = at.equality[k] ? free : std::max(0.0, free);
        if (next == old) continue;
        gap += std::fabs((next - old) * value);
        at.dual[k] = next;
        move(access, 0, k, next - old);
    }
    return gap;
}

}  // namespace

ConstraintDuals::ConstraintDuals(LinearConstraints constraints, const ColumnFunctions& columns)
    : constraints_(constraints),
      dual_(constraints.c.size(), 0.0),
      curvature_(dual_.size()),
      slack_(dual_.size()) {
    const std::int64_t m = size(), d = columns.d;
    if (m == 0) return;
    entries_per_row_ = d;
    std::visit(
        [&]<class View>(const View& A) {
            if constexpr (requires { A.pointers; })
                entries_per_row_ = 1 + static_cast<std::int64_t>(A.pointers[m]) / m;
            else
                assert(A.rows_contiguous());
        },
        constraints.A);
    std::vector<double> inverse(static_cast<std::size_t>(d));
    for (std::int64_t j = 0; j < d; ++j)
        inverse[j] = 1.0 / columns.rho[j];
    row_squares(constraints_.A, inverse, curvature_);
}

void ConstraintDuals::restart(std::span<const double> dual) {
    for (std::size_t k = 0; k < dual_.size(); ++k)
        dual_[k] = constraints_.equality[k] ? dual[k] : std::max(0.0, dual[k]);
}

std::int64_t ConstraintDuals::sweep(const DualMove& move, double& gap) {
    if (dual_.empty()) return 0;
    const ConstraintStep at{constraints_.c.data(), curvature_.data(), constraints_.equality.data(),
                            dual_.data()};
    with_row_access(constraints_.A,
                    [&](auto& access) { gap += step_constraints(access, size(), at, move); });
    return 2 * size() * entries_per_row_;
}

double ConstraintDuals::complementarity(std::span<const double> coef) {
    if (dual_.empty()) return 0.0;
    multiply(constraints_.A, coef, slack_);
    double sum = 0;
    for (std::size_t k = 0; k < dual_.size(); ++k)
        sum += std::fabs(dual_[k] * (slack_[k] + constraints_.c[k]));
    return sum;
}

void ConstraintDuals::push(std::span<double> q) const {
    multiply_transposed(constraints_.A, dual_, q);
}

Coefficients::Coefficients(ColumnFunctions columns)
    : columns_(columns),
      q_(static_cast<std::size_t>(columns.d)),
      coef_(q_.size()),
      part_(q_.size()) {}

DualMove Coefficients::mover() {
    return {columns_, q_, coef_, columns_.d > 0 ? 1.0 / columns_.rho[0] : 0.0};
}

void Coefficients::follow(const DesignView& X, std::span<const double> g,
                          const ConstraintDuals& constraints) {
    multiply_transposed(X, g, part_);
    for (std::int64_t j = 0; j < columns_.d; ++j)
        q_[j] = -part_[j];
    if (constraints.size() > 0) {
        constraints.push(part_);
        for (std::int64_t j = 0; j < columns_.d; ++j)
            q_[j] += part_[j];
    }
    for (std::int64_t j = 0; j < columns_.d; ++j)
        coef_[j] = columns_.minimiser(j, q_[j]);
}

double Coefficients::penalty() const {
    double sum = 0;
    for (std::int64_t j = 0; j < columns_.d; ++j)
        sum += columns_.value(j, coef_[j]);
    return sum;
}

}  // namespace rectiline::rehline
