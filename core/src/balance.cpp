// Multipliers moved into their boxes, and inside them until they balance.
#include "rectiline/certificate.hpp"
#include "rectiline/compensated.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rectiline {
namespace {

constexpr std::int64_t kBlock = 256;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The ends of the slopes of each curve, so that the loops over rows look at numbers alone.
class SlopeEnds {
  public:
    explicit SlopeEnds(const RowFunctions& rows) : index(rows.curve_index) {
        std::size_t count = 1;
        for (std::int64_t i = 0; index && i < rows.n; ++i)
            count = std::max<std::size_t>(count, index[i] + std::size_t{1});
        for (std::size_t c = 0; c < count; ++c) {
            low.push_back(rows.curves[c].lowest_slope());
            high.push_back(rows.curves[c].highest_slope());
        }
    }
    const std::uint8_t* index;
    std::vector<double> low, high;
};

// A multiplier in the row's own slope, where its box is [weight low, weight high].
RECTILINE_INLINE double clipped(double own, double weight, double low, double high) {
    const double least = weight * low, most = weight * high;
    own = own < least ? least : own;
    own = own > most ? most : own;
    return weight > 0 ? own : 0.0;  // a weight of zero times an open end is not a number
}

// How far a multiplier can move up (`sign` > 0) or down inside its box; 0 at an end if only those
// inside may move.
RECTILINE_INLINE double room_of(double g, double turn, double weight, double low, double high,
                                double sign, bool inside_only) {
    const double own = turn * g, down = own - weight * low, up = weight * high - own;
    const double free = turn * sign > 0 ? up : down;
    const bool stuck = (inside_only && !(down > 0 && up > 0)) || !(weight > 0);
    return stuck ? 0.0 : free;
}

template <bool Mixed>
RECTILINE_MULTIVERSION void clip_block(const RowFunctions& rows, const SlopeEnds& ends,
                                       std::int64_t first, std::int64_t last, double* g) {
    const double *weight = rows.weight, *turn = rows.direction;
    const double *lows = ends.low.data(), *highs = ends.high.data();
    const double one_low = lows[0], one_high = highs[0];
#pragma omp simd
    for (std::int64_t i = first; i < last; ++i) {
        const double low = Mixed ? lows[ends.index[i]] : one_low;
        const double high = Mixed ? highs[ends.index[i]] : one_high;
        g[i] = turn[i] * clipped(turn[i] * g[i], weight[i], low, high);
    }
}

// Room of all rows; one that is open on that side offers what it is itself.
struct Room {
    double bounded = 0, open = 0;
};

template <bool Mixed>
RECTILINE_MULTIVERSION Room total_room(const RowFunctions& rows, const SlopeEnds& ends,
                                       const double* g, double sign, bool inside_only) {
    const double *weight = rows.weight, *turn = rows.direction;
    const double *lows = ends.low.data(), *highs = ends.high.data();
    const double one_low = lows[0], one_high = highs[0];
    double bounded = 0, open = 0;
#pragma omp simd reduction(+ : bounded, open)
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double low = Mixed ? lows[ends.index[i]] : one_low;
        const double high = Mixed ? highs[ends.index[i]] : one_high;
        const double room = room_of(g[i], turn[i], weight[i], low, high, sign, inside_only);
        const double size = (g[i] < 0 ? -g[i] : g[i]) + weight[i];
        bounded += room < kInfinity ? room : 0.0;
        open += room < kInfinity ? 0.0 : size;
    }
    return {bounded, open};
}

struct Shares {
    double bounded, open;
};

template <bool Mixed>
RECTILINE_MULTIVERSION void move_block(const RowFunctions& rows, const SlopeEnds& ends,
                                       std::int64_t first, std::int64_t last, double sign,
                                       bool inside_only, Shares share, double* g) {
    const double *weight = rows.weight, *turn = rows.direction;
    const double *lows = ends.low.data(), *highs = ends.high.data();
    const double one_low = lows[0], one_high = highs[0];
#pragma omp simd
    for (std::int64_t i = first; i < last; ++i) {
        const double low = Mixed ? lows[ends.index[i]] : one_low;
        const double high = Mixed ? highs[ends.index[i]] : one_high;
        const double room = room_of(g[i], turn[i], weight[i], low, high, sign, inside_only);
        const double size = (g[i] < 0 ? -g[i] : g[i]) + weight[i];
        const double move = room < kInfinity ? share.bounded * room : share.open * size;
        const double moved =
            turn[i] * clipped(turn[i] * (g[i] + sign * move), weight[i], low, high);
        g[i] = room > 0 ? moved : g[i];
    }
}

RECTILINE_MULTIVERSION void add_block(CompensatedLanes& sum, const double* g, std::int64_t count) {
    CompensatedLanes local = sum;
    local.add(g, count);
    sum = local;
}

template <bool Mixed>
Balance balance_all(const RowFunctions& rows, const SlopeEnds& ends, bool balanced, double* g) {
    constexpr double kRounding = 0.1 * std::numeric_limits<double>::epsilon();
    constexpr int kPasses = 8;
    CompensatedLanes sum;
    for (std::int64_t i = 0; i < rows.n; i += kBlock) {
        const std::int64_t last = std::min(rows.n, i + kBlock);
        clip_block<Mixed>(rows, ends, i, last, g);
        if (balanced) add_block(sum, g + i, last - i);
    }
    for (int pass = 0; balanced; ++pass) {
        const double excess = sum.value(), need = std::fabs(excess);
        if (need <= kRounding * sum.size() || pass == kPasses) break;
        const double sign = excess > 0 ? -1.0 : 1.0;
        bool inside_only = true;
        Room room = total_room<Mixed>(rows, ends, g, sign, inside_only);
        if (!(room.bounded + room.open > 0)) {
            inside_only = false;
            room = total_room<Mixed>(rows, ends, g, sign, inside_only);
            if (!(room.bounded + room.open > 0)) break;
        }
        // Open rows take a share first, and then whatever the others cannot.
        const double share = need / (room.bounded + room.open);
        const Shares shares{std::min(1.0, share),
                            share > 1 && room.open > 0 ? (need - room.bounded) / room.open : share};
        sum = CompensatedLanes();
        for (std::int64_t i = 0; i < rows.n; i += kBlock) {
            const std::int64_t last = std::min(rows.n, i + kBlock);
            move_block<Mixed>(rows, ends, i, last, sign, inside_only, shares, g);
            add_block(sum, g + i, last - i);
        }
    }
    return {sum.value(), sum.size()};
}

Balance repaired(const RowFunctions& rows, bool balanced, double* g) {
    const SlopeEnds ends(rows);
    return rows.curve_index ? balance_all<true>(rows, ends, balanced, g)
                            : balance_all<false>(rows, ends, balanced, g);
}

}  // namespace

void clip_dual(const RowFunctions& rows, double* g) {
    repaired(rows, false, g);
}

Balance balance_dual(const RowFunctions& rows, double* g) {
    return repaired(rows, true, g);
}

}  // namespace rectiline
