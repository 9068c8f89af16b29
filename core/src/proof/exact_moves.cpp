#include "rectiline/design/products.hpp"
#include "rectiline/proof/free_columns.hpp"
#include "rectiline/proof/measure.hpp"
#include "rectiline/proof/twofold.hpp"
#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/vectors.hpp"

#include <cassert>

namespace rectiline::proof {
namespace {

constexpr std::size_t kFewestRows = 64, kRowsPerColumn = 4;
constexpr std::size_t kMostEntries = 20'000'000;  // of M where all rows are tried
constexpr double kOpen = 1e150;                   // room of rows without end
constexpr int kPowerSteps = 6;  // of the inverse iteration that estimates an eigenvalue

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

// |sum_r a_r b_r - expected|, rounded up; M has been rounded when it was formed: that is gamma(8).
RECTILINE_MULTIVERSION double miss(const double* a, const double* b, std::int64_t n,
                                   double expected) {
    double product = 0, size = 0;
#pragma omp simd reduction(+ : product, size)
    for (std::int64_t r = 0; r < n; ++r)
        product += a[r] * b[r], size += size_of(a[r] * b[r]);
    return size_of(product - expected) + gamma(static_cast<std::size_t>(n) + 8) * size;
}

double dot(std::span<const double> a, std::span<const double> b) {
    return support::product(a.data(), b.data(), std::ssize(a));
}

void subtract(double factor, std::span<const double> a, std::span<double> from) {
    support::add_multiple(-factor, a.data(), from.data(), std::ssize(a));
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

// A lower bound on the smallest eigenvalue of M'M for columns of norm one, zero if it is unknown.
// If the shifted matrix has a Cholesky factor in floating point, its exact smallest eigenvalue is
// above the shift up to the errors of the factor and of M'M, which are sums of unit products
// (Rump, "Verification of positive definiteness", BIT 46, 2006).
double smallest_eigenvalue(const Matrix& M) {
    const auto k = static_cast<std::int64_t>(M.columns), m = static_cast<std::int64_t>(M.rows);
    std::vector<double> gram(M.columns * M.columns), factor, x(M.columns, 1.0);
    support::square_of_rows(M.entries.data(), k, m, m, gram.data());
    const auto has_factor = [&](double shift) {
        factor = gram;
        for (std::int64_t j = 0; j < k; ++j)
            factor[j * k + j] -= shift;
        return support::cholesky(factor.data(), k);
    };
    if (!has_factor(0.0)) return 0;
    double estimate = 0;
    for (int step = 0; step < kPowerSteps; ++step) {
        support::cholesky_solve(factor.data(), k, x.data(), 1);
        estimate = 1 / std::sqrt(dot(x, x));
        for (double& one : x)
            one *= estimate;
    }
    const double missed = static_cast<double>(k) * (gamma(M.rows + 8) + gamma(2 * M.columns + 8));
    const double shift = 0.5 * estimate;
    return missed < 0.5 * shift && has_factor(shift) ? shift - 1.01 * missed : 0;
}

// Moves of these rows alone, each by at most its room; nothing if there are none.
std::optional<Moves> moves_of(const FreeColumns& Z, std::span<const Row> rows,
                              std::span<const double> left) {
    const std::size_t m = rows.size(), k = left.size();
    Matrix M(m, k);
    std::visit(
        [&]<class View>(const View& X) {
            if constexpr (requires { X.row_stride; })
                for (std::size_t r = 0; r < m; ++r)
                    for (std::int64_t j = 0; j < X.d; ++j)
                        M[j][r] = static_cast<double>(X.row(rows[r].index)[j * X.column_stride]);
        },
        Z.X);
    if (Z.intercept) std::fill(M[k - 1].begin(), M[k - 1].end(), 1.0);
    double largest = 0;
    for (const Row& row : rows)
        largest = std::max(largest, row.room);
    const auto weight = [&](std::size_t r) {
        return largest < kOpen ? rows[r].room / largest : 1.0;
    };
    std::vector<double> scaled(k);  // what is left, for columns of norm one
    for (std::size_t j = 0; j < k; ++j) {
        for (std::size_t r = 0; r < m; ++r)
            M[j][r] *= weight(r);
        const double size = std::sqrt(dot(M[j], M[j]));
        if (!(size > 1e-100 && size < kInfinity)) return std::nullopt;
        for (double& one : M[j])
            one /= size;
        scaled[j] = left[j] / size * (1 + 8 * kUnit);
    }
    const auto moves_by = [&](auto&& share) -> std::optional<Moves> {
        Moves moves;
        for (std::size_t r = 0; r < m; ++r) {
            moves.row.push_back(rows[r].index);
            moves.by.push_back(weight(r) * share(r) * (1 + gamma(k)));
            if (!(moves.by.back() <= rows[r].room)) return std::nullopt;
        }
        return moves;
    };
    if (const double least = smallest_eigenvalue(M); least > 0) {
        const double norm =
            std::sqrt((dot(scaled, scaled) + static_cast<double>(k) * kSmallest) / least);
        if (auto found = moves_by([&](std::size_t) { return norm; })) return found;
    }
    Matrix P(m, k);
    if (!invert(M, P)) return std::nullopt;
    double rho = 0;
    for (std::size_t i = 0; i < k; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < k; ++j)
            sum += miss(M[i].data(), P[j].data(), std::ssize(rows), i == j ? 1.0 : 0.0);
        rho = sum <= rho ? rho : sum;
    }
    if (!(rho < 0.5)) return std::nullopt;
    const double rest = *std::max_element(scaled.begin(), scaled.end()) * rho / (1 - 1.01 * rho);
    return moves_by([&](std::size_t r) {
        double size = 0;
        for (std::size_t j = 0; j < k; ++j)
            size += size_of(P[j][r]) * (scaled[j] + 1.01 * rest);
        return size;
    });
}

// How far a multiplier is from an end of its box, which may have been rounded.
double distance(double g, double end) {
    return size_of(end) < kInfinity ? size_of(g - end) - 4 * kUnit * size_of(end) : kInfinity;
}

double room_of(DualBoxes boxes, std::span<const double> g, std::size_t i) {
    return std::min(distance(g[i], boxes.low[i]), distance(g[i], boxes.high[i]));
}

// The first row that can take all that is left of the sum alone.
std::optional<Moves> move_of_one(DualBoxes boxes, std::span<const double> g, double left) {
    for (std::size_t i = 0; i < g.size(); ++i)
        if (room_of(boxes, g, i) > 4 * left) return Moves{{static_cast<std::int64_t>(i)}, {left}};
    return std::nullopt;
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

std::optional<Moves> exact_moves(const FreeColumns& Z, DualBoxes boxes, std::span<const double> g,
                                 std::span<const double> left) {
    assert(std::ssize(left) == Z.order() && boxes.low.size() == g.size());
    const auto is_zero = [](double one) { return one == 0; };
    if (std::all_of(left.begin(), left.end(), is_zero)) return Moves{};
    if (!std::all_of(left.begin(), left.end(), [](double one) { return one < kInfinity; }))
        return std::nullopt;
    const std::size_t k = left.size();
    if (n_columns(Z.X) == 0) return move_of_one(boxes, g, left[0]);
    std::vector<Row> inside;
    for (std::size_t i = 0; i < g.size(); ++i) {
        const double room = 0.5 * room_of(boxes, g, i);
        if (room > 0) inside.push_back({static_cast<std::int64_t>(i), std::min(room, kOpen)});
    }
    const std::size_t count = std::max(kFewestRows, kRowsPerColumn * k);
    const auto try_rows = [&](const std::vector<Row>& rows) -> std::optional<Moves> {
        if (rows.size() < k || rows.size() * k > kMostEntries) return std::nullopt;
        return moves_of(Z, rows, left);
    };
    if (inside.size() > count)
        if (auto found = try_rows(roomiest(inside, count))) return found;
    return try_rows(inside);
}

void add_moved_sizes(const DesignView& X, const Moves& moves, std::span<double> error) {
    assert(std::ssize(error) == n_columns(X));
    if (moves.row.empty()) return;
    std::vector<double> by(n_rows(X), 0.0), sizes(error.size());
    for (std::size_t k = 0; k < moves.row.size(); ++k)
        by[moves.row[k]] = moves.by[k];
    column_sizes(X, by, sizes);
    const double margin = 1 + gamma(moves.row.size());
    for (std::size_t j = 0; j < error.size(); ++j)
        error[j] += sizes[j] * margin;
}

}  // namespace rectiline::proof
