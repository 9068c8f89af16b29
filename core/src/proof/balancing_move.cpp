#include "rectiline/proof/free_columns.hpp"
#include "rectiline/proof/twofold.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace rectiline::proof {
namespace {

constexpr std::int64_t kFewestRows = 64, kRowsPerColumn = 4;
constexpr std::int64_t kMostEntries = 20'000'000;  // of M where all rows are tried
constexpr double kOpen = 1e150;                    // room of rows without end

// The largest relative error of a sum of `count` products, with a small margin.
double gamma(std::int64_t count) {
    return 1.01 * static_cast<double>(count + 4) * kUnit;
}

struct Row {
    std::int64_t index;
    double room;
};

// Columns of numbers, one after the other.
struct Matrix {
    std::size_t rows, columns;
    std::vector<double> entries;
    Matrix(std::size_t m, std::size_t k) : rows(m), columns(k), entries(m * k) {}
    std::span<double> operator[](std::size_t j) { return {&entries[j * rows], rows}; }
};

double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void subtract(double factor, std::span<const double> a, std::span<double> from) {
    for (std::size_t i = 0; i < a.size(); ++i)
        from[i] -= factor * a[i];
}

// M (M'M)^-1 = Q R^-T, by orthogonalising each column twice; false for dependent columns.
bool invert(Matrix M, Matrix& P) {
    const std::size_t k = M.columns;
    Matrix R(k, k);  // R[j][i]: how much of column i of Q is in column j of M
    for (std::size_t j = 0; j < k; ++j) {
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t i = 0; i < j; ++i) {
                const double along = dot(M[i], M[j]);
                R[j][i] += along;
                subtract(along, M[i], M[j]);
            }
        const double length = std::sqrt(dot(M[j], M[j]));
        if (!(length > 1e-14)) return false;
        R[j][j] = length;
        for (double& one : M[j])
            one /= length;
    }
    for (std::size_t j = k; j-- > 0;) {  // P R' = Q
        std::copy(M[j].begin(), M[j].end(), P[j].begin());
        for (std::size_t i = j + 1; i < k; ++i)
            subtract(R[i][j], P[i], P[j]);
        for (double& one : P[j])
            one /= R[j][j];
    }
    return true;
}

// The bounds for moves of these rows alone, each by at most its room; false if there are none.
bool moves_on(const FreeColumns& Z, std::span<const Row> rows, std::span<const double> left,
              std::span<double> move) {
    const std::size_t m = rows.size(), k = left.size();
    Matrix M(m, k), P(m, k);
    for (std::size_t j = 0; j < Z.columns.size(); ++j)
        std::visit(
            [&](const auto& X) {
                if constexpr (requires { X.row_stride; })
                    for (std::size_t r = 0; r < m; ++r)
                        M[j][r] = static_cast<double>(
                            X.row(rows[r].index)[Z.columns[j] * X.column_stride]);
            },
            Z.X);
    if (Z.intercept) std::fill(M[k - 1].begin(), M[k - 1].end(), 1.0);
    double largest = 0, most = 0;
    for (const Row& row : rows)
        largest = std::max(largest, row.room);
    const auto weight = [&](std::size_t r) {
        return largest < kOpen ? rows[r].room / largest : 1.0;
    };
    for (std::size_t j = 0; j < k; ++j) {
        const double size = std::sqrt(dot(M[j], M[j]));
        if (!(size > 1e-150 && size < kInfinity)) return false;
        for (std::size_t r = 0; r < m; ++r)
            M[j][r] = weight(r) * M[j][r] / size;
        most = std::max(most, left[j] / size);
    }
    if (!invert(M, P)) return false;
    double rho = 0;
    for (std::size_t i = 0; i < k; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < k; ++j) {
            double product = 0, size = 0;
            for (std::size_t r = 0; r < m; ++r)
                product += M[i][r] * P[j][r], size += size_of(M[i][r] * P[j][r]);
            // Forming M rounds its entries: gamma(8) is part of the error of M'P.
            sum += size_of(product - (i == j ? 1.0 : 0.0)) +
                   gamma(static_cast<std::int64_t>(m) + 8) * size;
        }
        rho = sum <= rho ? rho : sum;
    }
    if (!(rho < 0.5)) return false;
    const double y = most * (1 + 8 * kUnit) / (1 - 1.01 * rho);
    for (std::size_t r = 0; r < m; ++r) {
        double size = 0;
        for (std::size_t j = 0; j < k; ++j)
            size += size_of(P[j][r]);
        move[r] = weight(r) * size * y * (1 + gamma(static_cast<std::int64_t>(k)));
        if (!(move[r] <= rows[r].room)) return false;
    }
    return true;
}

// The rows with the most room, or evenly spread ones where all have no end; in their order.
std::vector<Row> roomiest(const std::vector<Row>& inside, std::size_t count) {
    std::vector<Row> some;
    const auto is_open = [](const Row& row) { return row.room == kOpen; };
    if (std::all_of(inside.begin(), inside.end(), is_open)) {
        for (std::size_t k = 0; k < count; ++k)
            some.push_back(inside[k * (inside.size() - 1) / (count - 1)]);
        return some;
    }
    some = inside;
    const auto at = some.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(some.begin(), at, some.end(), [](const Row& a, const Row& b) {
        return a.room != b.room ? a.room > b.room : a.index < b.index;
    });
    some.erase(at, some.end());
    std::sort(some.begin(), some.end(),
              [](const Row& a, const Row& b) { return a.index < b.index; });
    return some;
}

}  // namespace

bool balancing_move(const FreeColumns& Z, DualBoxes boxes, std::span<const double> g,
                    std::span<const double> left, std::span<double> move) {
    assert(Z.order() <= kMostFree && std::ssize(left) == Z.order());
    assert(move.size() == g.size() && boxes.low.size() == g.size());
    std::fill(move.begin(), move.end(), 0.0);
    if (std::all_of(left.begin(), left.end(), [](double one) { return one == 0; })) return true;
    if (!std::all_of(left.begin(), left.end(), [](double one) { return one < kInfinity; }))
        return false;
    std::vector<Row> inside;
    for (std::size_t i = 0; i < g.size(); ++i) {
        const double room = 0.5 * std::min(g[i] - boxes.low[i], boxes.high[i] - g[i]);
        if (room > 0) inside.push_back({static_cast<std::int64_t>(i), std::min(room, kOpen)});
    }
    const auto k = left.size();
    const auto count = static_cast<std::size_t>(
        std::max(kFewestRows, kRowsPerColumn * static_cast<std::int64_t>(k)));
    std::vector<double> found;
    const auto try_rows = [&](const std::vector<Row>& rows) {
        if (rows.size() < k || rows.size() * k > kMostEntries) return false;
        found.resize(rows.size());
        if (!moves_on(Z, rows, left, found)) return false;
        for (std::size_t r = 0; r < rows.size(); ++r)
            move[static_cast<std::size_t>(rows[r].index)] = found[r];
        return true;
    };
    if (inside.size() > count && try_rows(roomiest(inside, count))) return true;
    return try_rows(inside);
}

}  // namespace rectiline::proof
