#include "rectiline/interior/unit_interior.hpp"

namespace rectiline::interior {

namespace {

constexpr double kLargeProduct = 1e8;     // at the start
constexpr double kSlack = 1.0;            // of the multipliers at the start
constexpr double kRoundingLevel = 1e-14;  // gaps relative to the reference that are rounding

template <class Real>
Real larger(Real a, Real b) {
    return leading(a) < leading(b) ? b : a;
}

}  // namespace

template <class Real>
UnitPair<Real>::UnitPair(const UnitProgram& program, NormalSystem<Real>& system)
    : x(program.rho.size()),
      y(program.row.size()),
      value(system.n_rows()),
      pull(x.size()),
      program_(program),
      system_(system) {
    side[1].sign = -1.0;
    for (int s = 0; s < 2; ++s) {
        const std::vector<double>& ends = s == 0 ? program.low : program.high;
        side[s].room.resize(y.size());
        side[s].multiplier.resize(y.size());
        for (const double end : ends) {
            side[s].is_finite.push_back(std::isfinite(end));
            n_products += std::isfinite(end);
        }
    }
    n_products = std::max(n_products, 1.0);
    for (std::size_t k = 0; k < y.size(); ++k) {
        const Real argument = Real(program_.shift[k]), soft = Real(program_.soft[k]);
        const double low = program_.low[k], high = program_.high[k];
        const bool below = side[0].is_finite[k], above = side[1].is_finite[k];
        const bool is_curved = program_.soft[k] > 0;
        const Real best = is_curved ? argument / soft : Real(0.0);
        if (below && above) {
            y[k] = Real(0.5) * (Real(low) + Real(high));
        } else if (below || above) {
            // The room keeps a product with a large multiplier from being very large.
            const double far = size_of(argument), room = program_.room[k];
            const Real away = Real(far * room > kLargeProduct ? kLargeProduct / far : room);
            y[k] = below ? Real(low) + away : Real(high) - away;
            if (is_curved && below) y[k] += larger(best - Real(low), Real(0.0));
            if (is_curved && above) y[k] -= larger(Real(high) - best, Real(0.0));
        } else {
            y[k] = best;
        }
        const Real excess = soft * y[k] - argument;
        side[0].multiplier[k] = larger(excess, Real(0.0)) + Real(kSlack);
        side[1].multiplier[k] = larger(-excess, Real(0.0)) + Real(kSlack);
        side[0].room[k] = below ? y[k] - Real(low) : Real(0.0);
        side[1].room[k] = above ? Real(high) - y[k] : Real(0.0);
    }
    place();
}

template <class Real>
void UnitPair<Real>::resume(std::span<const double> at, std::span<const double> duals,
                            std::span<const double> sides) {
    std::copy(at.begin(), at.end(), x.begin());
    std::copy(duals.begin(), duals.end(), y.begin());
    const double* from = sides.data();
    for (Side& end : side)
        for (std::vector<Real>* line : {&end.room, &end.multiplier})
            for (Real& entry : *line)
                entry = *from++;
    system_.multiply(x, value);
    place();
}

template <class Real>
void UnitPair<Real>::sum_over_rows(std::span<const Real> units, std::span<Real> rows) const {
    std::fill(rows.begin(), rows.end(), Real(0.0));
    for (std::size_t k = 0; k < units.size(); ++k)
        rows[program_.row[k]] += units[k];
}

template <class Real>
double UnitPair<Real>::charge(std::span<const Real> left, std::span<const Real> at,
                              double& excess) const {
    double gap = 0;
    for (std::size_t j = 0; j < left.size(); ++j) {
        const double rest = leading(left[j]);
        if (program_.rho[j] > 0) {
            gap += rest * rest / (2 * program_.rho[j]);
            continue;
        }
        gap += std::fabs(rest) * size_of(at[j]);
        const std::int64_t k = program_.price[j];
        if (k >= 0) excess = std::max(excess, size_of(y[k] - left[j]) / program_.high[k] - 1.0);
    }
    return gap;
}

// The cost and the Fenchel-Young terms of all units, and violations of rows that must be met.
template <class Real>
Verdict UnitPair<Real>::evaluate(std::span<const Real> at, std::span<const Real> values) const {
    Real paid = 0.0, gap = 0.0, products = 0.0;
    double violation = 0, most = 0;
    for (std::size_t k = 0; k < y.size(); ++k) {
        const Real u = values[program_.row[k]] + Real(program_.shift[k]);
        if (program_.soft[k] > 0) {
            const Real soft = Real(program_.soft[k]), half = Real(0.5) * soft;
            Real best = u / soft;
            if (leading(best) < program_.low[k]) best = Real(program_.low[k]);
            if (leading(best) > program_.high[k]) best = Real(program_.high[k]);
            paid += best * (u - half * best);
            gap += (best - y[k]) * (u - half * (best + y[k]));
        } else {
            // Towards an open end the row must not go: a violation, charged at its dual.
            const int s = leading(u) > 0 ? 1 : 0;
            const Real far = s == 1 ? u : -u;
            if (side[s].is_finite[k]) {
                paid += u * Real(s == 1 ? program_.high[k] : program_.low[k]);
                gap += far * side[s].room[k];
            } else {
                gap += far * Real(size_of(y[k]));
                violation = std::max(violation, leading(far));
            }
        }
        for (const Side& end : side)
            if (end.is_finite[k]) products += end.room[k] * end.multiplier[k];
    }
    std::vector<Real> left(at.size());
    for (std::size_t j = 0; j < at.size(); ++j) {
        const Real bend = Real(program_.rho[j]) * at[j], linear = Real(program_.linear[j]);
        left[j] = bend + linear + pull[j];
        paid += at[j] * (Real(0.5) * bend + linear);
        most = std::max(most, size_of(left[j]));
    }
    double excess = 0, total = leading(gap) + charge(left, at, excess);
    // Zero multipliers prove that no cost is below zero.
    if (program_.is_nonnegative) total = std::min(total, std::max(leading(paid), 0.0));
    const double cost = leading(paid) + program_.constant;
    double size =
        std::max({std::fabs(cost), std::fabs(cost - total), std::numeric_limits<double>::min()});
    if (total <= kRoundingLevel * program_.reference) size = std::max(size, program_.reference);
    return {total / size + excess, violation, leading(products) / n_products, most, size};
}

template <class Real>
void UnitPair<Real>::place() {
    std::vector<Real> duals(value.size());
    sum_over_rows(y, duals);
    system_.multiply_transposed(duals, pull);
}

template <class Real>
void UnitPair<Real>::point(std::span<double> at, std::span<double> duals) const {
    for (std::size_t j = 0; j < x.size(); ++j)
        at[j] = leading(x[j]);
    for (std::size_t k = 0; k < y.size(); ++k)
        duals[k] = std::clamp(leading(y[k]), program_.low[k], program_.high[k]);
}

template <class Real>
void UnitPair<Real>::sides(std::span<double> out) const {
    double* to = out.data();
    for (const Side& end : side)
        for (const std::vector<Real>* line : {&end.room, &end.multiplier})
            for (const Real entry : *line)
                *to++ = leading(entry);
}

template class UnitPair<double>;
template class UnitPair<Number>;

}  // namespace rectiline::interior
