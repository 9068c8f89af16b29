#include "rectiline/certificate.hpp"

#include "rectiline/compensated.hpp"
#include "rectiline/packed_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rectiline {
namespace {

// Bounds of g_i: the curve's slopes, times the weight, turned by the direction.
struct Box {
    double low, high;
};

Box dual_box(const RowFunctions& rows, std::int64_t i) {
    const double weight = rows.weight[i];
    if (weight == 0) return {0.0, 0.0};
    const Curve& f = rows.curve(i);
    const double a = weight * f.lowest_slope(), b = weight * f.highest_slope();
    return rows.direction[i] > 0 ? Box{a, b} : Box{-b, -a};
}

}  // namespace

namespace {

// Plain sums over a block of rows with one curve; the blocks are added with compensation.
constexpr std::int64_t kBlock = 128;

template <int K>
RECTILINE_MULTIVERSION RowSums block_sums(const PackedCurve<K>& curve, const RowFunctions& rows,
                                          std::int64_t first, std::int64_t last, const double* z,
                                          const double* g, double lowest, double highest) {
    const PackedCurve<K> f = curve;
    const double *weight = rows.weight, *direction = rows.direction, *offset = rows.offset;
    double loss = 0, gap = 0;
#pragma omp simd reduction(+ : loss, gap)
    for (std::int64_t i = first; i < last; ++i) {
        const double w = weight[i], t = direction[i] * z[i] + offset[i];
        // Dividing by the weight can push a slope past its end by one rounding: bring it back.
        double slope = w > 0 ? direction[i] * g[i] / w : lowest > 0 ? lowest : 0.0;
        slope = slope < lowest ? lowest : slope;
        slope = slope > highest ? highest : slope;
        double row_loss, row_gap;
        f.evaluate(t, slope, row_loss, row_gap);
        loss += w * row_loss;
        gap += w * row_gap;
    }
    return {loss, gap};
}

}  // namespace

RowSums row_sums(const RowFunctions& rows, const double* z, const double* g) {
    CompensatedSum loss, gap;
    if (!rows.curve_index && with_knot_count(rows.curves[0], [&]<int K>() {
            const Curve& f = rows.curves[0];
            const PackedCurve<K> packed(f);
            for (std::int64_t i = 0; i < rows.n; i += kBlock) {
                const RowSums sums = block_sums(packed, rows, i, std::min(rows.n, i + kBlock), z, g,
                                                f.lowest_slope(), f.highest_slope());
                loss.add(sums.loss), gap.add(sums.fenchel_young);
            }
        }))
        return {loss.value(), gap.value()};
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double weight = rows.weight[i];
        if (weight == 0) continue;
        const Curve& f = rows.curve(i);
        const double t = rows.argument(i, z[i]);
        const double slope =
            std::clamp(rows.direction[i] * g[i] / weight, f.lowest_slope(), f.highest_slope());
        loss.add(weight * f(t));
        gap.add(weight * std::max(0.0, fenchel_young(f, slope, t)));
    }
    return {loss.value(), gap.value()};
}

double loss_sum(const RowFunctions& rows, const double* z) {
    CompensatedSum loss;
    for (std::int64_t i = 0; i < rows.n; ++i)
        if (rows.weight[i] != 0) loss.add(rows.weight[i] * rows.curve(i)(rows.argument(i, z[i])));
    return loss.value();
}

void slopes_at(const RowFunctions& rows, const double* z, double* g) {
    for (std::int64_t i = 0; i < rows.n; ++i)
        g[i] = rows.weight[i] == 0 ? 0.0
                                   : rows.direction[i] * rows.weight[i] *
                                         rows.curve(i).slope(rows.argument(i, z[i]));
}

void clip_dual(const RowFunctions& rows, double* g) {
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const Box box = dual_box(rows, i);
        g[i] = std::clamp(g[i], box.low, box.high);
    }
}

namespace {

// How far each dual can move in the direction that lowers |excess|, by the ends of its box; with
// `interior_only` 0 at an end.
void fill_room(const RowFunctions& rows, const double* g, double excess, bool interior_only,
               double* room) {
    const double sign = excess > 0 ? -1.0 : 1.0;
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double weight = rows.weight[i], turn = rows.direction[i];
        const Curve& f = rows.curve(i);
        // In the row's own slope, up where turn and sign agree: no branch on either.
        const double own = turn * g[i];
        const double down = own - weight * f.lowest_slope();
        const double up = weight * f.highest_slope() - own;
        const double free = turn * sign > 0 ? up : down;
        const bool stuck = (interior_only && !(down > 0 && up > 0)) || weight == 0;
        room[i] = stuck ? 0.0 : free;
    }
}

}  // namespace

double balance_dual(const RowFunctions& rows, double* g) {
    constexpr double kRounding = 0.1 * std::numeric_limits<double>::epsilon();
    constexpr int kPasses = 8;
    std::vector<double> room;
    double excess = 0.0;
    for (int pass = 0;; ++pass) {
        CompensatedSum sum;
        double size = 0.0;
        for (std::int64_t i = 0; i < rows.n; ++i)
            sum.add(g[i]), size += std::fabs(g[i]);
        excess = sum.value();
        if (std::fabs(excess) <= kRounding * size || pass == kPasses) return excess;

        room.resize(static_cast<std::size_t>(rows.n));
        for (const bool interior_only : {true, false}) {
            fill_room(rows, g, excess, interior_only, room.data());
            // A row that is open on that side offers a finite share first and takes whatever the
            // others cannot.
            double bounded = 0.0, unbounded = 0.0;
            for (std::int64_t i = 0; i < rows.n; ++i) {
                if (std::isfinite(room[i]))
                    bounded += room[i];
                else
                    unbounded += std::fabs(g[i]) + rows.weight[i];
            }
            if (bounded + unbounded <= 0) continue;
            const double need = std::fabs(excess), share = need / (bounded + unbounded);
            const double bounded_share = std::min(1.0, share);
            const double open_share =
                share > 1 && unbounded > 0 ? (need - bounded) / unbounded : share;
            for (std::int64_t i = 0; i < rows.n; ++i) {
                if (!(room[i] > 0)) continue;
                const double move = std::isfinite(room[i])
                                        ? bounded_share * room[i]
                                        : open_share * (std::fabs(g[i]) + rows.weight[i]);
                const Box box = dual_box(rows, i);
                g[i] = std::clamp(g[i] - std::copysign(move, excess), box.low, box.high);
            }
            break;
        }
    }
}

}  // namespace rectiline
