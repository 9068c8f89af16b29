#include "rectiline/design/products.hpp"

#include "rectiline/design/dense_rows.hpp"
#include "rectiline/design/row_chunks.hpp"

#include <algorithm>
#include <cassert>

namespace rectiline::design {
namespace {

// ---- dense --------------------------------------------------------------------------------------

// Column-major products walk blocks of rows so that z (or g) stays in cache for all columns.
constexpr std::int64_t kColumnBlock = 4096;

template <class T>
void product(const DenseView<T>& X, const double* b, double* z) {
    over_rows(X.n, entries(X), [&](std::int64_t first, std::int64_t last) {
        if (X.rows_contiguous())
            return rows_times_vector(X.row(first), X.row_stride, last - first, X.d, b, z + first,
                                     is_beyond_caches(X));
        for (std::int64_t i = first; i < last; i += kColumnBlock) {
            const std::int64_t m = std::min(kColumnBlock, last - i);
            std::fill(z + i, z + i + m, 0.0);
            for (std::int64_t j = 0; j < X.d; ++j) {
                if (b[j] == 0) continue;
                const T* x = X.row(i) + j * X.column_stride;
                if (X.row_stride == 1)
                    contiguous_axpy(b[j], x, z + i, m);
                else
                    for (std::int64_t k = 0; k < m; ++k)
                        z[i + k] += b[j] * static_cast<double>(x[k * X.row_stride]);
            }
        }
    });
}

template <class T>
void add_transposed(const DenseView<T>& X, const double* g, std::int64_t first, std::int64_t last,
                    double* q) {
    if (X.rows_contiguous())
        return add_rows(X.row(first), X.row_stride, last - first, X.d, g + first, q,
                        is_beyond_caches(X));
    for (std::int64_t i = first; i < last; i += kColumnBlock) {
        const std::int64_t m = std::min(kColumnBlock, last - i);
        for (std::int64_t j = 0; j < X.d; ++j) {
            const T* x = X.row(i) + j * X.column_stride;
            if (X.row_stride == 1) {
                q[j] += contiguous_dot(x, g + i, m);
            } else {
                double sum = 0;
                for (std::int64_t k = 0; k < m; ++k)
                    sum += g[i + k] * static_cast<double>(x[k * X.row_stride]);
                q[j] += sum;
            }
        }
    }
}

template <class T>
void transposed_product(const DenseView<T>& X, const double* g, double* q) {
    sum_over_rows(X.n, X.d, entries(X), q,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      add_transposed(X, g, first, last, target);
                  });
}

template <class T>
void both_products(const DenseView<T>& X, const double* b, const double* g, double* z, double* q) {
    if (!X.rows_contiguous()) {
        product(X, b, z);
        return transposed_product(X, g, q);
    }
    const std::int64_t block = std::max<std::int64_t>(4, 16384 / std::max<std::int64_t>(1, X.d));
    const bool ahead = is_beyond_caches(X);
    sum_over_rows(X.n, X.d, entries(X), q,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t i = first; i < last; i += block) {
                          const std::int64_t m = std::min(block, last - i);
                          rows_times_vector(X.row(i), X.row_stride, m, X.d, b, z + i, ahead);
                          add_rows(X.row(i), X.row_stride, m, X.d, g + i, target, false);
                      }
                  });
}

template <class T>
void squares_of_rows(const DenseView<T>& X, const double* scale, double* r) {
    over_rows(X.n, entries(X), [&](std::int64_t first, std::int64_t last) {
        if (X.rows_contiguous())
            return add_row_squares(X.row(first), X.row_stride, last - first, X.d, scale, r + first);
        std::fill(r + first, r + last, 0.0);
        for (std::int64_t j = 0; j < X.d; ++j) {
            const T* x = X.row(first) + j * X.column_stride;
            for (std::int64_t k = 0; k < last - first; ++k) {
                const double v = static_cast<double>(x[k * X.row_stride]);
                r[first + k] += v * v * scale[j];
            }
        }
    });
}

template <class T>
void squares_of_columns(const DenseView<T>& X, const double* scale, double* s) {
    sum_over_rows(X.n, X.d, entries(X), s,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      if (X.rows_contiguous())
                          return add_column_squares(X.row(first), X.row_stride, last - first, X.d,
                                                    scale + first, target);
                      for (std::int64_t j = 0; j < X.d; ++j) {
                          const T* x = X.row(first) + j * X.column_stride;
                          if (X.row_stride == 1) {
                              target[j] += contiguous_squares(x, scale + first, last - first);
                              continue;
                          }
                          for (std::int64_t k = 0; k < last - first; ++k) {
                              const double v = static_cast<double>(x[k * X.row_stride]);
                              target[j] += scale[first + k] * v * v;
                          }
                      }
                  });
}

// ---- sparse: "lines" are rows (CSR) or columns (CSC) --------------------------------------------

template <class T, class I>
void gather_lines(const SparseView<T, I>& X, std::int64_t n_lines, const double* in, double* out) {
    over_rows(n_lines, entries(X), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            out[i] = sparse_dot(X.line(i), in);
    });
}

template <class T, class I>
void scatter_lines(const SparseView<T, I>& X, std::int64_t n_lines, std::int64_t n_out,
                   const double* in, double* out) {
    sum_over_rows(n_lines, n_out, scatter_work(X, n_out), out,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t i = first; i < last; ++i)
                          if (in[i] != 0) sparse_axpy(in[i], X.line(i), target);
                  });
}

template <class T, class I>
void product(const SparseView<T, I>& X, const double* b, double* z) {
    if (X.by_rows)
        gather_lines(X, X.n, b, z);
    else
        scatter_lines(X, X.d, X.n, b, z);
}

template <class T, class I>
void transposed_product(const SparseView<T, I>& X, const double* g, double* q) {
    if (X.by_rows)
        scatter_lines(X, X.n, X.d, g, q);
    else
        gather_lines(X, X.d, g, q);
}

template <class T, class I>
void both_products(const SparseView<T, I>& X, const double* b, const double* g, double* z,
                   double* q) {
    if (!X.by_rows) {
        product(X, b, z);
        return transposed_product(X, g, q);
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

// r_line = sum over the line of value^2 scale[index]
template <class T, class I>
void line_squares(const SparseView<T, I>& X, std::int64_t n_lines, const double* scale,
                  double* out) {
    over_rows(n_lines, entries(X), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
            double sum = 0;
            for (I k = X.pointers[i]; k < X.pointers[i + 1]; ++k) {
                const double v = static_cast<double>(X.values[k]);
                sum += v * v * scale[X.indices[k]];
            }
            out[i] = sum;
        }
    });
}

// s_index = sum over lines of scale_line value^2
template <class T, class I>
void index_squares(const SparseView<T, I>& X, std::int64_t n_lines, std::int64_t n_out,
                   const double* scale, double* out) {
    sum_over_rows(n_lines, n_out, scatter_work(X, n_out), out,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t i = first; i < last; ++i) {
                          if (scale[i] == 0) continue;
                          for (I k = X.pointers[i]; k < X.pointers[i + 1]; ++k) {
                              const double v = static_cast<double>(X.values[k]);
                              target[X.indices[k]] += scale[i] * v * v;
                          }
                      }
                  });
}

template <class T, class I>
void squares_of_rows(const SparseView<T, I>& X, const double* scale, double* r) {
    if (X.by_rows)
        line_squares(X, X.n, scale, r);
    else
        index_squares(X, X.d, X.n, scale, r);
}

template <class T, class I>
void squares_of_columns(const SparseView<T, I>& X, const double* scale, double* s) {
    if (X.by_rows)
        index_squares(X, X.n, X.d, scale, s);
    else
        line_squares(X, X.d, scale, s);
}

}  // namespace

void multiply(const DesignView& X, std::span<const double> b, std::span<double> z) {
    assert(std::ssize(b) == n_columns(X) && std::ssize(z) == n_rows(X));
    std::visit([&](const auto& view) { product(view, b.data(), z.data()); }, X);
}

void multiply_transposed(const DesignView& X, std::span<const double> g, std::span<double> q) {
    assert(std::ssize(g) == n_rows(X) && std::ssize(q) == n_columns(X));
    std::visit([&](const auto& view) { transposed_product(view, g.data(), q.data()); }, X);
}

void multiply_both(const DesignView& X, std::span<const double> b, std::span<const double> g,
                   std::span<double> z, std::span<double> q) {
    assert(std::ssize(b) == n_columns(X) && std::ssize(g) == n_rows(X));
    assert(z.size() == g.size() && q.size() == b.size());
    std::visit(
        [&](const auto& view) { both_products(view, b.data(), g.data(), z.data(), q.data()); }, X);
}

void row_squares(const DesignView& X, std::span<const double> scale, std::span<double> r) {
    assert(std::ssize(scale) == n_columns(X) && std::ssize(r) == n_rows(X));
    std::visit([&](const auto& view) { squares_of_rows(view, scale.data(), r.data()); }, X);
}

void column_squares(const DesignView& X, std::span<const double> scale, std::span<double> s) {
    assert(std::ssize(scale) == n_rows(X) && std::ssize(s) == n_columns(X));
    std::visit([&](const auto& view) { squares_of_columns(view, scale.data(), s.data()); }, X);
}

}  // namespace rectiline::design
