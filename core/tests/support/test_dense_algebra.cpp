// Factors and products of small matrices against their definitions, with and without routines.
#include "rectiline/support/dense_algebra.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

using namespace rectiline::support;

namespace {

int routine_calls = 0;

// Stand-ins with the Fortran interface, written from the definitions.
void factor(char*, int* n, double* A, int* ld, int* info) {
    ++routine_calls;
    *info = 0;
    for (int j = 0; j < *n && *info == 0; ++j)
        for (int i = j; i < *n; ++i) {
            double sum = A[j * *ld + i];
            for (int k = 0; k < j; ++k)
                sum -= A[k * *ld + i] * A[k * *ld + j];
            if (i == j && !(sum > 0)) {
                *info = j + 1;
                break;
            }
            A[j * *ld + i] = i == j ? std::sqrt(sum) : sum / A[j * *ld + j];
        }
}

void solve(char*, int* n, int* n_right, double* L, int* ld, double* B, int* ldb, int*) {
    ++routine_calls;
    for (int c = 0; c < *n_right; ++c) {
        double* x = B + c * *ldb;
        for (int i = 0; i < *n; ++i) {
            for (int k = 0; k < i; ++k)
                x[i] -= L[k * *ld + i] * x[k];
            x[i] /= L[i * *ld + i];
        }
        for (int i = *n - 1; i >= 0; --i) {
            for (int k = i + 1; k < *n; ++k)
                x[i] -= L[i * *ld + k] * x[k];
            x[i] /= L[i * *ld + i];
        }
    }
}

void square(char*, char*, int* n, int* k, double*, double* P, int* ld, double*, double* C,
            int* ldc) {
    ++routine_calls;
    for (int j = 0; j < *n; ++j)
        for (int i = j; i < *n; ++i) {
            double sum = 0;
            for (int e = 0; e < *k; ++e)
                sum += P[i * *ld + e] * P[j * *ld + e];
            C[j * *ldc + i] = sum;
        }
}

void check_size(std::int64_t n) {
    const std::int64_t k = n + 3, stride = n + 5, n_right = 2;
    const samples::Matrix P(n, stride, static_cast<std::uint64_t>(n), 1.0);
    std::vector<double> C(static_cast<std::size_t>(n * n), 7.0);
    square_of_rows(P.entries.data(), n, k, stride, C.data());
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = j; i < n; ++i) {
            double sum = 0;
            for (std::int64_t e = 0; e < k; ++e)
                sum += P(i, e) * P(j, e);
            CHECK_NEAR(C[j * n + i], sum, 1e-12 * static_cast<double>(k));
        }
    std::vector<double> L = C, B(static_cast<std::size_t>(n * n_right)), known(B.size());
    for (std::size_t e = 0; e < known.size(); ++e)
        known[e] = 0.5 * static_cast<double>(e % 7) - 1;
    for (std::int64_t c = 0; c < n_right; ++c)
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                B[c * n + i] += C[std::min(i, j) * n + std::max(i, j)] * known[c * n + j];
    CHECK(cholesky(L.data(), n));
    cholesky_solve(L.data(), n, B.data(), n_right);
    for (std::size_t e = 0; e < B.size(); ++e)
        CHECK_NEAR(B[e], known[e], 1e-7);
    C[(n - 1) * n + n - 1] = -1;  // no longer positive definite
    CHECK(!cholesky(C.data(), n));
}

// Slices add up to the whole, and a question is asked before each.
void check_slices() {
    const std::int64_t n = 1200, k = 900;  // slices of 416 columns
    const samples::Matrix P(n, k, 5, 1.0);
    std::vector<double> whole(static_cast<std::size_t>(n * n)), sum(whole.size());
    square_of_rows(P.entries.data(), n, k, k, whole.data());
    for (int most = 0; most < 4; ++most) {
        std::pair<int, int> asked{0, most};
        const auto check = [](void* self, std::int64_t) {
            auto& [times, limit] = *static_cast<std::pair<int, int>*>(self);
            return ++times > limit;
        };
        Interrupt interrupt(check, &asked);
        CHECK(square_of_rows(P.entries.data(), n, k, sum.data(), interrupt) == (most == 3));
        CHECK(asked.first == std::min(most + 1, 3));
    }
    for (std::int64_t j = 0; j < n; j += 7)
        for (std::int64_t i = j; i < n; ++i)
            CHECK_NEAR(sum[j * n + i], whole[j * n + i], 1e-9);
}

}  // namespace

int main() {
    check_slices();
    for (const std::int64_t n : {1, 2, 5, 16, 17, 40})
        check_size(n);
    CHECK(routine_calls == 0);
    use_dense_routines({factor, solve, square});
    for (const std::int64_t n : {1, 5, 17, 40})
        check_size(n);
    CHECK(routine_calls == 8);  // four for each of the two sizes above 16
    use_dense_routines({});
    return check::report();
}
