#include "rectiline/proof/terms.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/proof/twofold.hpp"
#include "rectiline/rows/certificate.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/compensated.hpp"

#include <cassert>

namespace rectiline::proof {

namespace {

constexpr double kTerm = 1 + 64 * kUnit;    // relative error of one Fenchel-Young term
constexpr double kValue = 8 * kUnit;        // of a loss, relative to the sizes of its parts
constexpr double kCurve = 4 * kUnit;        // of the numbers of a curve, which are rounded as well
constexpr double kTouch = 8 * kUnit;        // of the point where a slope touches a curved piece
constexpr double kSlope = 4 * kUnit;        // of a multiplier divided by its weight
constexpr double kBlock = 1 + 600 * kUnit;  // of a plain sum over one block of rows
constexpr double kUnderflow = 0x1p-1000;    // more than products that underflow can lose
constexpr double kWeighted = 2 * kUnit;     // of a loss times its weight

// What the evaluation of a curve may add to the radius of an argument: on curved pieces the point
// where a slope touches is computed, from the end that is nearer to the minimum, with an error.
template <class Curved>
RECTILINE_INLINE double touch_error(const Curved& f, double t) {
    return f.touched >= 0 ? kTouch * (size_of(t) + f.touched) : 0.0;
}

struct Value {
    double loss, size;
    double steepness;  // not zero if a product was rounded, and may have underflowed
};

template <class Curved>
RECTILINE_INLINE Value value_of(const Curved& f, double t) {
    const auto [a, v, m, q] = f.quadratic_at(t);
    const double e = t - a, length = size_of(e);
    return {v + e * (m + 0.5 * q * e), size_of(v) + length * (size_of(m) + 0.5 * q * length),
            length > 0 ? size_of(m) + q : 0.0};
}

// A radius such that t - e and t + e, rounded, are at least the given radius away from t.
RECTILINE_INLINE double visible(double radius, double t) {
    return radius > 0 ? radius + 4 * kUnit * (size_of(t) + radius) : 0.0;
}

struct RowBound {
    double loss, loss_error, gap, gap_upper;
    double loss_lost, gap_lost;  // what underflow may have taken from the weighted terms
};

// The slope is known within `room` of s.
template <class Curved>
RECTILINE_INLINE RowBound bound_of(const Curved& f, double t, double e, double s, double room) {
    const double lowest = f.lowest_slope(), highest = f.highest_slope();
    const Value at = value_of(f, t), below = value_of(f, t - e), above = value_of(f, t + e);
    const double moved = larger(size_of(below.loss - at.loss), size_of(above.loss - at.loss));
    const double size = larger(at.size, larger(below.size, above.size));
    const double least = larger(s - room, lowest);
    const double most = s + room < highest ? s + room : highest;
    // Of four corners one of these two is the worst: a point right of where a slope touches is
    // farthest from it for the least slope, a point left of it for the largest one.
    const double upper = larger(f.fenchel_young(t + e, least), f.fenchel_young(t - e, most));
    const double steepness = at.steepness + below.steepness + above.steepness;
    const double loss_lost = steepness > 0 ? kUnderflow : 0.0;
    const double gap_lost = steepness + size_of(s) > 0 ? kUnderflow : 0.0;
    return {at.loss,
            moved + kValue * size,
            f.fenchel_young(t, s),
            kTerm * upper + kCurve * size,
            loss_lost,
            gap_lost};
}

// Sums over one block. The losses, which may cancel, are summed with compensation; everything else
// is not negative.
struct BlockBounds {
    double loss_size, loss_error, gap, gap_upper;
};

// The multipliers are share * g, and `spread` is the relative error of dividing by the weight.
struct Multipliers {
    const double* g;
    double share, spread;
};

template <class Curves>
RECTILINE_MULTIVERSION BlockBounds block_bounds(const Curves& curves, const RowFunctions& rows,
                                                RowBlock block, Arguments at, Multipliers dual,
                                                CompensatedLanes& loss) {
    const Curves of = curves;
    const double *weight = rows.weight, *direction = rows.direction;
    const double *value = at.value.data(), *radius = at.radius.data();
    double losses[kBlockRows];
    double size = 0, error = 0, gap = 0, upper = 0;
#pragma omp simd reduction(+ : size, error, gap, upper)
    for (std::int64_t i = block.first; i < block.last; ++i) {
        const auto& f = of[i];
        const double w = weight[i], t = value[i];
        const double e = visible(radius[i] + touch_error(f, t), t);
        const double s = w > 0 ? dual.share * (direction[i] * dual.g[i]) / w : 0.0;
        const RowBound row = bound_of(f, t, e, f.nearest_slope(s), dual.spread * size_of(s));
        const double counts = w > 0 ? 1.0 : 0.0;
        losses[i - block.first] = w * row.loss;
        size += w * size_of(row.loss), error += w * row.loss_error + counts * row.loss_lost;
        gap += w * row.gap, upper += w * row.gap_upper + counts * row.gap_lost;
    }
    loss.add(losses, block.last - block.first);
    return {size, error, gap, upper};
}

// The most that the Fenchel-Young term of a row grows, beyond its part of gap_upper, where its
// multiplier moves by up to `move` inside its box.
double growth_of(const RowFunctions& rows, std::int64_t i, Arguments at, Multipliers dual,
                 double move) {
    const double w = rows.weight[i], t = at.value[i];
    if (!(w > 0)) return 0.0;
    const Curve& f = rows.curve(i);
    const double s = std::clamp(dual.share * (rows.direction[i] * dual.g[i]) / w, f.lowest_slope(),
                                f.highest_slope());
    const double room = dual.spread * size_of(s);
    const RowBound moved =
        bound_of(f, t, visible(at.radius[i] + touch_error(f, t), t), s, room + kTerm * move / w);
    // What gap_upper has of this row may have been rounded another way: it is at least this.
    const RowBound still = bound_of(f, t, visible(at.radius[i], t), s, room);
    const double least = still.gap_upper / (kTerm * kTerm);
    const double growth = w * (kTerm * moved.gap_upper - least) + moved.gap_lost;
    return growth < kInfinity ? larger(growth, 0.0) : kInfinity;
}

using columns::Column;

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

// Moves multipliers into their boxes, and inside them until they balance.
void repair(const SmallProblem& problem, DualBoxes boxes, std::span<double> g) {
    if (problem.free_columns.empty() && problem.free.intercept) {
        rows::balance_dual(problem.rows, g);
        return;
    }
    rows::clip_dual(problem.rows, g);
    if (problem.free_columns.empty()) return;
    const std::vector<double> zero(problem.free.order(), 0.0);
    std::vector<double> norms;
    for (const std::int64_t j : problem.free_columns)
        norms.push_back(problem.norms.column[j]);
    Interrupt never;
    balance_columns(problem.free, dense_solver(problem.free, never), boxes, norms, zero, zero, g);
    rows::clip_dual(problem.rows, g);
}

}  // namespace

BoundedTerms row_terms(const RowFunctions& rows, Arguments at, std::span<const double> g,
                       const Moves& moves, double share) {
    assert(std::ssize(at.value) == rows.n && at.radius.size() == at.value.size());
    assert(g.size() == at.value.size() && moves.row.size() == moves.by.size());
    const double spread = share == 1.0 && all_powers_of_two(rows.weight, rows.n) ? 0.0 : kSlope;
    const Multipliers dual{g.data(), share, spread};
    CompensatedLanes loss;
    TwofoldSum size, error, gap, upper;
    const auto add = [&](const BlockBounds& part) {
        size.add(part.loss_size), error.add(part.loss_error);
        gap.add(part.gap), upper.add(part.gap_upper);
    };
    with_curves(rows, [&](const auto& curves) {
        for (const RowBlock& block : row_blocks(rows, true))
            add(block_bounds(curves, rows, block, at, dual, loss));
    });
    for (std::size_t k = 0; k < moves.row.size(); ++k)
        upper.add(growth_of(rows, moves.row[k], at, dual, moves.by[k]));
    const double total = loss.value(), terms = (static_cast<double>(rows.n) + 64) * kUnit;
    const std::int64_t count = rows.n + std::ssize(moves.row);
    const double sizes = kBlock * finished(size, count).hi;
    const double errors = kBlock * finished(error, count).hi + kWeighted * sizes +
                          2 * terms * terms * sizes + 2 * kUnit * size_of(total);
    BoundedTerms found{total, errors, finished(gap, count).hi,
                       kBlock * finished(upper, count).hi * (1 + 4 * kUnit)};
    // Infinite or undefined sums prove nothing.
    if (!(size_of(found.value) < kInfinity) || !(found.value_error < kInfinity))
        found.value = found.value_error = kInfinity;
    if (!(found.gap < kInfinity)) found.gap = kInfinity;
    if (!(found.gap_upper < kInfinity)) found.gap_upper = kInfinity;
    return found;
}

BoundedTerms column_bounds(const ColumnFunctions& columns, std::span<const double> b,
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
    BoundedTerms found{value, 1.01 * (2 * count + 4) * kUnit * value + value_lost, gap,
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

std::optional<ClosedPair> close_pair(const SmallProblem& problem, std::span<const double> b,
                                     double intercept, bool twofold, std::span<double> g,
                                     PairProducts out) {
    const auto [argument, radius, q, error] = out;
    std::vector<double> low(g.size()), high(g.size());
    const DualBoxes boxes{low, high};
    if (problem.free.order() > 0) rows::dual_boxes(problem.rows, low, high);
    repair(problem, boxes, g);
    const Candidate pair{b, intercept, g};
    if (twofold) {
        measure_twofold(problem.X, problem.rows, pair, {}, out);
    } else {
        std::vector<double> z(g.size()), image(b.size());
        design::multiply_both(problem.X, b, g, z, image);
        measure_plain(problem.rows, pair, z, image, problem.norms, {}, out);
    }
    std::vector<double> left;
    for (const std::int64_t j : problem.free_columns)
        left.push_back((size_of(q[j]) + error[j]) * (1 + 4 * kUnit));
    if (problem.free.intercept) {
        const BoundedSum total = bounded_sum(g);
        left.push_back((size_of(total.value) + total.error) * (1 + 4 * kUnit));
    }
    const std::optional<Moves> moves = exact_moves(problem.free, boxes, g, left);
    if (!moves) return std::nullopt;
    add_moved_sizes(problem.X, *moves, error);
    for (const std::int64_t j : problem.free_columns)
        q[j] = error[j] = 0.0;
    const double share = dual_share(problem.columns, q, error);
    double shrunk = 0;  // by how much more than without rounding errors
    if (share != 1.0) {
        const std::vector<double> none(q.size(), 0.0);
        const double exact = dual_share(problem.columns, q, none);
        shrunk = exact > 0 ? std::max(1.0 - share / exact, 0.0) : 0.0;
        for (std::size_t j = 0; j < q.size(); ++j) {
            error[j] = share * error[j] + 2 * kUnit * size_of(q[j]);
            q[j] *= share;
        }
    }
    BoundedTerms terms = row_terms(problem.rows, {argument, radius}, g, *moves, share);
    // What that costs the rows is rounding as well: at most about twice the losses' share of it.
    terms.gap = std::max(terms.gap - 2.0 * shrunk * size_of(terms.value), 0.0);
    return ClosedPair{terms, share};
}

}  // namespace rectiline::proof
