#include "rectiline/proof/column_bounds.hpp"

#include "rectiline/proof/twofold.hpp"

#include <algorithm>
#include <cassert>

namespace rectiline::proof {
namespace {

using columns::Column;

constexpr double kUnderflow = 0x1p-1000;  // more than products that underflow can lose

struct Terms {
    double gap, upper;
};

Terms linear_terms(const Column& h, double b, double q, double error) {
    const double size = size_of(b), pays = h.l1 * size, earns = q * b;
    const double term = std::max(pays - earns, 0.0);
    return {term, term + error * size + 4 * kUnit * (pays + size_of(earns))};
}

Terms quadratic_terms(const Column& h, double b, double q, double error) {
    const double best = q / h.rho, move = size_of(b - best);
    const double reach = move + error / h.rho + 4 * kUnit * (size_of(best) + move);
    return {0.5 * h.rho * move * move, 0.5 * h.rho * reach * reach};
}

// Terms are convex in q, so that the worst one is at an end.
Terms any_terms(const Column& h, double b, double q, double error) {
    const double reach = error + 4 * kUnit * (size_of(q) + h.l1);
    double upper = 0;
    for (const double end :
         {std::max(q - reach, h.least_slope()), std::min(q + reach, h.most_slope())}) {
        const double best = h.minimiser(end), sizes = size_of(b) + size_of(best);
        const double pays = (h.rho * sizes + size_of(end)) * size_of(b - best) + h.l1 * sizes;
        const double term = h.fenchel_young(b, end) + 16 * kUnit * pays;
        upper = term <= upper ? upper : term;
    }
    return {h.fenchel_young(b, q), upper};
}

// The share of q that stays below `end` on one side.
double share_below(double q, double error, double end) {
    const double most = q + error;
    const bool is_inside = error == 0 ? q <= end : most <= end * (1 - 4 * kUnit);
    if (is_inside) return 1.0;
    const double share = end / most * (1 - 8 * kUnit);
    return share > 0 ? share : 0.0;
}

}  // namespace

ColumnBounds column_bounds(const ColumnFunctions& columns, std::span<const double> b,
                           std::span<const double> q, std::span<const double> error) {
    assert(std::ssize(b) == columns.d && q.size() == b.size() && error.size() == b.size());
    double square = 0, size = 0, gap = 0, upper = 0, value_lost = 0, gap_lost = 0;
    for (std::int64_t j = 0; j < columns.d; ++j) {
        const Column h = columns[j];
        square += h.rho * b[j] * b[j], size += h.l1 * size_of(b[j]);
        Terms terms{};
        if (h.is_bounded() || (h.rho > 0 && h.l1 > 0))
            terms = any_terms(h, b[j], q[j], error[j]);
        else if (h.rho > 0)
            terms = quadratic_terms(h, b[j], q[j], error[j]);
        else
            terms = linear_terms(h, b[j], q[j], error[j]);
        gap += terms.gap, upper += terms.upper;
        const bool pays = b[j] != 0 && (h.rho > 0 || h.l1 > 0);
        if (pays) value_lost += kUnderflow;
        if (pays || q[j] != 0 || error[j] != 0) gap_lost += kUnderflow;
    }
    const double count = static_cast<double>(columns.d), value = 0.5 * square + size;
    ColumnBounds found{value, 1.01 * (2 * count + 4) * kUnit * value + value_lost, gap,
                       upper * (1 + 2 * (count + 16) * kUnit) + gap_lost};
    // Undefined sums prove nothing.
    if (!(found.gap < kInfinity)) found.gap = kInfinity;
    if (!(found.gap_upper < kInfinity)) found.gap_upper = kInfinity;
    return found;
}

double dual_share(const ColumnFunctions& columns, std::span<const double> q,
                  std::span<const double> error) {
    assert(std::ssize(q) == columns.d && error.size() == q.size());
    double least = 1.0;
    for (std::int64_t j = 0; j < columns.d; ++j) {
        const Column h = columns[j];
        if (h.rho > 0) continue;
        least = std::min(least, share_below(q[j], error[j], h.most_slope()));
        least = std::min(least, share_below(-q[j], error[j], -h.least_slope()));
    }
    return least;
}

}  // namespace rectiline::proof
