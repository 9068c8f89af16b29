#include "rectiline/design/products.hpp"

#include "rectiline/design/dense_rows.hpp"
#include "rectiline/design/row_chunks.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace rectiline::design {
namespace {

// ---- dense --------------------------------------------------------------------------------------

template <Entry kind, class T>
void product(const DenseView<T>& X, const double* b, double* z) {
    over_rows(X.n, entries(X), [&](std::int64_t first, std::int64_t last) {
        if (X.rows_contiguous())
            return rows_times_vector<kind>(X.row(first), X.row_stride, last - first, X.d, b,
                                           z + first, is_beyond_caches(X));
        std::fill(z + first, z + last, 0.0);
        over_columns(X, first, last,
                     [&](std::int64_t i, std::int64_t m, std::int64_t j, const T* x) {
                         if (b[j] != 0) add_column<kind>(b[j], x, X.row_stride, z + i, m);
                     });
    });
}

template <Entry kind, class T>
void transposed_product(const DenseView<T>& X, const double* g, double* q) {
    sum_over_rows(X.n, X.d, entries(X), q,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      if (X.rows_contiguous())
                          return add_rows<kind>(X.row(first), X.row_stride, last - first, X.d,
                                                g + first, target, is_beyond_caches(X));
                      over_columns(X, first, last,
                                   [&](std::int64_t i, std::int64_t m, std::int64_t j, const T* x) {
                                       target[j] += column_dot<kind>(x, X.row_stride, g + i, m);
                                   });
                  });
}

// Rows that stay in the nearest cache while several loops read them.
std::int64_t rows_in_cache(std::int64_t d) {
    return std::max<std::int64_t>(4, 16384 / std::max<std::int64_t>(1, d));
}

template <class T>
void both_products(const DenseView<T>& X, const double* b, const double* g, double* z, double* q) {
    if (!X.rows_contiguous()) {
        product<Entry::plain>(X, b, z);
        return transposed_product<Entry::plain>(X, g, q);
    }
    const std::int64_t block = rows_in_cache(X.d);
    const bool ahead = is_beyond_caches(X);
    sum_over_rows(
        X.n, X.d, entries(X), q, [&](std::int64_t first, std::int64_t last, double* target) {
            for (std::int64_t i = first; i < last; i += block) {
                const std::int64_t m = std::min(block, last - i);
                rows_times_vector<Entry::plain>(X.row(i), X.row_stride, m, X.d, b, z + i, ahead);
                add_rows<Entry::plain>(X.row(i), X.row_stride, m, X.d, g + i, target, false);
            }
        });
}

template <class T>
bool moments_of_rows(const DenseView<T>& X, const double* inverse, double* sum, double* square,
                     double* row_square) {
    if (!X.rows_contiguous()) return false;
    const std::vector<double> ones(static_cast<std::size_t>(rows_in_cache(X.d)), 1.0);
    std::vector<double> both(static_cast<std::size_t>(2 * X.d));
    const auto add = [&](std::int64_t first, std::int64_t last, double* target) {
        for (std::int64_t i = first; i < last; i += std::ssize(ones)) {
            const std::int64_t m = std::min(std::ssize(ones), last - i), stride = X.row_stride;
            rows_times_vector<Entry::square>(X.row(i), stride, m, X.d, inverse, row_square + i,
                                             is_beyond_caches(X));
            add_rows<Entry::plain>(X.row(i), stride, m, X.d, ones.data(), target, false);
            add_rows<Entry::square>(X.row(i), stride, m, X.d, ones.data(), target + X.d, false);
        }
    };
    sum_over_rows(X.n, 2 * X.d, entries(X), both.data(), add);
    std::copy_n(both.begin(), X.d, sum);
    std::copy_n(both.begin() + X.d, X.d, square);
    return true;
}

template <class T, class I>
bool moments_of_rows(const SparseView<T, I>&, const double*, double*, double*, double*) {
    return false;
}

// ---- sparse: "lines" are rows (CSR) or columns (CSC) --------------------------------------------

template <Entry kind, class T, class I>
void gather_lines(const SparseView<T, I>& X, std::int64_t n_lines, const double* in, double* out) {
    over_rows(n_lines, entries(X), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            out[i] = sparse_dot<kind>(X.line(i), in);
    });
}

template <Entry kind, class T, class I>
void scatter_lines(const SparseView<T, I>& X, std::int64_t n_lines, std::int64_t n_out,
                   const double* in, double* out) {
    sum_over_rows(n_lines, n_out, scatter_work(X, n_out), out,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t i = first; i < last; ++i)
                          if (in[i] != 0) sparse_axpy<kind>(in[i], X.line(i), target);
                  });
}

template <Entry kind, class T, class I>
void product(const SparseView<T, I>& X, const double* b, double* z) {
    if (X.by_rows)
        gather_lines<kind>(X, X.n, b, z);
    else
        scatter_lines<kind>(X, X.d, X.n, b, z);
}

template <Entry kind, class T, class I>
void transposed_product(const SparseView<T, I>& X, const double* g, double* q) {
    if (X.by_rows)
        scatter_lines<kind>(X, X.n, X.d, g, q);
    else
        gather_lines<kind>(X, X.d, g, q);
}

template <class T, class I>
void both_products(const SparseView<T, I>& X, const double* b, const double* g, double* z,
                   double* q) {
    if (!X.by_rows) {
        product<Entry::plain>(X, b, z);
        return transposed_product<Entry::plain>(X, g, q);
    }
    sum_over_rows(X.n, X.d, scatter_work(X, X.d), q,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t i = first; i < last; ++i) {
                          const SparseLine<T, I> line = X.line(i);
                          z[i] = sparse_dot(line, b);
                          if (g[i] != 0) sparse_axpy(g[i], line, target);
                      }
                  });
}

template <Entry kind>
void product(const DesignView& X, std::span<const double> b, std::span<double> z) {
    assert(std::ssize(b) == n_columns(X) && std::ssize(z) == n_rows(X));
    std::visit([&](const auto& view) { product<kind>(view, b.data(), z.data()); }, X);
}

template <Entry kind>
void transposed_product(const DesignView& X, std::span<const double> g, std::span<double> q) {
    assert(std::ssize(g) == n_rows(X) && std::ssize(q) == n_columns(X));
    std::visit([&](const auto& view) { transposed_product<kind>(view, g.data(), q.data()); }, X);
}

}  // namespace

void multiply(const DesignView& X, std::span<const double> b, std::span<double> z) {
    product<Entry::plain>(X, b, z);
}

void multiply_transposed(const DesignView& X, std::span<const double> g, std::span<double> q) {
    transposed_product<Entry::plain>(X, g, q);
}

bool moments_of_rows(const DesignView& X, std::span<const double> inverse, std::span<double> sum,
                     std::span<double> square, std::span<double> row_square) {
    return std::visit(
        [&](const auto& view) {
            return moments_of_rows(view, inverse.data(), sum.data(), square.data(),
                                   row_square.data());
        },
        X);
}

void row_squares(const DesignView& X, std::span<const double> scale, std::span<double> r) {
    product<Entry::square>(X, scale, r);
}

void column_sizes(const DesignView& X, std::span<const double> scale, std::span<double> s) {
    transposed_product<Entry::absolute>(X, scale, s);
}

void column_squares(const DesignView& X, std::span<const double> scale, std::span<double> s) {
    transposed_product<Entry::square>(X, scale, s);
}

void multiply_both(const DesignView& X, std::span<const double> b, std::span<const double> g,
                   std::span<double> z, std::span<double> q) {
    assert(std::ssize(b) == n_columns(X) && std::ssize(g) == n_rows(X));
    assert(z.size() == g.size() && q.size() == b.size());
    std::visit(
        [&](const auto& view) { both_products(view, b.data(), g.data(), z.data(), q.data()); }, X);
}

}  // namespace rectiline::design
