// The inverse of the kernel: from scratch, through every kind of change of the basis, with columns
// that depend on each other, and when it is interrupted.
#include "rectiline/simplex/simplex.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include <array>
#include <numeric>
#include <utility>
#include <vector>

using namespace rectiline::simplex;

namespace {

double uniform(Random& random) {
    return static_cast<double>(random.below(1000000)) * 2e-6 - 1.0;
}

// m x k of the given rank, appended in two portions.
TwoWayMatrix matrix(std::int64_t m, std::int64_t k, std::int64_t rank, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> left(m * rank), right(rank * k);
    for (auto* part : {&left, &right})
        for (double& one : *part)
            one = uniform(random);
    TwoWayMatrix A;
    A.grow(m / 2, k / 2);
    A.grow(m - m / 2, k - k / 2);
    for (std::int64_t r = 0; r < m; ++r)
        for (std::int64_t u = 0; u < k; ++u) {
            double sum = 0.0;
            for (std::int64_t i = 0; i < rank; ++i)
                sum += left[r * rank + i] * right[i * k + u];
            A.set(r, u, sum);
        }
    return A;
}

void check_inverse(const KernelInverse& kernel, const TwoWayMatrix& A, double tolerance) {
    CHECK(kernel.rows.size() == kernel.columns.size());
    const std::int64_t s = kernel.size();
    for (std::int64_t j = 0; j < s; ++j) {
        double norm = 0.0;
        for (std::int64_t l = 0; l < s; ++l) {
            double sum = 0.0;
            for (std::int64_t i = 0; i < s; ++i)
                sum += kernel.entry(j, i) * A.column(kernel.columns[l])[kernel.rows[i]];
            CHECK_NEAR(sum, j == l ? 1.0 : 0.0, tolerance);
            norm += kernel.entry(j, l) * kernel.entry(j, l);
        }
        CHECK_NEAR(kernel.norms[j], norm, tolerance * (1.0 + norm));
    }
}

KernelInverse first_kernel(std::int64_t size) {
    KernelInverse kernel;
    kernel.rows.resize(size);
    std::iota(kernel.rows.begin(), kernel.rows.end(), 0);
    kernel.columns.resize(size);
    std::iota(kernel.columns.begin(), kernel.columns.end(), 0);
    return kernel;
}

// Columns that depend on others leave, all at once.
void drops_dependent_columns() {
    Interrupt never;
    for (const std::int64_t rank : {40, 39, 5, 1}) {
        const TwoWayMatrix A = matrix(40, 40, rank, static_cast<std::uint64_t>(rank));
        KernelInverse kernel = first_kernel(40);
        CHECK(kernel.factorise(A, never) == (rank == 40));
        CHECK(kernel.size() == rank);
        check_inverse(kernel, A, 1e-6);
    }
    KernelInverse nothing;
    CHECK(nothing.factorise(matrix(3, 3, 3, 1), never) && nothing.size() == 0);
}

// B^-1 times column u, on the kernel's columns, and the row g = A[r, columns] G.
std::vector<double> image(const KernelInverse& kernel, const TwoWayMatrix& A, std::int64_t u) {
    std::vector<double> right, out(kernel.size());
    for (const std::int32_t r : kernel.rows)
        right.push_back(A.column(u)[r]);
    kernel.solve(std::array{Combination{right.data(), out.data()}});
    return out;
}

std::vector<double> row_image(const KernelInverse& kernel, const TwoWayMatrix& A, std::int64_t r) {
    std::vector<double> left, out(kernel.size());
    for (const std::int32_t u : kernel.columns)
        left.push_back(A.column(u)[r]);
    kernel.solve_transposed(left.data(), out.data());
    return out;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void follows_changes_of_the_basis() {
    Interrupt never;
    const TwoWayMatrix A = matrix(30, 30, 30, 3);
    KernelInverse kernel = first_kernel(10);
    CHECK(kernel.factorise(A, never));
    for (std::int32_t next = 10; next < 20; ++next) {
        const std::int64_t j = next % kernel.size();
        kernel.column_for_column(j, next, image(kernel, A, next).data());
        check_inverse(kernel, A, 1e-7);
    }
    for (std::int32_t next = 20; next < 25; ++next) {  // a row and a column join
        const std::vector<double> alpha = image(kernel, A, next), g = row_image(kernel, A, next);
        std::vector<double> entries;
        for (const std::int32_t r : kernel.rows)
            entries.push_back(A.column(next)[r]);
        kernel.column_for_row(next, next, alpha.data(), g.data(),
                              product(g, entries) - A.column(next)[next]);
        check_inverse(kernel, A, 1e-7);
    }
    const std::int64_t before = kernel.size();
    for (int times = 0; times < 5; ++times) {  // a column leaves with the row i
        std::vector<double> unit(kernel.size(), 0.0), alpha(kernel.size());
        unit[times] = -1.0;
        kernel.solve(std::array{Combination{unit.data(), alpha.data()}});
        kernel.row_for_column(2 * times, times, alpha.data());
        check_inverse(kernel, A, 1e-6);
    }
    CHECK(kernel.size() == before - 5);
}

void stays_as_it_was_when_interrupted() {
    Interrupt never, stop([](void*, std::int64_t) { return true; }, nullptr);
    const TwoWayMatrix A = matrix(30, 30, 30, 4);
    KernelInverse kernel = first_kernel(20);
    CHECK(kernel.factorise(A, never));
    kernel.column_for_column(3, 25, image(kernel, A, 25).data());
    stop.poll(std::int64_t{1} << 40);
    CHECK(stop.stopped() && kernel.factorise(A, stop));
    CHECK(kernel.n_updates == 1);
    check_inverse(kernel, A, 1e-7);
    CHECK(kernel.factorise(A, never) && kernel.n_updates == 0);
}

}  // namespace

int main() {
    drops_dependent_columns();
    follows_changes_of_the_basis();
    stays_as_it_was_when_interrupted();
    return check::report();
}
