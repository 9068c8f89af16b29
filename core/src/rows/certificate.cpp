#include "rectiline/rows/certificate.hpp"

#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/support/compensated.hpp"
#include "rectiline/support/threads.hpp"
#include "rectiline/support/vectors.hpp"

#include <cassert>
#include <functional>

namespace rectiline::rows {

namespace {

// Sums over a block of rows are plain; the blocks are added with compensation.
template <class Curves>
RECTILINE_MULTIVERSION RowSums block_sums(const Curves& curves, const RowFunctions& rows,
                                          RowBlock block, const double* z, const double* g) {
    const Curves f = curves;
    double loss = 0, gap = 0;
#pragma omp simd reduction(+ : loss, gap)
    for (std::int64_t i = block.first; i < block.last; ++i) {
        // Dividing by the weight can push a slope past its end by a rounding: bring it back.
        const double w = rows.weight[i], quotient = rows.direction[i] * g[i] / w;
        const double slope = f[i].nearest_slope(w > 0 ? quotient : 0.0);
        const double t = rows.argument(i, z[i]);
        loss += w * f[i].loss(t);
        gap += w * f[i].fenchel_young(t, slope);
    }
    return {loss, gap};
}

template <class Curves>
RECTILINE_MULTIVERSION double block_loss(const Curves& curves, const RowFunctions& rows,
                                         RowBlock block, const double* z) {
    const Curves f = curves;
    double loss = 0;
#pragma omp simd reduction(+ : loss)
    for (std::int64_t i = block.first; i < block.last; ++i)
        loss += rows.weight[i] * f[i].loss(rows.argument(i, z[i]));
    return loss;
}

template <class Curves>
RECTILINE_MULTIVERSION void block_slopes(const Curves& curves, const RowFunctions& rows,
                                         RowBlock block, const double* z, double* g) {
    const Curves f = curves;
#pragma omp simd
    for (std::int64_t i = block.first; i < block.last; ++i)
        g[i] = rows.direction[i] * rows.weight[i] * f[i].slope_at(rows.argument(i, z[i]));
}

constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();

// At a knot up to rounding.
RECTILINE_INLINE bool is_on(double t, double knot, double size) {
    return size_of(t - knot) <= kRounding * (size + size_of(knot));
}

template <class Curves>
RECTILINE_MULTIVERSION void find_ranges(const Curves& curves, const RowFunctions& rows, double z,
                                        double* low, double* high) {
    const Curves of = curves;
    const double size = size_of(z);
#pragma omp simd
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const auto& f = of[i];
        const double turn = rows.direction[i], t = rows.argument(i, z);
        const double reach = size + size_of(rows.offset[i]);
        double a = f.slope_at(t), b = a;
        // Of several knots at once, the first tells the slope before and the last the one after.
        for (int k = 0, back = f.last_piece() - 1; back >= 0; ++k, --back) {
            a = is_on(t, f.pieces[back].to, reach) ? f.pieces[back].last_slope : a;
            b = is_on(t, f.pieces[k].to, reach) ? f.pieces[k + 1].first_slope : b;
        }
        const double w = rows.weight[i];
        low[i] = w * (turn > 0 ? a : -b);
        high[i] = w * (turn > 0 ? b : -a);
    }
}

// The upper median; reorders the values.
double middle(std::vector<double>& values) {
    const auto half = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), half, values.end());
    return *half;
}

// What a row says of itself, and the knot next to it.
struct Place {
    double t, slope, reach;
    std::int64_t knot;
    double depth;  // how surely the row sits on that knot; -infinity if it does not
};

// How much arguments vary for each unit of the slopes of rows with weight.
double exchange_rate(const RowFunctions& rows, std::span<const Place> places) {
    std::vector<double> t;
    double low = kInfinity, high = -kInfinity;
    for (std::int64_t i = 0; i < rows.n; ++i)
        if (rows.weight[i] > 0) {
            t.push_back(places[i].t);
            low = std::min(low, places[i].slope), high = std::max(high, places[i].slope);
        }
    if (t.empty()) return 1.0;
    const double centre = middle(t), width = high > low ? high - low : 1.0;
    for (double& one : t)
        one = std::fabs(one - centre);
    const double spread = middle(t);
    return (spread != 0 ? spread : 1.0) / width;
}

void find_knot(const Curve& f, double sigma, Place& row) {
    row.reach = row.t + sigma * row.slope;
    std::int64_t k = 0;  // the first knot whose slopes are not all passed
    while (k + 1 < f.n_knots && row.reach >= f.knot[k] + sigma * f.right[k])
        ++k;
    row.knot = k;
    const bool is_on =
        row.reach >= f.knot[k] + sigma * f.left[k] && row.reach < f.knot[k] + sigma * f.right[k];
    const double room = std::min(row.slope - f.left[k], f.right[k] - row.slope);
    row.depth = is_on ? sigma * room - std::fabs(row.t - f.knot[k]) : -kInfinity;
}

// The depth from which on rows stay on their knots.
double least_depth(std::span<const Place> places, std::int64_t most) {
    std::vector<double> depths;
    for (const Place& row : places)
        if (row.depth > -kInfinity) depths.push_back(row.depth);
    if (std::ssize(depths) <= most) return -kInfinity;
    if (most == 0) return kInfinity;
    const auto last = depths.begin() + (most - 1);
    std::nth_element(depths.begin(), last, depths.end(), std::greater<>());
    return *last;
}

}  // namespace

RowSums row_sums(const RowFunctions& rows, std::span<const double> z, std::span<const double> g) {
    CompensatedSum loss, gap;
    with_curves(rows, [&](const auto& curves) {
        for (const RowBlock& block : row_blocks(rows, true)) {
            const RowSums part = block_sums(curves, rows, block, z.data(), g.data());
            loss.add(part.loss), gap.add(part.fenchel_young);
        }
    });
    return {loss.value(), gap.value()};
}

double loss_sum(const RowFunctions& rows, std::span<const double> z) {
    const auto parts = each_stretch(rows.n, [&](std::int64_t first, std::int64_t last) {
        CompensatedSum part;
        with_curves(rows, [&](const auto& curves) {
            for (std::int64_t i = first; i < last; i += kBlockRows)
                part.add(block_loss(curves, rows, {i, std::min(last, i + kBlockRows)}, z.data()));
        });
        return part.value();
    });
    CompensatedSum loss;
    for (const double part : parts)
        loss.add(part);
    return loss.value();
}

void slopes_at(const RowFunctions& rows, std::span<const double> z, std::span<double> g) {
    with_curves(rows, [&](const auto& curves) {
        for (const RowBlock& block : row_blocks(rows, false))
            block_slopes(curves, rows, block, z.data(), g.data());
    });
}

void dual_boxes(const RowFunctions& rows, std::span<double> low, std::span<double> high) {
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const Curve& f = rows.curve(i);
        const double w = rows.weight[i];
        // A weight of zero times an open end is not a number.
        const double least = w > 0 ? w * f.lowest_slope() : 0.0;
        const double most = w > 0 ? w * f.highest_slope() : 0.0;
        low[i] = rows.direction[i] > 0 ? least : -most;
        high[i] = rows.direction[i] > 0 ? most : -least;
    }
}

void slope_ranges(const RowFunctions& rows, double z, std::span<double> low,
                  std::span<double> high) {
    with_curves(rows,
                [&](const auto& curves) { find_ranges(curves, rows, z, low.data(), high.data()); });
}

void row_states(const RowFunctions& rows, std::span<const double> z, std::span<const double> g,
                std::int64_t most, RowStates states) {
    assert(std::ssize(z) == rows.n && std::ssize(g) == rows.n);
    std::vector<Place> places(rows.n);
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double w = rows.weight[i];
        const double slope = w > 0 ? rows.direction[i] * g[i] / w : 0.0;
        places[i] = {rows.argument(i, z[i]), slope, 0.0, 0, -kInfinity};
    }
    const double sigma = exchange_rate(rows, places);
    for (std::int64_t i = 0; i < rows.n; ++i)
        if (rows.weight[i] > 0) find_knot(rows.curve(i), sigma, places[i]);
    const double least = least_depth(places, most);
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const auto& [t, slope, reach, k, depth] = places[i];
        const double p = rows.direction[i], w = rows.weight[i];
        const Curve& f = rows.curve(i);
        const bool held = depth > -kInfinity && depth >= least;
        const double low = f.left[k], high = f.right[k];
        const bool after = reach > f.knot[k] + sigma * 0.5 * (low + high);
        const double curvature = f.curvature[after ? k + 1 : k];
        const double on_piece = (after ? high : low) + curvature * (t - f.knot[k]);
        const double own = held ? std::clamp(slope, low, high) : on_piece;
        states.g[i] = w > 0 ? w * p * own : 0.0;
        states.bend[i] = held || !(w > 0) ? 0.0 : w * curvature;
        states.target[i] = p * ((held ? f.knot[k] : 0.0) - rows.offset[i]);
        states.held[i] = held;
    }
}

}  // namespace rectiline::rows
