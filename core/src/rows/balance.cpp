// Multipliers moved into their boxes, and inside them until they balance.
#include "rectiline/rows/certificate.hpp"
#include "rectiline/support/compensated.hpp"

namespace rectiline::rows {
namespace {

// A multiplier in the row's own slope, where its box is [weight low, weight high] rounded inwards.
RECTILINE_INLINE double clipped(double own, double weight, const Box& ends) {
    const Box box = inward_box(weight, ends.low, ends.high);
    own = own < box.low ? box.low : own;
    own = own > box.high ? box.high : own;
    return weight > 0 ? own : 0.0;  // a weight of zero times an open end is not a number
}

// How far the multiplier of a row can move up (`sign` > 0) or down inside its box; 0 at an end if
// only those inside may move.
template <class Ends>
RECTILINE_INLINE double room_of(const RowFunctions& rows, const Ends& ends, std::int64_t i,
                                double g, double sign, bool inside_only) {
    const double weight = rows.weight[i], turn = rows.direction[i];
    const Box box = inward_box(weight, ends[i].low, ends[i].high);
    const double own = turn * g, down = own - box.low, up = box.high - own;
    const double free = turn * sign > 0 ? up : down;
    const bool stuck = (inside_only && !(down > 0 && up > 0)) || !(weight > 0);
    return stuck ? 0.0 : free;
}

template <class Ends>
RECTILINE_MULTIVERSION void clip_block(const RowFunctions& rows, const Ends& ends, RowBlock block,
                                       double* g) {
    const Ends of = ends;
#pragma omp simd
    for (std::int64_t i = block.first; i < block.last; ++i)
        g[i] = rows.direction[i] * clipped(rows.direction[i] * g[i], rows.weight[i], of[i]);
}

// What many rows offer: the room of those that are bounded on that side, and of the open ones what
// they are themselves.
struct Offers {
    double inside = 0, all = 0;
};

RECTILINE_INLINE double offer_of(double room, double g, double weight) {
    return room < kInfinity ? room : (g < 0 ? -g : g) + weight;
}

template <class Ends>
RECTILINE_MULTIVERSION Offers block_offers(const RowFunctions& rows, const Ends& ends,
                                           RowBlock block, const double* g, double sign) {
    const Ends of = ends;
    double inside = 0, all = 0;
#pragma omp simd reduction(+ : inside, all)
    for (std::int64_t i = block.first; i < block.last; ++i) {
        all += offer_of(room_of(rows, of, i, g[i], sign, false), g[i], rows.weight[i]);
        inside += offer_of(room_of(rows, of, i, g[i], sign, true), g[i], rows.weight[i]);
    }
    return {inside, all};
}

// Moves the first row inside its box that has the room by all that is needed, and returns by how
// much it has moved; 0 if there is none. For the last digits of a sum.
template <class Ends>
double move_one(const RowFunctions& rows, const Ends& ends, double move, double* g) {
    const double sign = move > 0 ? 1.0 : -1.0;
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double room = room_of(rows, ends, i, g[i], sign, true);
        if (room > 2 * std::fabs(move)) {
            const double before = g[i];
            g[i] += move;
            return g[i] - before;
        }
    }
    return 0.0;
}

// Moves rows by a share of what they offer, bounded ones at most by all of it.
template <class Ends>
RECTILINE_MULTIVERSION void move_block(const RowFunctions& rows, const Ends& ends, RowBlock block,
                                       double sign, bool inside_only, double share, double* g) {
    const Ends of = ends;
#pragma omp simd
    for (std::int64_t i = block.first; i < block.last; ++i) {
        const double weight = rows.weight[i], turn = rows.direction[i];
        const double room = room_of(rows, of, i, g[i], sign, inside_only);
        const double asked = share * offer_of(room, g[i], weight);
        const double move = asked < room ? asked : room;
        const double moved = turn * clipped(turn * (g[i] + sign * move), weight, of[i]);
        g[i] = room > 0 ? moved : g[i];
    }
}

// Moves rows inside their boxes until they sum to zero. Rows are looked at until they have so much
// room that each moves by a small share of its own.
template <class Ends>
void balance_inside(const RowFunctions& rows, std::span<const RowBlock> blocks, const Ends& ends,
                    double* g, Balance& balance) {
    constexpr double kRounding = 0.1 * std::numeric_limits<double>::epsilon();
    constexpr double kLastDigits = 1e-13, kPlenty = 1e3;
    constexpr int kPasses = 8;
    for (int pass = 0; pass < kPasses; ++pass) {
        const double need = std::fabs(balance.sum), sign = balance.sum > 0 ? -1.0 : 1.0;
        if (need <= kRounding * balance.size) return;
        if (need <= kLastDigits * balance.size) {
            const double moved = move_one(rows, ends, -balance.sum, g);
            balance.sum += moved;
            if (moved != 0) continue;
        }
        Offers offers;
        std::size_t some = 0;
        while (some < blocks.size() && !(offers.inside >= kPlenty * need)) {
            const Offers more = block_offers(rows, ends, blocks[some++], g, sign);
            offers.inside += more.inside, offers.all += more.all;
        }
        const bool inside_only = offers.inside > 0;
        const double share = need / (inside_only ? offers.inside : offers.all);
        if (!(share < kInfinity)) return;
        CompensatedLanes before, after;
        for (std::size_t k = 0; k < some; ++k) {
            const RowBlock& block = blocks[k];
            before.add(g + block.first, block.size());
            move_block(rows, ends, block, sign, inside_only, share, g);
            after.add(g + block.first, block.size());
        }
        // With all rows at hand there is nothing to add to, and no digits to lose.
        const bool all = some == blocks.size();
        balance.sum = after.value() + (all ? 0.0 : balance.sum - before.value());
        balance.size = after.size() + (all ? 0.0 : balance.size - before.size());
    }
}

template <class Ends>
Balance repair_with(const RowFunctions& rows, const Ends& ends, bool balanced, double* g) {
    const std::vector<RowBlock> blocks = row_blocks(rows, false);
    CompensatedLanes sum;
    for (const RowBlock& block : blocks) {
        clip_block(rows, ends, block, g);
        if (balanced) sum.add(g + block.first, block.size());
    }
    Balance balance{sum.value(), sum.size()};
    if (balanced) balance_inside(rows, blocks, ends, g, balance);
    return balance;
}

// Moves g into its boxes, and to sum 0 if asked.
Balance repair_dual(const RowFunctions& rows, bool balanced, double* g) {
    std::vector<Box> ends;
    for (std::size_t c = 0; c < rows.n_curves(); ++c)
        ends.push_back({rows.curves[c].lowest_slope(), rows.curves[c].highest_slope()});
    return rows.curve_index
               ? repair_with(rows, Own<Box>{ends.data(), rows.curve_index}, balanced, g)
               : repair_with(rows, Shared<Box>{ends[0]}, balanced, g);
}

}  // namespace

void clip_dual(const RowFunctions& rows, std::span<double> g) {
    repair_dual(rows, false, g.data());
}

Balance balance_dual(const RowFunctions& rows, std::span<double> g) {
    return repair_dual(rows, true, g.data());
}

}  // namespace rectiline::rows
