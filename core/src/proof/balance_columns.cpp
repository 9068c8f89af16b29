#include "rectiline/proof/free_columns.hpp"
#include "rectiline/proof/twofold.hpp"
#include "rectiline/support/multiversion.hpp"
#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <vector>

namespace rectiline::proof {
namespace {

using design::DenseView;

constexpr std::int64_t kRows = 128;  // of a tile: a column of it is a short loop
constexpr int kRounds = 25;
constexpr double kBalanced = 1e-16;                   // relative leftover that ends the rounds
constexpr double kFarthest = 10, kNearest = 1e-7;     // most and least room, in widths of the box
constexpr double kRidge = 1e-14, kDependent = 1e-15;  // of the scaled system, and its pivots

// What the rows of Z say at one point g: Z'g, Z'WZ (rows of the lower half), and sizes of g.
struct Sums {
    std::array<double, kMostFree> image{};
    std::array<double, kMostFree*(kMostFree + 1) / 2> gram{};
    double square = 0;
};

// Some rows of Z, column after column.
using Tile = std::array<double, kMostFree * kRows>;

template <class T>
void fill_tile(const DenseView<T>& X, const FreeColumns& Z, std::int64_t first, std::int64_t count,
               Tile& tile) {
    double* out = tile.data();
    for (const std::int64_t j : Z.columns) {
        const T* x = X.row(first) + j * X.column_stride;
        for (std::int64_t r = 0; r < count; ++r)
            out[r] = static_cast<double>(x[r * X.row_stride]);
        out += kRows;
    }
    if (Z.intercept) std::fill(out, out + count, 1.0);
}

// Room in a box; those without end are as wide as the point is large.
RECTILINE_INLINE double weight_of(double g, double low, double high, double largest) {
    const double span = high - low, width = span < kInfinity ? span : largest;
    const double down = g - low, up = high - g, size = size_of(g);
    double room = down < up ? down : up;
    room = room < kInfinity ? room : (size > width ? size : width);
    room = room < kFarthest * width ? room : kFarthest * width;
    return room * room + (kNearest * width) * (kNearest * width);
}

struct Rows {
    const double *low, *high;
    double* g;
    double largest;
};

// Moves the rows of a tile against Z `step`.
RECTILINE_MULTIVERSION void move_rows(const double* tile, std::int64_t order, std::int64_t count,
                                      const double* step, Rows rows) {
    double along[kRows] = {};
    for (std::int64_t j = 0; j < order; ++j) {
        const double* z = tile + j * kRows;
        const double s = step[j];
#pragma omp simd
        for (std::int64_t r = 0; r < count; ++r)
            along[r] += s * z[r];
    }
#pragma omp simd
    for (std::int64_t r = 0; r < count; ++r) {
        const double low = rows.low[r], high = rows.high[r], g = rows.g[r];
        double moved = g - weight_of(g, low, high, rows.largest) * along[r];
        moved = moved < low ? low : moved;
        rows.g[r] = moved > high ? high : moved;
    }
}

RECTILINE_MULTIVERSION void add_rows(const double* tile, std::int64_t order, std::int64_t count,
                                     Rows rows, Sums& sums) {
    double square = 0;
#pragma omp simd reduction(+ : square)
    for (std::int64_t r = 0; r < count; ++r)
        square += rows.g[r] * rows.g[r];
    sums.square += square;
    for (std::int64_t j = 0; j < order; ++j) {
        const double* z = tile + j * kRows;
        double image = 0;
#pragma omp simd reduction(+ : image)
        for (std::int64_t r = 0; r < count; ++r)
            image += z[r] * rows.g[r];
        sums.image[static_cast<std::size_t>(j)] += image;
    }
}

RECTILINE_MULTIVERSION void add_gram(const double* tile, std::int64_t order, std::int64_t count,
                                     Rows rows, Sums& sums) {
    double weight[kRows], weighted[kRows];
#pragma omp simd
    for (std::int64_t r = 0; r < count; ++r)
        weight[r] = weight_of(rows.g[r], rows.low[r], rows.high[r], rows.largest);
    double* gram = sums.gram.data();
    for (std::int64_t j = 0; j < order; ++j) {
        const double* z = tile + j * kRows;
#pragma omp simd
        for (std::int64_t r = 0; r < count; ++r)
            weighted[r] = weight[r] * z[r];
        for (std::int64_t i = 0; i <= j; ++i, ++gram) {
            const double* other = tile + i * kRows;
            double product = 0;
#pragma omp simd reduction(+ : product)
            for (std::int64_t r = 0; r < count; ++r)
                product += weighted[r] * other[r];
            *gram += product;
        }
    }
}

// Moves g by -W Z step (not at all without a step) and returns the sums there, Z'WZ if asked.
Sums moved(const FreeColumns& Z, DualBoxes boxes, double largest, const double* step, bool gram,
           std::span<double> g) {
    const std::int64_t order = Z.order();
    const auto stretch = [&]<class View>(const View& X, std::int64_t first, std::int64_t last) {
        Sums sums;
        if constexpr (requires { X.row_stride; }) {
            Tile tile;
            for (std::int64_t i = first; i < last; i += kRows) {
                const std::int64_t count = std::min(kRows, last - i);
                const Rows rows{&boxes.low[i], &boxes.high[i], &g[i], largest};
                fill_tile(X, Z, i, count, tile);
                if (step) move_rows(tile.data(), order, count, step, rows);
                add_rows(tile.data(), order, count, rows, sums);
                if (gram) add_gram(tile.data(), order, count, rows, sums);
            }
        }
        return sums;
    };
    const auto parts = each_stretch(std::ssize(g), [&](std::int64_t first, std::int64_t last) {
        return std::visit([&](const auto& X) { return stretch(X, first, last); }, Z.X);
    });
    Sums total;
    for (const Sums& part : parts) {
        total.square += part.square;
        for (std::size_t j = 0; j < kMostFree; ++j)
            total.image[j] += part.image[j];
        for (std::size_t k = 0; k < total.gram.size(); ++k)
            total.gram[k] += part.gram[k];
    }
    return total;
}

// Solves gram * x = right, rows of the lower half given, after scaling its diagonal to one. Columns
// that depend on those before them have no part in the solution.
void solve_scaled(std::span<double> gram, std::int64_t order, std::span<double> right) {
    std::array<double, kMostFree> scale;
    std::array<bool, kMostFree> used{};
    const auto row = [&](std::int64_t i) { return gram.data() + i * (i + 1) / 2; };
    for (std::int64_t i = 0; i < order; ++i)
        scale[i] = 1.0 / std::sqrt(std::max(row(i)[i], 1e-300));
    for (std::int64_t i = 0; i < order; ++i) {
        double* a = row(i);
        double pivot = a[i] * scale[i] * scale[i] + kRidge, x = right[i] * scale[i];
        for (std::int64_t j = 0; j < i; ++j) {
            double sum = a[j] * scale[i] * scale[j];
            for (std::int64_t k = 0; k < j; ++k)
                sum -= a[k] * row(j)[k];
            a[j] = used[j] ? sum / row(j)[j] : 0.0;
            pivot -= a[j] * a[j];
            x -= a[j] * right[j];
        }
        used[i] = pivot > kDependent;
        a[i] = used[i] ? std::sqrt(pivot) : 1.0;
        right[i] = used[i] ? x / a[i] : 0.0;
    }
    for (std::int64_t i = order - 1; i >= 0; --i) {
        double x = right[i];
        for (std::int64_t k = i + 1; k < order; ++k)
            x -= row(k)[i] * right[k];
        right[i] = used[i] ? x / row(i)[i] : 0.0;
    }
    for (std::int64_t i = 0; i < order; ++i)
        right[i] *= scale[i];
}

}  // namespace

double balance_columns(const FreeColumns& Z, DualBoxes boxes, std::span<const double> column_norm,
                       std::span<const double> target, std::span<const double> size,
                       std::span<double> g) {
    const std::int64_t order = Z.order(), n_columns = std::ssize(Z.columns);
    assert(order <= kMostFree && std::ssize(target) == order && target.size() == size.size());
    assert(boxes.low.size() == g.size() && boxes.high.size() == g.size());
    double largest = 0, best_left = kInfinity, norm = 0;
    for (const double one : g)
        largest = std::max(largest, size_of(one));
    if (largest == 0) largest = 1.0;
    std::vector<double> best;
    std::array<double, kMostFree> step;
    for (int round = 0; round <= kRounds; ++round) {
        const bool is_first = round == 0;  // mostly the only one that leaves something
        Sums sums = moved(Z, boxes, largest, is_first ? nullptr : step.data(), is_first, g);
        if (is_first) norm = std::sqrt(sums.square);
        double left = 0;
        for (std::int64_t j = 0; j < order; ++j) {
            const double length = j < n_columns ? column_norm[Z.columns[j]]
                                                : std::sqrt(static_cast<double>(g.size()));
            step[j] = sums.image[j] - target[j];
            const double share = size_of(step[j]) / (length * norm + size[j] + 1e-300);
            left = share <= left ? left : share;  // not a number counts as the largest
        }
        const bool is_best = is_first || left < best_left;
        if (is_best) best_left = left >= 0 ? left : kInfinity;
        const bool is_last = left <= kBalanced || !(sums.square < kInfinity) || round == kRounds;
        if (is_last && is_best) return best_left;
        if (is_last) break;
        if (is_best) best.assign(g.begin(), g.end());
        if (!is_first) sums = moved(Z, boxes, largest, nullptr, true, g);
        solve_scaled(sums.gram, order, step);
    }
    std::copy(best.begin(), best.end(), g.begin());
    return best_left;
}

}  // namespace rectiline::proof
