#include "rectiline/support/dense_algebra.hpp"

#include "rectiline/support/vectors.hpp"

#include <utility>

namespace rectiline::support {
namespace {

DenseRoutines routines;
constexpr std::int64_t kSmall = 16;       // below this a call costs more than the loops
constexpr double kBetweenPolls = 3e8;     // multiply-adds of a library
constexpr std::int64_t kLeastSlice = 32;  // columns at once that a library needs to be fast

bool plain_cholesky(double* A, std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
        double* column = A + j * n;
        for (std::int64_t k = 0; k < j; ++k) {
            const double a = A[k * n + j];
            for (std::int64_t i = j; i < n; ++i)
                column[i] -= a * A[k * n + i];
        }
        if (!(column[j] > 0) || std::isinf(column[j])) return false;
        const double inverse = 1.0 / std::sqrt(column[j]);
        for (std::int64_t i = j; i < n; ++i)
            column[i] *= inverse;
    }
    return true;
}

void plain_solve(const double* L, std::int64_t n, double* x) {
    for (std::int64_t j = 0; j < n; ++j) {
        x[j] /= L[j * n + j];
        for (std::int64_t i = j + 1; i < n; ++i)
            x[i] -= L[j * n + i] * x[j];
    }
    for (std::int64_t j = n - 1; j >= 0; --j) {
        for (std::int64_t i = j + 1; i < n; ++i)
            x[j] -= L[j * n + i] * x[i];
        x[j] /= L[j * n + j];
    }
}

}  // namespace

void use_dense_routines(const DenseRoutines& chosen) {
    routines = chosen;
}

bool cholesky(double* A, std::int64_t n) {
    if (!routines.potrf || n <= kSmall) return plain_cholesky(A, n);
    char lower = 'L';
    int size = static_cast<int>(n), info = 0;
    routines.potrf(&lower, &size, A, &size, &info);
    return info == 0;
}

void cholesky_solve(const double* L, std::int64_t n, double* B, std::int64_t n_right) {
    if (!routines.potrs || n <= kSmall) {
        for (std::int64_t k = 0; k < n_right; ++k)
            plain_solve(L, n, B + k * n);
        return;
    }
    char lower = 'L';
    int size = static_cast<int>(n), right = static_cast<int>(n_right), info = 0;
    routines.potrs(&lower, &size, &right, const_cast<double*>(L), &size, B, &size, &info);
}

void square_of_rows(const double* P, std::int64_t n, std::int64_t k, std::int64_t stride, double* C,
                    bool adds) {
    if (!routines.syrk || n <= kSmall) {
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = j; i < n; ++i)
                C[j * n + i] = (adds ? C[j * n + i] : 0.0) + dot(P + i * stride, P + j * stride, k);
        return;
    }
    // Rows of P are columns of its column-major reading Q: C = Q'Q.
    char lower = 'L', transposed = 'T';
    int size = static_cast<int>(n), depth = static_cast<int>(k), ld = static_cast<int>(stride);
    double one = 1, before = adds ? 1 : 0;
    routines.syrk(&lower, &transposed, &size, &depth, &one, const_cast<double*>(P), &ld, &before, C,
                  &size);
}

bool square_of_rows(const double* P, std::int64_t n, std::int64_t k, double* C,
                    Interrupt& interrupt) {
    const double columns = kBetweenPolls / (0.5 * static_cast<double>(n) * static_cast<double>(n));
    const std::int64_t slice =
        std::max<std::int64_t>(kLeastSlice, static_cast<std::int64_t>(std::min(columns, 1e9)));
    for (std::int64_t first = 0; first < k; first += slice) {
        const std::int64_t depth = std::min(slice, k - first);
        if (interrupt.poll_ahead(n * n * depth / 2)) return false;
        square_of_rows(P + first, n, depth, k, C, first > 0);
    }
    return true;
}

RECTILINE_MULTIVERSION double update_line(double* line, const double* pivot, double factor,
                                          std::int64_t size) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < size; ++k) {
        line[k] -= factor * pivot[k];
        sum += line[k] * line[k];
    }
    return sum;
}

std::int64_t pivot_row(std::span<const double> A, std::int64_t n, std::int64_t first,
                       std::int64_t column) {
    std::int64_t best = first;
    for (std::int64_t i = first + 1; i < n; ++i)
        if (std::fabs(A[i * n + column]) > std::fabs(A[best * n + column])) best = i;
    return best;
}

// Row exchanges become column exchanges of the inverse.
bool invert(std::span<double> A, std::int64_t n, double least, Interrupt& interrupt) {
    std::vector<std::int64_t> swapped(n);
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t best = pivot_row(A, n, k, k);
        const double pivot = A[best * n + k];
        if (!(std::fabs(pivot) > least) || interrupt.poll(n * n)) return false;
        swapped[k] = best;
        double* line_k = A.data() + k * n;
        if (best != k) std::swap_ranges(line_k, line_k + n, A.data() + best * n);
        line_k[k] = 1.0;
        for (std::int64_t j = 0; j < n; ++j)
            line_k[j] /= pivot;
        for (std::int64_t i = 0; i < n; ++i) {
            double* one = A.data() + i * n;
            const double factor = one[k];
            if (i == k || factor == 0.0) continue;
            one[k] = 0.0;
            update_line(one, line_k, factor, n);
        }
    }
    for (std::int64_t k = n; k-- > 0;)
        if (swapped[k] != k)
            for (std::int64_t i = 0; i < n; ++i)
                std::swap(A[i * n + k], A[i * n + swapped[k]]);
    return true;
}

}  // namespace rectiline::support
