#include "rectiline/design/products.hpp"

#include "rectiline/design/dense_rows.hpp"
#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace rectiline::design {
namespace {

// ---- chunks: fixed by the data alone, so that sums do not depend on the thread count -----------

struct Chunks {
    std::int64_t size, count;
    Chunks(std::int64_t n, std::int64_t entries, std::int64_t most) {
        const std::int64_t wanted = std::clamp<std::int64_t>(entries >> 17, 1, most);
        size = std::max<std::int64_t>(1, (n + wanted - 1) / wanted);
        count = n == 0 ? 0 : (n + size - 1) / size;
    }
    std::int64_t first(std::int64_t c) const { return c * size; }
    std::int64_t last(std::int64_t c, std::int64_t n) const { return std::min(n, (c + 1) * size); }
};
constexpr std::int64_t kMostChunks = 64;
constexpr std::int64_t kMostSums = 16;  // each partial sum costs d doubles

template <class T>
std::int64_t entries(const DenseView<T>& X) {
    return X.n * X.d;
}
template <class T, class I>
std::int64_t entries(const SparseView<T, I>& X) {
    return static_cast<std::int64_t>(X.pointers[X.by_rows ? X.n : X.d]);
}

// Runs accumulate(first, last, target) over chunks of rows and adds the partial targets in order.
template <class Accumulate>
void sum_over_rows(std::int64_t n, std::int64_t d, std::int64_t work, int n_threads, double* total,
                   const Accumulate& accumulate) {
    std::fill(total, total + d, 0.0);
    const Chunks chunks(n, work, d > 0 ? kMostSums : 1);
    if (chunks.count <= 1) {
        if (n > 0) accumulate(0, n, total);
        return;
    }
    std::vector<double> partial(static_cast<std::size_t>(chunks.count * d), 0.0);
    parallel_chunks(n_threads, chunks.count, [&](std::int64_t c) {
        accumulate(chunks.first(c), chunks.last(c, n), partial.data() + c * d);
    });
    for (std::int64_t c = 0; c < chunks.count; ++c)
        for (std::int64_t j = 0; j < d; ++j)
            total[j] += partial[c * d + j];
}

template <class Work>
void over_rows(std::int64_t n, std::int64_t work_size, int n_threads, const Work& work) {
    const Chunks chunks(n, work_size, kMostChunks);
    parallel_chunks(n_threads, chunks.count,
                    [&](std::int64_t c) { work(chunks.first(c), chunks.last(c, n)); });
}

// ---- dense --------------------------------------------------------------------------------------

// Column-major products walk blocks of rows so that z (or g) stays in cache for all columns.
constexpr std::int64_t kColumnBlock = 4096;

template <class T>
void product(const DenseView<T>& X, const double* b, double* z, int n_threads) {
    over_rows(X.n, entries(X), n_threads, [&](std::int64_t first, std::int64_t last) {
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
void transposed_product(const DenseView<T>& X, const double* g, double* q, int n_threads) {
    sum_over_rows(X.n, X.d, entries(X), n_threads, q,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      add_transposed(X, g, first, last, target);
                  });
}

template <class T>
void both_products(const DenseView<T>& X, const double* b, const double* g, double* z, double* q,
                   int n_threads) {
    if (!X.rows_contiguous()) {
        product(X, b, z, n_threads);
        return transposed_product(X, g, q, n_threads);
    }
    const std::int64_t block = std::max<std::int64_t>(4, 16384 / std::max<std::int64_t>(1, X.d));
    const bool ahead = is_beyond_caches(X);
    sum_over_rows(X.n, X.d, entries(X), n_threads, q,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t i = first; i < last; i += block) {
                          const std::int64_t m = std::min(block, last - i);
                          rows_times_vector(X.row(i), X.row_stride, m, X.d, b, z + i, ahead);
                          add_rows(X.row(i), X.row_stride, m, X.d, g + i, target, false);
                      }
                  });
}

template <class T>
void squares_of_rows(const DenseView<T>& X, const double* scale, double* r, int n_threads) {
    over_rows(X.n, entries(X), n_threads, [&](std::int64_t first, std::int64_t last) {
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
void squares_of_columns(const DenseView<T>& X, const double* scale, double* s, int n_threads) {
    sum_over_rows(X.n, X.d, entries(X), n_threads, s,
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
void gather_lines(const SparseView<T, I>& X, std::int64_t n_lines, const double* in, double* out,
                  int n_threads) {
    over_rows(n_lines, entries(X), n_threads, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            out[i] = sparse_dot(X.line(i), in);
    });
}

// Partial sums are worth their memory only when they are small against the entries.
template <class T, class I>
std::int64_t scatter_work(const SparseView<T, I>& X, std::int64_t n_out) {
    return n_out > entries(X) / 16 ? 0 : entries(X);
}

template <class T, class I>
void scatter_lines(const SparseView<T, I>& X, std::int64_t n_lines, std::int64_t n_out,
                   const double* in, double* out, int n_threads) {
    sum_over_rows(n_lines, n_out, scatter_work(X, n_out), n_threads, out,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t i = first; i < last; ++i)
                          if (in[i] != 0) sparse_axpy(in[i], X.line(i), target);
                  });
}

template <class T, class I>
void product(const SparseView<T, I>& X, const double* b, double* z, int n_threads) {
    if (X.by_rows)
        gather_lines(X, X.n, b, z, n_threads);
    else
        scatter_lines(X, X.d, X.n, b, z, n_threads);
}

template <class T, class I>
void transposed_product(const SparseView<T, I>& X, const double* g, double* q, int n_threads) {
    if (X.by_rows)
        scatter_lines(X, X.n, X.d, g, q, n_threads);
    else
        gather_lines(X, X.d, g, q, n_threads);
}

template <class T, class I>
void both_products(const SparseView<T, I>& X, const double* b, const double* g, double* z,
                   double* q, int n_threads) {
    if (!X.by_rows) {
        product(X, b, z, n_threads);
        return transposed_product(X, g, q, n_threads);
    }
    sum_over_rows(X.n, X.d, scatter_work(X, X.d), n_threads, q,
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
    for (std::int64_t i = 0; i < n_lines; ++i) {
        double sum = 0;
        for (I k = X.pointers[i]; k < X.pointers[i + 1]; ++k) {
            const double v = static_cast<double>(X.values[k]);
            sum += v * v * scale[X.indices[k]];
        }
        out[i] = sum;
    }
}

// s_index = sum over lines of scale_line value^2
template <class T, class I>
void index_squares(const SparseView<T, I>& X, std::int64_t n_lines, std::int64_t n_out,
                   const double* scale, double* out) {
    std::fill(out, out + n_out, 0.0);
    for (std::int64_t i = 0; i < n_lines; ++i) {
        if (scale[i] == 0) continue;
        for (I k = X.pointers[i]; k < X.pointers[i + 1]; ++k) {
            const double v = static_cast<double>(X.values[k]);
            out[X.indices[k]] += scale[i] * v * v;
        }
    }
}

template <class T, class I>
void squares_of_rows(const SparseView<T, I>& X, const double* scale, double* r, int) {
    if (X.by_rows)
        line_squares(X, X.n, scale, r);
    else
        index_squares(X, X.d, X.n, scale, r);
}

template <class T, class I>
void squares_of_columns(const SparseView<T, I>& X, const double* scale, double* s, int) {
    if (X.by_rows)
        index_squares(X, X.n, X.d, scale, s);
    else
        line_squares(X, X.d, scale, s);
}

}  // namespace

void multiply(const DesignView& X, std::span<const double> b, std::span<double> z, int n_threads) {
    assert(std::ssize(b) == n_columns(X) && std::ssize(z) == n_rows(X));
    std::visit([&](const auto& view) { product(view, b.data(), z.data(), n_threads); }, X);
}

void multiply_transposed(const DesignView& X, std::span<const double> g, std::span<double> q,
                         int n_threads) {
    assert(std::ssize(g) == n_rows(X) && std::ssize(q) == n_columns(X));
    std::visit([&](const auto& view) { transposed_product(view, g.data(), q.data(), n_threads); },
               X);
}

void multiply_both(const DesignView& X, std::span<const double> b, std::span<const double> g,
                   std::span<double> z, std::span<double> q, int n_threads) {
    assert(std::ssize(b) == n_columns(X) && std::ssize(g) == n_rows(X));
    assert(z.size() == g.size() && q.size() == b.size());
    std::visit(
        [&](const auto& view) {
            both_products(view, b.data(), g.data(), z.data(), q.data(), n_threads);
        },
        X);
}

void row_squares(const DesignView& X, std::span<const double> scale, std::span<double> r,
                 int n_threads) {
    assert(std::ssize(scale) == n_columns(X) && std::ssize(r) == n_rows(X));
    std::visit([&](const auto& view) { squares_of_rows(view, scale.data(), r.data(), n_threads); },
               X);
}

void column_squares(const DesignView& X, std::span<const double> scale, std::span<double> s,
                    int n_threads) {
    assert(std::ssize(scale) == n_rows(X) && std::ssize(s) == n_columns(X));
    std::visit(
        [&](const auto& view) { squares_of_columns(view, scale.data(), s.data(), n_threads); }, X);
}

}  // namespace rectiline::design
