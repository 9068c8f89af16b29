// The cost of the coefficients, column by column: h_j(b) = rho_j b^2 / 2 + l1_j |b| on [lower_j,
// upper_j]. The dual point q determines b_j = argmax q_j b - h_j(b), the gradient of h_j*.
#pragma once

#include "rectiline/rooms.hpp"

namespace rectiline::columns {

// One of them.
struct Column {
    double rho, l1, lower, upper;

    bool is_bounded() const { return lower > -kInfinity || upper < kInfinity; }

    // Where the conjugate is finite.
    double least_slope() const { return rho == 0 && lower == -kInfinity ? -l1 : -kInfinity; }
    double most_slope() const { return rho == 0 && upper == kInfinity ? l1 : kInfinity; }

    // A finite argmax_b q b - h(b).
    RECTILINE_INLINE double minimiser(double q) const {
        const double shrunk = q - std::clamp(q, -l1, l1);
        double b = 0;
        if (rho > 0)
            b = shrunk / rho;
        else if (shrunk > 0 && upper < kInfinity)
            b = upper;
        else if (shrunk < 0 && lower > -kInfinity)
            b = lower;
        return std::clamp(b, lower, upper);
    }
    // h(b) + h*(q) - q b from differences to the minimiser; infinite where it is undefined.
    RECTILINE_INLINE double fenchel_young(double b, double q) const {
        const double best = minimiser(q), move = b - best;
        const double term = 0.5 * rho * move * move - (q - rho * best) * move +
                            l1 * (std::fabs(b) - std::fabs(best));
        return term > 0 ? term : (term <= 0 ? 0.0 : kInfinity);
    }
};

struct ColumnFunctions {
    std::int64_t d;
    const double* rho;
    const double* l1;
    const double* lower;
    const double* upper;
    bool plain;  // no l1 and no bounds: b_j = q_j / rho_j

    RECTILINE_INLINE Column operator[](std::int64_t j) const {
        return {rho[j], l1[j], lower[j], upper[j]};
    }
    RECTILINE_INLINE double value(std::int64_t j, double b) const {
        return 0.5 * rho[j] * b * b + l1[j] * (b < 0 ? -b : b);
    }
};

}  // namespace rectiline::columns
