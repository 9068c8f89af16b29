// Products in every layout against plain loops, and the same sums from any number of threads.
#include "rectiline/design/dense_rows.hpp"
#include "rectiline/design/gram.hpp"
#include "rectiline/design/products.hpp"
#include "rectiline/support/threads.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

using namespace rectiline::design;
using samples::Compressed;
using samples::Dense;
using samples::Matrix;

namespace {

std::vector<double> random_vector(std::int64_t size, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values;
    for (std::int64_t k = 0; k < size; ++k)
        values.push_back(random.below(5) == 0 ? 0.0 : samples::uniform(random, -1, 1));
    return values;
}

void check_close(const std::vector<double>& found, const std::vector<double>& wanted) {
    for (std::size_t k = 0; k < wanted.size(); ++k)
        CHECK_NEAR(found[k], wanted[k], 1e-11);
}

// What every layout has to give: `stored` is the matrix as the layout rounds it.
void check_layout(const DesignView& X, const Matrix& stored) {
    const std::int64_t n = stored.n, d = stored.d;
    CHECK(n_rows(X) == n && n_columns(X) == d);
    const std::vector<double> b = random_vector(d, 1), g = random_vector(n, 2);
    std::vector<double> z(n, 0), q(d, 0), squares(n, 0), columns(d, 0);
    std::vector<double> scale_columns(d), scale_rows(n);
    for (std::int64_t j = 0; j < d; ++j)
        scale_columns[j] = b[j] * b[j];
    for (std::int64_t i = 0; i < n; ++i)
        scale_rows[i] = g[i] * g[i];
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j) {
            const double x = stored(i, j);
            z[i] += x * b[j], q[j] += x * g[i];
            squares[i] += x * x * scale_columns[j], columns[j] += x * x * scale_rows[i];
        }
    for (const int threads : {1, 2, 4}) {
        std::vector<double> rows(n, 9), sums(d, 9);
        set_thread_count(threads);
        multiply(X, b, rows), check_close(rows, z);
        multiply_transposed(X, g, sums), check_close(sums, q);
        rows.assign(n, 9), sums.assign(d, 9);
        multiply_both(X, b, g, rows, sums);
        check_close(rows, z), check_close(sums, q);
        row_squares(X, scale_columns, rows), check_close(rows, squares);
        column_squares(X, scale_rows, sums), check_close(sums, columns);
    }
}

void check_gram(const DesignView& X, const Matrix& stored) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < stored.n; i += 2)
        rows.push_back(i);
    std::vector<double> weight = random_vector(static_cast<std::int64_t>(rows.size()), 3);
    for (double& w : weight)
        w *= w;
    for (const bool intercept : {false, true}) {
        const std::int64_t order = stored.d + intercept;
        std::vector<double> H(order * order, 0.5), wanted(order * order, 0.0);
        for (std::size_t k = 0; k < rows.size(); ++k)
            for (std::int64_t a = 0; a < order; ++a)
                for (std::int64_t c = 0; c < order; ++c) {
                    const double left = a < stored.d ? stored(rows[k], a) : 1.0;
                    const double right = c < stored.d ? stored(rows[k], c) : 1.0;
                    wanted[a * order + c] += weight[k] * left * right;
                }
        Interrupt never;
        CHECK(weighted_gram(X, rows, weight, intercept, H, never));
        check_close(H, wanted);
    }
}

template <class T>
Matrix rounded(Matrix X) {
    for (double& x : X.entries)
        x = static_cast<double>(static_cast<T>(x));
    return X;
}

template <class T>
void check_all_layouts(const Matrix& exact) {
    const Matrix X = rounded<T>(exact);
    const std::int64_t n = X.n, d = X.d;
    const std::int64_t strides[][2] = {{d, 1},     {1, n},     {d + 3, 1}, {1, n + 5},
                                       {2 * d, 2}, {3, 3 * n}, {7 * d, 2}};
    for (const auto& stride : strides) {
        const Dense<T> stored(X, stride[0], stride[1]);
        check_layout(stored.view, X);
        check_gram(stored.view, X);
    }
    for (const bool by_rows : {true, false}) {
        const Compressed<T, std::int32_t> narrow(X, by_rows);
        const Compressed<T, std::int64_t> wide(X, by_rows);
        check_layout(narrow.view, X);
        check_layout(wide.view, X);
        if (by_rows) check_gram(narrow.view, X), check_gram(wide.view, X);
    }
}

// Bit for bit the same, whatever the number of threads: chunks depend on the data alone.
void check_threads(const DesignView& X) {
    const std::int64_t n = n_rows(X), d = n_columns(X);
    const std::vector<double> b = random_vector(d, 4), g = random_vector(n, 5);
    std::vector<double> z(n), q(d), z_many(n), q_many(d);
    const auto same = [&] { return z == z_many && q == q_many; };
    const auto with = [](int threads, const auto& work) { set_thread_count(threads), work(); };
    for (const int threads : {2, 3, 5}) {
        with(1, [&] { multiply(X, b, z), multiply_transposed(X, g, q); });
        with(threads, [&] { multiply(X, b, z_many), multiply_transposed(X, g, q_many); });
        CHECK(same());
        with(1, [&] { multiply_both(X, b, g, z, q); });
        with(threads, [&] { multiply_both(X, b, g, z_many, q_many); });
        CHECK(same());
        with(1, [&] { row_squares(X, b, z), column_squares(X, g, q); });
        with(threads, [&] { row_squares(X, b, z_many), column_squares(X, g, q_many); });
        CHECK(same());
    }
}

void check_pool() {
    CHECK(thread_count() >= 1);
    for (const int threads : {1, 2, 7})
        for (const std::int64_t chunks : {0, 1, 3, 100}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(chunks) + 1);
            for (auto& count : visits)
                count = 0;
            set_thread_count(threads),
                parallel_chunks(chunks, [&](std::int64_t c) { ++visits[c]; });
            for (std::int64_t c = 0; c < chunks; ++c)
                CHECK(visits[c] == 1);
        }
    std::atomic<int> nested{0};
    set_thread_count(3);
    parallel_chunks(10,
                    [&](std::int64_t) { parallel_chunks(10, [&](std::int64_t) { ++nested; }); });
    CHECK(nested == 100);

    std::atomic<int> total{0};
    std::vector<std::thread> callers;
    for (int k = 0; k < 4; ++k)
        callers.emplace_back([&] {
            set_thread_count(3);
            for (int repeat = 0; repeat < 50; ++repeat)
                parallel_chunks(8, [&](std::int64_t) { ++total; });
        });
    for (std::thread& caller : callers)
        caller.join();
    CHECK(total == 4 * 50 * 8);
}

// A Gram matrix is summed in slices: it can be stopped, and slices do not change its bits.
void check_gram_in_slices() {
    const Matrix X(3200, 250, 9);
    const Dense<double> dense(X, X.d, 1);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(X.n));
    for (std::size_t k = 0; k < rows.size(); ++k)
        rows[k] = static_cast<std::int64_t>(k);
    const std::vector<double> weight(rows.size(), 1.0);
    std::vector<double> H(static_cast<std::size_t>(X.d * X.d), 0.5), again = H;
    int asked = 0;
    Interrupt stop([](void* count, std::int64_t) { return ++*static_cast<int*>(count) > 0; },
                   &asked);
    CHECK(!weighted_gram(dense.view, rows, weight, false, H, stop));
    CHECK(asked == 1 && H[0] == 0.5);
    asked = -1000;
    Interrupt go_on([](void* count, std::int64_t) { return ++*static_cast<int*>(count) > 0; },
                    &asked);
    Interrupt never;
    CHECK(weighted_gram(dense.view, rows, weight, false, H, go_on));
    set_thread_count(2);
    CHECK(weighted_gram(dense.view, rows, weight, false, again, never));
    CHECK(asked > -1000 && H == again);
}

// Every width of registers, whatever this processor has.
template <class Lanes, class T>
void check_width() {
    const Matrix X(38, 21, 5);
    const Dense<T> dense(X, X.d, 1);
    const DenseView<T>& view = dense.view;
    const std::vector<double> b = random_vector(X.d, 1);
    std::vector<double> z(36), product(36);
    for (std::int64_t i = 0; i < 36; ++i)
        for (std::int64_t j = 0; j < X.d; ++j)
            product[i] += static_cast<double>(view.row(i)[j]) * b[j];
    RowProducts::run<Lanes>(view.row(0), view.row_stride, 36, X.d, b.data(), z.data(), Ahead{});
    check_close(z, product);
}

void check_widths() {
    check_width<Lanes<8>, double>();
    check_width<Lanes<8>, float>();
#ifdef RECTILINE_LANES
    check_width<Lanes<16>, double>();
    check_width<Lanes<16>, float>();
    check_width<Lanes<32>, double>();
    check_width<Lanes<32>, float>();
    check_width<Lanes<64>, double>();
    check_width<Lanes<64>, float>();
#endif
}

}  // namespace

int main() {
    check_widths();
    const std::int64_t sizes[][2] = {{1, 1},   {1, 9},    {5, 1},   {4, 3},
                                     {37, 11}, {300, 17}, {20, 24}, {270, 47}};
    for (const auto& size : sizes) {
        const Matrix X(size[0], size[1], static_cast<std::uint64_t>(size[0] + size[1]));
        check_all_layouts<double>(X);
        check_all_layouts<float>(X);
    }
    const Matrix big(9000, 60, 7, 0.95);
    check_threads(Dense<double>(big, big.d, 1).view);
    check_threads(Dense<double>(big, 1, big.n).view);
    check_threads(Dense<float>(big, big.d, 1).view);
    const Matrix bigger(40000, 60, 8,
                        0.95);  // sparse sums are cut into chunks only when they are long
    check_threads(Compressed<double, std::int32_t>(bigger, true).view);
    check_threads(Compressed<double, std::int64_t>(bigger, false).view);
    check_gram_in_slices();
    check_pool();
    return check::report();
}
