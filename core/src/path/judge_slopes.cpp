#include "rectiline/path/judge_slopes.hpp"

#include "rectiline/design/many_kernels.hpp"
#include "rectiline/design/products.hpp"
#include "rectiline/design/products_many.hpp"
#include "rectiline/design/row_access.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/compensated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rectiline::path {
namespace {

struct PairSums {
    CompensatedSum loss, gap, total;
    double size = 0;
};

// The slope of a row that counts with multiplier g, in the range of its loss.
double slope_of(const RowFunctions& rows, std::int64_t i, double g) {
    const Curve& f = rows.curve(i);
    return std::clamp(rows.direction[i] * g / rows.weight[i], f.lowest_slope(), f.highest_slope());
}

double clipped(const RowFunctions& rows, std::int64_t i, double g) {
    if (!(rows.weight[i] > 0)) return 0.0;
    return rows.direction[i] * rows.weight[i] * slope_of(rows, i, g);
}

double gap_of(const RowFunctions& rows, std::int64_t i, double t, double g) {
    if (!(rows.weight[i] > 0)) return 0.0;
    return rows.weight[i] * std::max(0.0, fenchel_young(rows.curve(i), slope_of(rows, i, g), t));
}

// Takes account of a multiplier that becomes `now`, of a row at argument t.
void exchange(const RowFunctions& rows, std::int64_t i, double t, double before, double now,
              PairSums& sums) {
    sums.gap.add(gap_of(rows, i, t, now)), sums.gap.add(-gap_of(rows, i, t, before));
    sums.total.add(now), sums.total.add(-before);
    sums.size += std::fabs(now) - std::fabs(before);
}

#ifdef RECTILINE_LANES
struct BlockSums {
    double loss[kSide] = {}, gap[kSide] = {}, total[kSide] = {}, size[kSide] = {};
};

// z (rows x width): predictions. g: slopes that are known, whose place the multipliers take; NaN,
// or anything where `own` is 1, stands for the slope at the prediction. If AllOwn all are those,
// and nothing is lost by them.
template <int Width, bool AllOwn, class Packed>
RECTILINE_MULTIVERSION void multipliers_of_block(const Packed& curve, const RowFunctions& rows,
                                                 std::int64_t first, std::int64_t count,
                                                 const double* own, const double* z, double* g,
                                                 BlockSums& out) {
    const Packed f = curve;
    const double least = rows.curves[0].lowest_slope(), most = rows.curves[0].highest_slope();
    double loss[Width] = {}, gap[Width] = {}, total[Width] = {}, size[Width] = {}, mine[Width];
    std::copy(own, own + Width, mine);
    for (std::int64_t r = 0; r < count; ++r) {
        const double weight = rows.weight[first + r], turn = rows.direction[first + r];
        const double offset = rows.offset[first + r], turned = turn * weight;
        const double* at = z + r * Width;
        double* line = g + r * Width;
#pragma omp simd
        for (int k = 0; k < Width; ++k) {
            const double t = turn * at[k] + offset;
            double slope = f.slope_at(t);
            if constexpr (!AllOwn) {
                const bool is_known = (mine[k] == 0) & (line[k] == line[k]);
                slope = is_known ? line[k] : slope;
            }
            slope = slope < least ? least : slope;  // a proof takes nobody's word for its range
            slope = slope > most ? most : slope;
            if constexpr (!AllOwn) gap[k] += weight * f.fenchel_young(t, slope);
            const double multiplier = turned * slope;
            loss[k] += weight * f.loss(t);
            total[k] += multiplier;
            size[k] += multiplier < 0 ? -multiplier : multiplier;
            line[k] = multiplier;
        }
    }
    std::copy(loss, loss + Width, out.loss);
    std::copy(gap, gap + Width, out.gap);
    std::copy(total, total + Width, out.total);
    std::copy(size, size + Width, out.size);
}

// Dense rows in one piece and one curve for all of them.
template <class T, class Packed>
void judge_dense(const DenseView<T>& X, const RowFunctions& rows, const PairsOf& pairs,
                 const FewMultipliers& few, const Packed& curve, double* t_few,
                 std::vector<PairSums>& sums, double* Q) {
    const std::int64_t d = X.d, padded = (pairs.count + kSide - 1) / kSide * kSide;
    std::vector<double> Bt(static_cast<std::size_t>(padded * d)), start(padded, 0.0);
    std::vector<double> Qt(static_cast<std::size_t>(padded * d), 0.0), own(padded, 1.0);
    std::vector<std::int64_t> next(few.first, few.first + pairs.count);
    std::copy(pairs.shift, pairs.shift + pairs.count, start.begin());
    for (std::int64_t k = 0; k < pairs.count; ++k)
        own[k] = pairs.slopes[k] ? 0.0 : 1.0;
    over_vectors(pairs.count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
        turn_in(pairs.B + first * d, d, some, d, Groups * kLanes, Bt.data() + first * d);
    });
    double z[kTurned * kSide], g[kTurned * kSide] = {};
    for (std::int64_t i = 0; i < X.n; i += kTurned) {
        const std::int64_t count = std::min(kTurned, X.n - i);
        if (std::none_of(rows.weight + i, rows.weight + i + count, [](double w) { return w > 0; }))
            continue;
        over_vectors(pairs.count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
            constexpr int kWidth = Groups * kLanes;
            rows_times_many<Groups>(X.row(i), X.row_stride, count, d, Bt.data() + first * d,
                                    start.data() + first, z);
            for (std::int64_t k = 0; k < some; ++k) {
                if (own[first + k] > 0) continue;
                const double* slopes = pairs.slopes[first + k] + i;
                for (std::int64_t r = 0; r < count; ++r)
                    g[r * kWidth + k] = slopes[r];
            }
            BlockSums block;
            const double* mine = own.data() + first;
            if (std::find(mine, mine + kWidth, 0.0) == mine + kWidth)
                multipliers_of_block<kWidth, true>(curve, rows, i, count, mine, z, g, block);
            else
                multipliers_of_block<kWidth, false>(curve, rows, i, count, mine, z, g, block);
            for (std::int64_t k = 0; k < some; ++k) {
                PairSums& sum = sums[first + k];
                sum.loss.add(block.loss[k]), sum.gap.add(block.gap[k]);
                sum.total.add(block.total[k]);
                sum.size += block.size[k];
                std::int64_t& e = next[first + k];
                for (; e < few.first[first + k + 1] && few.row[e] < i + count; ++e) {
                    const std::int64_t row = few.row[e], place = (row - i) * kWidth + k;
                    if (row < i) continue;  // in a block without weight
                    t_few[e] = rows.argument(row, z[place]);
                    if (std::isnan(few.g[e])) few.g[e] = g[place];
                    few.g[e] = clipped(rows, row, few.g[e]);
                    exchange(rows, row, t_few[e], g[place], few.g[e], sum);
                    g[place] = few.g[e];
                }
            }
            add_transposed_many<Groups>(X.row(i), X.row_stride, count, d, g, Qt.data() + first * d);
        });
    }
    over_vectors(pairs.count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
        turn_out(Qt.data() + first * d, Groups * kLanes, some, d, d, Q + first * d);
    });
}

bool judge_in_blocks(const DesignView& X, const RowFunctions& rows, const PairsOf& pairs,
                     const FewMultipliers& few, double* t_few, std::vector<PairSums>& sums,
                     double* Q) {
    if (!takes_many(X) || rows.curve_index) return false;
    return std::visit(
        [&]<class View>(const View& view) {
            if constexpr (requires { view.row_stride; })
                return with_packed(rows.curves[0], [&](const auto& packed) {
                    judge_dense(view, rows, pairs, few, packed, t_few, sums, Q);
                });
            else
                return false;
        },
        X);
}
#else
bool judge_in_blocks(const DesignView&, const RowFunctions&, const PairsOf&, const FewMultipliers&,
                     double*, std::vector<PairSums>&, double*) {
    return false;
}
#endif

// Pair by pair: any storage, any curves.
void judge_each(const DesignView& X, const RowFunctions& rows, const PairsOf& pairs,
                const FewMultipliers& few, double* t_few, std::vector<PairSums>& sums, double* Q) {
    const std::int64_t n = rows.n, d = n_columns(X);
    std::vector<double> t(static_cast<std::size_t>(n)), g(t);
    for (std::int64_t k = 0; k < pairs.count; ++k) {
        PairSums& sum = sums[k];
        const double* slopes = pairs.slopes[k];
        multiply(X, pairs.B + k * d, t.data(), 1);
        for (std::int64_t i = 0; i < n; ++i) {
            const double weight = rows.weight[i];
            t[i] = rows.argument(i, t[i] + pairs.shift[k]);
            g[i] = 0;
            if (!(weight > 0)) continue;
            const Curve& f = rows.curve(i);
            const bool is_known = slopes && !std::isnan(slopes[i]);
            const double slope = is_known ? slopes[i] : f.slope(t[i]);
            g[i] = clipped(rows, i, rows.direction[i] * weight * slope);
            sum.loss.add(weight * f(t[i]));
            sum.gap.add(gap_of(rows, i, t[i], g[i])), sum.total.add(g[i]);
            sum.size += std::fabs(g[i]);
        }
        for (std::int64_t e = few.first[k]; e < few.first[k + 1]; ++e) {
            const std::int64_t i = few.row[e];
            t_few[e] = t[i];
            if (std::isnan(few.g[e])) few.g[e] = g[i];
            few.g[e] = clipped(rows, i, few.g[e]);
            exchange(rows, i, t[i], g[i], few.g[e], sum);
            g[i] = few.g[e];
        }
        multiply_transposed(X, g.data(), Q + k * d, 1);
    }
}

// How far a multiplier can go against the sign of what is too much; if there is no end, as far as
// it has come, which is a start.
double room_of(const RowFunctions& rows, std::int64_t i, double g, double excess, bool& open) {
    const double weight = rows.weight[i], turn = rows.direction[i];
    if (!(weight > 0)) return 0.0;
    const Curve& f = rows.curve(i);
    const bool down = (excess > 0) == (turn > 0);
    const double end = down ? f.lowest_slope() : f.highest_slope();
    const double room = weight * std::fabs(turn * g / weight - end);
    if (std::isfinite(room)) return room;
    open = true;
    return std::fabs(g) + weight;
}

bool is_straight(const Curve& f) {
    return std::all_of(f.curvature, f.curvature + f.n_knots + 1, [](double c) { return c == 0; });
}

// Moves the few multipliers of a pair until all sum to zero, by a share of their room; one alone
// makes up for rounding if it has plenty. Off kinks they pay for the square of what they move by,
// unless all pieces are straight.
template <class Access>
void balance_few(Access& access, const RowFunctions& rows, const FewMultipliers& few,
                 std::int64_t first, std::int64_t last, const double* t_few, PairSums& sum,
                 double* q) {
    constexpr double kRounding = 0.1 * std::numeric_limits<double>::epsilon();
    constexpr double kMuch = 20.0;        // times what has to be balanced: room of the part, and
    constexpr std::int64_t kFewest = 50;  // so many of them at least
    const bool straight = !rows.curve_index && is_straight(rows.curves[0]);
    constexpr double kPlenty = 100.0, kNext = 1e-9;
    constexpr int kPasses = 4;
    std::int64_t stride = 1;
    const auto move = [&](std::int64_t e, double by) {
        const std::int64_t i = few.row[e];
        const double before = few.g[e], now = clipped(rows, i, before + by);
        if (now == before) return;
        exchange(rows, i, t_few[e], before, now, sum);
        few.g[e] = now;
        access.load(&i, 1);
        access.axpy(0, i, now - before, q);
    };
    for (int pass = 0; pass < kPasses; ++pass) {
        const double excess = sum.total.value(), size = std::fabs(excess);
        if (size <= kRounding * sum.size) return;
        double room = 0, most = 0;
        bool open = false;
        std::int64_t best = first;
        const auto look = [&] {
            room = most = 0;
            for (std::int64_t e = first; e < last; e += stride) {
                const double one = room_of(rows, few.row[e], few.g[e], excess, open);
                room += one;
                if (one > most) most = one, best = e;
            }
        };
        look();
        if (pass == 0 && straight) {  // a part of them will do, at the same cost
            stride = std::clamp<std::int64_t>(static_cast<std::int64_t>(room / (kMuch * size)), 1,
                                              std::max<std::int64_t>(1, (last - first) / kFewest));
            if (stride > 1) look();
        }
        if (!(room > size) && !open) return;
        if (most > kPlenty * size && size <= kNext * sum.size) {
            move(best, -excess);
            continue;
        }
        for (std::int64_t e = first; e < last; e += stride)
            move(e, -excess / room * room_of(rows, few.row[e], few.g[e], excess, open));
    }
}

}  // namespace

void judge_slopes(const DesignView& X, const RowFunctions& rows, const PairsOf& pairs,
                  const FewMultipliers& few, bool balanced, SlopeSums* out, double* Q) {
    std::vector<PairSums> sums(static_cast<std::size_t>(pairs.count));
    std::vector<double> t_few(static_cast<std::size_t>(few.first[pairs.count]));
    for (std::int64_t e = 0; e < few.first[pairs.count]; ++e)
        if (!(rows.weight[few.row[e]] > 0)) few.g[e] = 0.0;
    if (!judge_in_blocks(X, rows, pairs, few, t_few.data(), sums, Q))
        judge_each(X, rows, pairs, few, t_few.data(), sums, Q);
    if (balanced)
        with_row_access(X, [&](auto& access) {
            access.reserve();
            for (std::int64_t k = 0; k < pairs.count; ++k)
                balance_few(access, rows, few, few.first[k], few.first[k + 1], t_few.data(),
                            sums[k], Q + k * n_columns(X));
        });
    for (std::int64_t k = 0; k < pairs.count; ++k)
        out[k] = {sums[k].loss.value(), std::max(0.0, sums[k].gap.value()), sums[k].total.value(),
                  sums[k].size};
}

}  // namespace rectiline::path
