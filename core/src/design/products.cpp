#include "rectiline/design/products.hpp"

#include "rectiline/design/dense_rows.hpp"
#include "rectiline/support/threads.hpp"

#include <cassert>

namespace rectiline::design {

namespace {

// ---- chunks of rows -----------------------------------------------------------------------------

// Loops over the rows of a design matrix (or the lines of a sparse one) in chunks that threads
// share. The chunks are fixed by the data alone, so that sums do not depend on the number of
// threads.

struct RowChunks {
    std::int64_t size, count;
    RowChunks(std::int64_t n, std::int64_t entries, std::int64_t most) {
        const std::int64_t wanted = std::clamp<std::int64_t>(entries >> 17, 1, most);
        size = std::max<std::int64_t>(1, (n + wanted - 1) / wanted);
        count = n == 0 ? 0 : (n + size - 1) / size;
    }
    std::int64_t first(std::int64_t c) const { return c * size; }
    std::int64_t last(std::int64_t c, std::int64_t n) const { return std::min(n, (c + 1) * size); }
};
constexpr std::int64_t kMostChunks = 64;
constexpr std::int64_t kMostSums = 32;  // each partial sum costs its length in doubles

// The work of sums of n_out numbers over lines of X, zero where partial sums are not worth their
// memory: they must be small against the entries.
template <class T, class I>
std::int64_t scatter_work(const SparseView<T, I>& X, std::int64_t n_out) {
    return n_out > X.n_stored() / kMostSums ? 0 : X.n_stored();
}

// Calls work(first, last) over chunks of n rows.
template <class Work>
void over_rows(std::int64_t n, std::int64_t work_size, const Work& work) {
    const RowChunks chunks(n, work_size, kMostChunks);
    parallel_chunks(chunks.count,
                    [&](std::int64_t c) { work(chunks.first(c), chunks.last(c, n)); });
}

// Calls accumulate(first, last, target) over chunks of n rows and adds the partial targets, of
// `size` numbers, in order.
template <class Accumulate>
void sum_over_rows(std::int64_t n, std::int64_t size, std::int64_t work_size, double* total,
                   const Accumulate& accumulate) {
    std::fill(total, total + size, 0.0);
    const RowChunks chunks(n, work_size, size > 0 ? kMostSums : 1);
    if (chunks.count <= 1) {
        if (n > 0) accumulate(0, n, total);
        return;
    }
    std::vector<double> partial(chunks.count * size, 0.0);
    parallel_chunks(chunks.count, [&](std::int64_t c) {
        accumulate(chunks.first(c), chunks.last(c, n), partial.data() + c * size);
    });
    for (std::int64_t c = 0; c < chunks.count; ++c)
        for (std::int64_t j = 0; j < size; ++j)
            total[j] += partial[c * size + j];
}

// ---- dense --------------------------------------------------------------------------------------

template <Entry kind, class T>
void product(const DenseView<T>& X, bool transposed, const double* in, double* out) {
    const bool ahead = is_beyond_caches(X), by_rows = X.rows_contiguous();
    if (!transposed)
        return over_rows(X.n, X.n_stored(), [&](std::int64_t first, std::int64_t last) {
            if (by_rows)
                return rows_times_vector<kind>(X.row(first), X.row_stride, last - first, X.d, in,
                                               out + first, ahead);
            std::fill(out + first, out + last, 0.0);
            over_columns(X, first, last,
                         [&](std::int64_t i, std::int64_t m, std::int64_t j, const T* x) {
                             if (in[j] != 0) add_column<kind>(in[j], x, X.row_stride, out + i, m);
                         });
        });
    const auto add = [&](std::int64_t first, std::int64_t last, double* target) {
        if (by_rows)
            return add_rows<kind>(X.row(first), X.row_stride, last - first, X.d, in + first, target,
                                  ahead);
        over_columns(X, first, last,
                     [&](std::int64_t i, std::int64_t m, std::int64_t j, const T* x) {
                         target[j] += column_dot<kind>(x, X.row_stride, in + i, m);
                     });
    };
    sum_over_rows(X.n, X.d, X.n_stored(), out, add);
}

template <class T>
void both_products(const DenseView<T>& X, const double* b, const double* g, double* z, double* q) {
    if (!X.rows_contiguous()) {
        product<Entry::plain>(X, false, b, z);
        return product<Entry::plain>(X, true, g, q);
    }
    // Rows that stay in the nearest cache while both loops read them.
    const std::int64_t block = std::max<std::int64_t>(4, 16384 / std::max<std::int64_t>(1, X.d));
    const bool ahead = is_beyond_caches(X);
    sum_over_rows(
        X.n, X.d, X.n_stored(), q, [&](std::int64_t first, std::int64_t last, double* target) {
            for (std::int64_t i = first; i < last; i += block) {
                const std::int64_t m = std::min(block, last - i);
                rows_times_vector<Entry::plain>(X.row(i), X.row_stride, m, X.d, b, z + i, ahead);
                add_rows<Entry::plain>(X.row(i), X.row_stride, m, X.d, g + i, target, false);
            }
        });
}

// ---- sparse: "lines" are rows (CSR) or columns (CSC) --------------------------------------------

template <Entry kind, class T, class I>
void product(const SparseView<T, I>& X, bool transposed, const double* in, double* out) {
    if (X.by_rows != transposed)
        return over_rows(X.n_lines(), X.n_stored(), [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i)
                out[i] = sparse_dot<kind>(X.line(i), in);
        });
    const std::int64_t n_out = transposed ? X.d : X.n;
    sum_over_rows(X.n_lines(), n_out, scatter_work(X, n_out), out,
                  [&](std::int64_t first, std::int64_t last, double* target) {
                      for (std::int64_t i = first; i < last; ++i)
                          if (in[i] != 0) sparse_axpy<kind>(in[i], X.line(i), target);
                  });
}

template <class T, class I>
void both_products(const SparseView<T, I>& X, const double* b, const double* g, double* z,
                   double* q) {
    if (!X.by_rows) {
        product<Entry::plain>(X, false, b, z);
        return product<Entry::plain>(X, true, g, q);
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

// X times a vector or, `transposed`, X' times one.
template <Entry kind>
void product(const DesignView& X, bool transposed, std::span<const double> in,
             std::span<double> out) {
    assert(std::ssize(in) == (transposed ? n_rows(X) : n_columns(X)));
    assert(std::ssize(out) == (transposed ? n_columns(X) : n_rows(X)));
    std::visit([&](const auto& view) { product<kind>(view, transposed, in.data(), out.data()); },
               X);
}

constexpr double kDenormal = 0x1p-1022;  // squares below this may have lost all their digits
constexpr double kLeastSpread = 1e-12;   // of the mean square of a column that is centred
constexpr int kLargestExponent = 500;    // of a scale: its square does not overflow

// Every so many rows of a dense X, which its columns are measured by before the pass over all rows.
DesignView some_rows(const DesignView& X) {
    constexpr std::int64_t kSample = 64;
    return std::visit(
        []<class View>(const View& view) -> DesignView {
            if constexpr (requires { view.row_stride; }) {
                const std::int64_t step = std::max<std::int64_t>(1, view.n / kSample);
                return View{view.data, (view.n + step - 1) / step, view.d, step * view.row_stride,
                            view.column_stride};
            } else {
                return view;
            }
        },
        X);
}

// Turns sums of squares into powers of two of about the size of the columns. Columns without an
// entry, or with squares that overflow, get the mean exponent of the others.
void set_scales(std::span<double> s) {
    const std::int64_t d = std::ssize(s);
    std::int64_t total = 0, seen = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        if (!(s[j] > 0) || !std::isfinite(s[j])) {
            s[j] = 0;
            continue;
        }
        const int exponent = std::clamp(std::ilogb(s[j]) / 2, -kLargestExponent, kLargestExponent);
        s[j] = std::ldexp(1.0, exponent);
        total += exponent, ++seen;
    }
    const double other = seen > 0 ? std::ldexp(1.0, static_cast<int>(total / seen)) : 1.0;
    for (std::int64_t j = 0; j < d; ++j)
        if (s[j] == 0) s[j] = other;
}

// Upper bounds on norms: rounding is allowed for; norms whose squares overflow are infinite.
RECTILINE_MULTIVERSION void set_norms(const double* square, std::int64_t count, double margin,
                                      double lost, double* norm) {
#pragma omp simd
    for (std::int64_t k = 0; k < count; ++k)
        norm[k] = std::sqrt(square[k] * margin + lost) * margin;
}

}  // namespace

void multiply(const DesignView& X, std::span<const double> b, std::span<double> z) {
    product<Entry::plain>(X, false, b, z);
}

void multiply_transposed(const DesignView& X, std::span<const double> g, std::span<double> q) {
    product<Entry::plain>(X, true, g, q);
}

void row_squares(const DesignView& X, std::span<const double> scale, std::span<double> r) {
    product<Entry::square>(X, false, scale, r);
}

void column_sizes(const DesignView& X, std::span<const double> scale, std::span<double> s) {
    product<Entry::absolute>(X, true, scale, s);
}

void column_squares(const DesignView& X, std::span<const double> scale, std::span<double> s) {
    product<Entry::square>(X, true, scale, s);
}

void multiply_both(const DesignView& X, std::span<const double> b, std::span<const double> g,
                   std::span<double> z, std::span<double> q) {
    assert(std::ssize(b) == n_columns(X) && std::ssize(g) == n_rows(X));
    assert(z.size() == g.size() && q.size() == b.size());
    std::visit(
        [&](const auto& view) { both_products(view, b.data(), g.data(), z.data(), q.data()); }, X);
}

void moments(const DesignView& X, const Moments& out) {
    const std::int64_t n = n_rows(X), d = n_columns(X);
    assert(std::ssize(out.row_norm) == n && std::ssize(out.column_norm) == d);
    assert(std::ssize(out.sum) == d && std::ssize(out.square) == d && std::ssize(out.scale) == d);
    const DesignView sample = some_rows(X);
    const std::vector<double> ones(n, 1.0);
    column_squares(sample, std::span(ones).first(n_rows(sample)), out.scale);
    set_scales(out.scale);
    std::vector<double> inverse(d);
    double inverses = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        inverse[j] = 1.0 / (out.scale[j] * out.scale[j]);
        inverses += inverse[j];
    }
    multiply_transposed(X, ones, out.sum);
    column_squares(X, ones, out.square);
    row_squares(X, inverse, out.row_norm);
    const double margin = 1.0 + 0x1p-51 * static_cast<double>(n + d + 8);
    const double lost = static_cast<double>(n) * kDenormal;
    set_norms(out.square.data(), d, margin, lost, out.column_norm.data());
    over_stretches(n, [&](std::int64_t first, std::int64_t last) {
        double* norm = out.row_norm.data() + first;
        set_norms(norm, last - first, margin, inverses * kDenormal, norm);
    });
}

bool column_units(std::span<const double> mean, std::span<const double> square, bool centred,
                  std::span<double> shift, std::span<double> unit) {
    assert(square.size() == mean.size() && shift.size() == mean.size());
    assert(unit.size() == mean.size());
    bool any = false;
    for (std::size_t j = 0; j < mean.size(); ++j) {
        const double spread = square[j] - mean[j] * mean[j];
        const bool moves = centred && spread > kLeastSpread * square[j];
        const double root = std::sqrt(moves ? spread : square[j]);
        shift[j] = moves ? mean[j] : 0.0;
        unit[j] = root == 0 ? 1.0 : 1.0 / root;
        any = any || shift[j] != 0;
    }
    return any;
}

}  // namespace rectiline::design
