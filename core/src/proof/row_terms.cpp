#include "rectiline/proof/row_terms.hpp"

#include "rectiline/proof/twofold.hpp"
#include "rectiline/rows/boxes.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/rows/row_blocks.hpp"
#include "rectiline/support/compensated.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

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
struct Evaluation {
    double per_argument = 0, constant = 0;
    Evaluation() = default;
    explicit Evaluation(const Curve& f) {
        for (std::int64_t k = 0; k <= f.n_knots; ++k) {
            if (!(f.curvature[k] > 0)) continue;
            const bool right_end = k < f.n_knots && (k == 0 || f.left[k] <= 0);
            per_argument = kTouch;
            constant = std::max(constant, kTouch * size_of(f.knot[right_end ? k : k - 1]));
        }
    }
};

struct Value {
    double loss, size;
    double steepness;  // not zero if a product was rounded, and may have underflowed
};

template <class Packed>
RECTILINE_INLINE Value value_of(const Packed& f, double t) {
    double a = f.at[0], v = f.value[0], m = f.slope[0], q = f.curvature[0];
    for (int k = 1; k <= Packed::kKnots; ++k) {
        const bool past = t > f.knot[k - 1];
        a = past ? f.at[k] : a, v = past ? f.value[k] : v;
        m = past ? f.slope[k] : m, q = past ? f.curvature[k] : q;
    }
    const double e = t - a, length = size_of(e);
    if (Packed::kStraight) {
        const double steepness = size_of(m);
        return {v + e * m, size_of(v) + length * steepness, length > 0 ? steepness : 0.0};
    }
    return {v + e * (m + 0.5 * q * e), size_of(v) + length * (size_of(m) + 0.5 * q * length),
            length > 0 ? size_of(m) + q : 0.0};
}

// A curve with any number of knots, asked as if it were packed.
struct AnyCurve {
    const Curve& curve;
    double fenchel_young(double t, double s) const {
        const double term = curve.fenchel_young(t, s);
        return term > 0 ? term : 0.0;
    }
};

Value value_of(const AnyCurve& any, double t) {
    const Curve& f = any.curve;
    const std::int64_t k = f.piece(t);
    const bool right_end = k < f.n_knots && (k == 0 || f.left[k] <= 0);
    const std::int64_t j = right_end ? k : k - 1;
    const double m = right_end ? f.left[j] : f.right[j], q = f.curvature[k];
    const double e = t - f.knot[j], length = size_of(e);
    return {f.value[j] + e * (m + 0.5 * q * e),
            size_of(f.value[j]) + length * (size_of(m) + 0.5 * q * length),
            length > 0 ? size_of(m) + q : 0.0};
}

RECTILINE_INLINE double larger(double a, double b) {
    return a > b ? a : b;
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
RECTILINE_INLINE RowBound bound_of(const Curved& f, double t, double e, double s, double lowest,
                                   double highest, double room) {
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

template <class Packed>
RECTILINE_MULTIVERSION BlockBounds block_bounds(const Packed& curve, const RowFunctions& rows,
                                                RowBlock block, Arguments at, Multipliers dual,
                                                double lowest, double highest,
                                                Evaluation evaluation, CompensatedLanes& loss) {
    const Packed f = curve;
    const double *weight = rows.weight, *direction = rows.direction;
    const double *value = at.value.data(), *radius = at.radius.data();
    const double per_argument = evaluation.per_argument, constant = evaluation.constant;
    double losses[RowBlocks::kRows];
    double size = 0, error = 0, gap = 0, upper = 0;
#pragma omp simd reduction(+ : size, error, gap, upper)
    for (std::int64_t i = block.first; i < block.last; ++i) {
        const double w = weight[i], t = value[i];
        const double e = visible(radius[i] + (per_argument * size_of(t) + constant), t);
        double s = w > 0 ? dual.share * (direction[i] * dual.g[i]) / w : 0.0;
        const double room = dual.spread * size_of(s);
        s = s < lowest ? lowest : s;
        s = s > highest ? highest : s;
        const RowBound row = bound_of(f, t, e, s, lowest, highest, room);
        const double counts = w > 0 ? 1.0 : 0.0;
        losses[i - block.first] = w * row.loss;
        size += w * size_of(row.loss), error += w * row.loss_error + counts * row.loss_lost;
        gap += w * row.gap, upper += w * row.gap_upper + counts * row.gap_lost;
    }
    loss.add(losses, block.last - block.first);
    return {size, error, gap, upper};
}

// One row with any curve, whose multiplier moves by up to `move`; its weight must be positive.
RowBound any_row(const RowFunctions& rows, std::int64_t i, Arguments at, Multipliers dual,
                 double move, Evaluation evaluation) {
    const Curve& f = rows.curve(i);
    const double w = rows.weight[i], lowest = f.lowest_slope(), highest = f.highest_slope();
    const double t = at.value[i];
    const double e =
        visible(at.radius[i] + (evaluation.per_argument * size_of(t) + evaluation.constant), t);
    const double s = std::clamp(dual.share * (rows.direction[i] * dual.g[i]) / w, lowest, highest);
    const double room = dual.spread * size_of(s) + kTerm * move / w;
    return bound_of(AnyCurve{f}, t, e, s, lowest, highest, room);
}

BlockBounds mixed_block_bounds(const RowFunctions& rows, RowBlock block, Arguments at,
                               Multipliers dual, CompensatedLanes& loss) {
    double losses[RowBlocks::kRows];
    double size = 0, error = 0, gap = 0, upper = 0;
    for (std::int64_t i = block.first; i < block.last; ++i) {
        const double w = rows.weight[i];
        losses[i - block.first] = 0;
        if (w == 0) continue;
        const RowBound row = any_row(rows, i, at, dual, 0.0, Evaluation(rows.curve(i)));
        losses[i - block.first] = w * row.loss;
        size += w * size_of(row.loss), error += w * row.loss_error + row.loss_lost;
        gap += w * row.gap, upper += w * row.gap_upper + row.gap_lost;
    }
    loss.add(losses, block.last - block.first);
    return {size, error, gap, upper};
}

// The most that the Fenchel-Young term of a row grows, beyond its part of gap_upper, where its
// multiplier moves by up to `move` inside its box.
double growth_of(const RowFunctions& rows, std::int64_t i, Arguments at, Multipliers dual,
                 double move) {
    const double w = rows.weight[i];
    if (!(w > 0)) return 0.0;
    const RowBound moved = any_row(rows, i, at, dual, move, Evaluation(rows.curve(i)));
    // What gap_upper has of this row may have been rounded another way: it is at least this.
    const RowBound still = any_row(rows, i, at, dual, 0.0, Evaluation());
    const double least = still.gap_upper / (kTerm * kTerm);
    const double growth = w * (kTerm * moved.gap_upper - least) + moved.gap_lost;
    return growth < kInfinity ? larger(growth, 0.0) : kInfinity;
}

}  // namespace

RowTerms row_terms(const RowFunctions& rows, Arguments at, std::span<const double> g,
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
    const RowBlocks blocks = RowBlocks::with_weight(rows);
    const Curve& only = rows.curves[0];
    const double lowest = only.lowest_slope(), highest = only.highest_slope();
    const bool packed = !rows.curve_index && with_packed(only, [&](const auto& curve) {
        const Evaluation evaluation(only);
        for (const RowBlock& block : blocks)
            add(block_bounds(curve, rows, block, at, dual, lowest, highest, evaluation, loss));
    });
    if (!packed)
        for (const RowBlock& block : blocks)
            add(mixed_block_bounds(rows, block, at, dual, loss));
    for (std::size_t k = 0; k < moves.row.size(); ++k)
        upper.add(growth_of(rows, moves.row[k], at, dual, moves.by[k]));
    const double total = loss.value(), terms = (static_cast<double>(rows.n) + 64) * kUnit;
    const std::int64_t count = rows.n + std::ssize(moves.row);
    const double sizes = kBlock * finished(size, count).hi;
    const double errors = kBlock * finished(error, count).hi + kWeighted * sizes +
                          2 * terms * terms * sizes + 2 * kUnit * size_of(total);
    RowTerms found{total, errors, finished(gap, count).hi,
                   kBlock * finished(upper, count).hi * (1 + 4 * kUnit)};
    // Infinite or undefined sums prove nothing.
    if (!(size_of(found.loss) < kInfinity) || !(found.loss_error < kInfinity))
        found.loss = found.loss_error = kInfinity;
    if (!(found.gap < kInfinity)) found.gap = kInfinity;
    if (!(found.gap_upper < kInfinity)) found.gap_upper = kInfinity;
    return found;
}

}  // namespace rectiline::proof
