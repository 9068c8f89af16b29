#include "rectiline/gram.hpp"

#include "rectiline/row_access.hpp"
#include "rectiline/threads.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace rectiline {
namespace {

// Rows are scaled by sqrt(weight) into a packed block P (kDepth x ld); then H += P'P tile by tile.
// A tile is kTall x kWide: kTall * kWide / 8 vector registers of accumulators.
constexpr std::int64_t kDepth = 128, kTall = 4, kWide = 16;

#if defined(__GNUC__) || defined(__clang__)
#define RECTILINE_VECTOR_TILES 1
typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
#endif

// tile (kTall x kWide) += P[:, i:i+kTall]' P[:, j:j+kWide]
RECTILINE_INLINE void tile_product(const double* P, std::int64_t ld, std::int64_t depth,
                                   std::int64_t i, std::int64_t j, double* H, std::int64_t order) {
#ifdef RECTILINE_VECTOR_TILES
    Lanes acc[kTall][2] = {};
    for (std::int64_t k = 0; k < depth; ++k) {
        const double* row = P + k * ld;
        const Lanes b0 = *reinterpret_cast<const Lanes*>(row + j);
        const Lanes b1 = *reinterpret_cast<const Lanes*>(row + j + 8);
        for (int r = 0; r < kTall; ++r) {
            const double a = row[i + r];
            acc[r][0] += a * b0;
            acc[r][1] += a * b1;
        }
    }
    for (int r = 0; r < kTall; ++r)
        for (int half = 0; half < 2; ++half) {
            Lanes* target = reinterpret_cast<Lanes*>(H + (i + r) * order + j + 8 * half);
            *target += acc[r][half];
        }
#else
    for (std::int64_t r = 0; r < kTall; ++r)
        for (std::int64_t c = 0; c < kWide; ++c) {
            double sum = 0;
            for (std::int64_t k = 0; k < depth; ++k)
                sum += P[k * ld + i + r] * P[k * ld + j + c];
            H[(i + r) * order + j + c] += sum;
        }
#endif
}

// Adds the upper tiles of P'P to H; H has `order` columns, a multiple of kWide.
RECTILINE_MULTIVERSION void add_block(const double* P, std::int64_t order, std::int64_t depth,
                                      double* H) {
    for (std::int64_t j = 0; j < order; j += kWide)
        for (std::int64_t i = 0; i < j + kWide; i += kTall)
            tile_product(P, order, depth, i, j, H, order);
}

template <class T>
RECTILINE_MULTIVERSION void pack_row(const T* x, std::int64_t stride, std::int64_t d, double scale,
                                     double* out) {
    if (stride == 1) {
#pragma omp simd
        for (std::int64_t j = 0; j < d; ++j)
            out[j] = scale * static_cast<double>(x[j]);
    } else {
        for (std::int64_t j = 0; j < d; ++j)
            out[j] = scale * static_cast<double>(x[j * stride]);
    }
}

template <class T>
void dense_part(const DenseView<T>& X, const std::int64_t* rows, const double* weight,
                std::int64_t count, bool intercept, std::int64_t order, double* H) {
    std::vector<double> packed(static_cast<std::size_t>(kDepth * order), 0.0);
    for (std::int64_t first = 0; first < count; first += kDepth) {
        const std::int64_t depth = std::min(kDepth, count - first);
        for (std::int64_t k = 0; k < depth; ++k) {
            if (first + k + kRowsAhead < count) X.prefetch_row(rows[first + k + kRowsAhead]);
            const double scale = std::sqrt(weight[first + k]);
            double* out = packed.data() + k * order;
            pack_row(X.row(rows[first + k]), X.column_stride, X.d, scale, out);
            if (intercept) out[X.d] = scale;
        }
        add_block(packed.data(), order, depth, H);
    }
}

template <class T, class I>
void sparse_part(const SparseView<T, I>& X, const std::int64_t* rows, const double* weight,
                 std::int64_t count, bool intercept, std::int64_t order, double* H) {
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t i = rows[k];
        const I start = X.pointers[i], end = X.pointers[i + 1];
        for (I e = start; e < end; ++e) {
            const double v = weight[k] * static_cast<double>(X.values[e]);
            double* row = H + static_cast<std::int64_t>(X.indices[e]) * order;
            // canonical rows have increasing indices, so this stays in the upper half
            for (I f = e; f < end; ++f)
                row[X.indices[f]] += v * static_cast<double>(X.values[f]);
            if (intercept) row[X.d] += v;
        }
        if (intercept) H[X.d * order + X.d] += weight[k];
    }
}

}  // namespace

void weighted_gram(const DesignView& X, const std::int64_t* rows, const double* weight,
                   std::int64_t count, bool intercept, double* H, int n_threads) {
    const std::int64_t D = n_columns(X) + (intercept ? 1 : 0);
    const std::int64_t order = (D + kWide - 1) / kWide * kWide;
    const std::size_t size = static_cast<std::size_t>(order * order);
    // A chunk is worth a partial matrix of its own only if it holds many more rows than columns.
    const std::int64_t chunks =
        std::clamp<std::int64_t>(count / std::max<std::int64_t>(2048, 4 * D), 1, 8);
    std::vector<double> partial(size * static_cast<std::size_t>(chunks), 0.0);
    const std::int64_t share = (count + chunks - 1) / chunks;
    parallel_chunks(n_threads, chunks, [&](std::int64_t c) {
        const std::int64_t first = std::min(count, c * share),
                           last = std::min(count, first + share);
        double* target = partial.data() + static_cast<std::size_t>(c) * size;
        std::visit(
            [&]<class View>(const View& view) {
                if constexpr (requires { view.row_stride; })
                    dense_part(view, rows + first, weight + first, last - first, intercept, order,
                               target);
                else
                    sparse_part(view, rows + first, weight + first, last - first, intercept, order,
                                target);
            },
            X);
    });
    for (std::int64_t c = 1; c < chunks; ++c)
        for (std::size_t e = 0; e < size; ++e)
            partial[e] += partial[static_cast<std::size_t>(c) * size + e];
    for (std::int64_t i = 0; i < D; ++i)
        for (std::int64_t j = i; j < D; ++j)
            H[i * D + j] = H[j * D + i] = partial[i * order + j];
}

}  // namespace rectiline
