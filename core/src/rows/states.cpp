#include "rectiline/rows/states.hpp"

#include <cassert>
#include <functional>

namespace rectiline::rows {
namespace {

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

void row_states(const RowFunctions& rows, std::span<const double> z, std::span<const double> g,
                std::int64_t most, RowStates states) {
    assert(std::ssize(z) == rows.n && std::ssize(g) == rows.n);
    std::vector<Place> places(static_cast<std::size_t>(rows.n));
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
