// The part of X that belongs to a chunk of rows: products with it, whatever its storage.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/passes/row_kernels.hpp"
#include "rectiline/rooms.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::passes {

// Dense rows are turned first: column j of the chunk lies at tile + j * kTileStride, whatever the
// order and the precision of X. Products with several vectors, and sums over the rows, are then
// loops over neighbouring numbers.
constexpr std::int64_t kTileStride = kChunk + 8;  // columns do not share the sets of a cache
constexpr int kSide = 32;                         // rows whose sums stay in registers

#if defined(__GNUC__) && !defined(__clang__)
#define RECTILINE_QUADS 1
typedef double Quad __attribute__((vector_size(32), aligned(8), may_alias));

template <class T>
RECTILINE_INLINE Quad load_quad(const T* x) {
    return Quad{static_cast<double>(x[0]), static_cast<double>(x[1]), static_cast<double>(x[2]),
                static_cast<double>(x[3])};
}
RECTILINE_INLINE Quad load_quad(const double* x) {
    return *reinterpret_cast<const Quad*>(x);
}

// Four rows by four columns, turned.
template <class T>
RECTILINE_INLINE void turn_four(const T* x, std::int64_t stride, double* tile) {
    typedef long long Places __attribute__((vector_size(32)));
    const Quad a = load_quad(x), b = load_quad(x + stride), c = load_quad(x + 2 * stride),
               d = load_quad(x + 3 * stride);
    const Quad ab = __builtin_shuffle(a, b, Places{0, 4, 2, 6});
    const Quad ba = __builtin_shuffle(a, b, Places{1, 5, 3, 7});
    const Quad cd = __builtin_shuffle(c, d, Places{0, 4, 2, 6});
    const Quad dc = __builtin_shuffle(c, d, Places{1, 5, 3, 7});
    *reinterpret_cast<Quad*>(tile) = __builtin_shuffle(ab, cd, Places{0, 1, 4, 5});
    *reinterpret_cast<Quad*>(tile + kTileStride) = __builtin_shuffle(ba, dc, Places{0, 1, 4, 5});
    *reinterpret_cast<Quad*>(tile + 2 * kTileStride) =
        __builtin_shuffle(ab, cd, Places{2, 3, 6, 7});
    *reinterpret_cast<Quad*>(tile + 3 * kTileStride) =
        __builtin_shuffle(ba, dc, Places{2, 3, 6, 7});
}
#endif

template <class T>
RECTILINE_INLINE void turn_rows(const T* x, std::int64_t stride, std::int64_t count, std::int64_t d,
                                double* tile) {
    std::int64_t r = 0;
#ifdef RECTILINE_QUADS
    for (; r + 4 <= count; r += 4) {
        const T* rows = x + r * stride;
        std::int64_t j = 0;
        for (; j + 4 <= d; j += 4)
            turn_four(rows + j, stride, tile + j * kTileStride + r);
        for (; j < d; ++j)
            for (int k = 0; k < 4; ++k)
                tile[j * kTileStride + r + k] = static_cast<double>(rows[k * stride + j]);
    }
#endif
    for (; r < count; ++r)
        for (std::int64_t j = 0; j < d; ++j)
            tile[j * kTileStride + r] = static_cast<double>(x[r * stride + j]);
}

template <class T>
RECTILINE_MULTIVERSION void fill_tile(const DenseView<T>& X, std::int64_t first, std::int64_t count,
                                      double* tile) {
    if (X.rows_contiguous()) {
        turn_rows(X.row(first), X.row_stride, count, X.d, tile);
    } else {
        for (std::int64_t j = 0; j < X.d; ++j) {
            const T* column = X.row(first) + j * X.column_stride;
            for (std::int64_t r = 0; r < count; ++r)
                tile[j * kTileStride + r] = static_cast<double>(column[r * X.row_stride]);
        }
    }
    for (std::int64_t j = 0; count < kChunk && j < X.d; ++j)  // so that all rows may be summed
        std::fill(tile + j * kTileStride + count, tile + j * kTileStride + kChunk, 0.0);
}

// z = X b + shift, or |X| b + shift
template <bool Absolute>
RECTILINE_MULTIVERSION void tile_product(const double* tile, std::int64_t d, const double* b,
                                         double shift, double* z) {
    for (std::int64_t i = 0; i < kChunk; i += kSide) {
        double sum[kSide];
        std::fill(sum, sum + kSide, shift);
        for (std::int64_t j = 0; j < d; ++j) {
            const double* x = tile + j * kTileStride + i;
            const double v = b[j];
#pragma omp simd
            for (int k = 0; k < kSide; ++k)
                sum[k] += v * (Absolute && x[k] < 0 ? -x[k] : x[k]);
        }
        std::copy(sum, sum + kSide, z + i);
    }
}

// length_i = sum_j (scale_j (x_ij - mean_j))^2
RECTILINE_MULTIVERSION inline void tile_lengths(const double* tile, std::int64_t d,
                                                const double* scale, const double* mean,
                                                double* length) {
    for (std::int64_t i = 0; i < kChunk; i += kSide) {
        double sum[kSide] = {};
        for (std::int64_t j = 0; j < d; ++j) {
            const double* x = tile + j * kTileStride + i;
            const double v = scale[j], c = mean[j];
#pragma omp simd
            for (int k = 0; k < kSide; ++k) {
                const double part = v * (x[k] - c);
                sum[k] += part * part;
            }
        }
        std::copy(sum, sum + kSide, length + i);
    }
}

// squares += squares of the products of some directions with kPicked rows, which lie side by side.
constexpr int kPicked = 8;
template <int Directions>
RECTILINE_INLINE void add_squares(const double* directions, std::int64_t d, bool shift,
                                  const double* picked, double* squares) {
    const std::int64_t order = d + (shift ? 1 : 0);
    double moved[Directions][kPicked];
    for (int c = 0; c < Directions; ++c)
        for (int k = 0; k < kPicked; ++k)
            moved[c][k] = shift ? directions[c * order + d] : 0.0;
    for (std::int64_t j = 0; j < d; ++j)
        for (int c = 0; c < Directions; ++c) {
            const double v = directions[c * order + j];
#pragma omp simd
            for (int k = 0; k < kPicked; ++k)
                moved[c][k] += v * picked[j * kPicked + k];
        }
    for (int c = 0; c < Directions; ++c)
        for (int k = 0; k < kPicked; ++k)
            squares[k] += moved[c][k] * moved[c][k];
}

// Squared lengths of (directions x) for kPicked rows; `shift`: directions have one more column,
// which is multiplied by 1.
RECTILINE_MULTIVERSION inline void picked_squares(std::span<const double> directions,
                                                  std::int64_t d, bool shift, const double* picked,
                                                  double* squares) {
    const std::int64_t order = d + (shift ? 1 : 0), count = std::ssize(directions) / order;
    double sums[kPicked] = {};
    std::int64_t c = 0;
    for (; c + 4 <= count; c += 4)
        add_squares<4>(directions.data() + c * order, d, shift, picked, sums);
    for (; c < count; ++c)
        add_squares<1>(directions.data() + c * order, d, shift, picked, sums);
    std::copy(sums, sums + kPicked, squares);
}

// q += X'g for the few rows with g != 0
inline void add_tile_rows(const double* tile, std::int64_t d, const double* g, std::int64_t count,
                          double* q) {
    for (std::int64_t r = 0; r < count; ++r) {
        if (g[r] == 0) continue;
        for (std::int64_t j = 0; j < d; ++j)
            q[j] += g[r] * tile[j * kTileStride + r];
    }
}

constexpr int kLanesOfSums = 8;  // rows that sums over a column are taken of side by side

// q += X'g, or |X|'g, for some neighbouring columns.
template <int Columns, bool Absolute>
RECTILINE_INLINE void add_columns(const double* x, const double* g, double* q) {
    double lanes[Columns][kLanesOfSums] = {};
    for (std::int64_t i = 0; i < kChunk; i += kLanesOfSums)
        for (int c = 0; c < Columns; ++c) {
            const double* column = x + c * kTileStride + i;
#pragma omp simd
            for (int k = 0; k < kLanesOfSums; ++k)
                lanes[c][k] += g[i + k] * (Absolute && column[k] < 0 ? -column[k] : column[k]);
        }
    for (int c = 0; c < Columns; ++c) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int k = 0; k < kLanesOfSums; ++k)
            sum += lanes[c][k];
        q[c] += sum;
    }
}

// q += X'g, or |X|'g; g is zero beyond the rows that count.
template <bool Absolute>
RECTILINE_MULTIVERSION void add_tile(const double* tile, std::int64_t d, const double* g,
                                     double* q) {
    std::int64_t j = 0;
    for (; j + 4 <= d; j += 4)
        add_columns<4, Absolute>(tile + j * kTileStride, g, q + j);
    for (; j < d; ++j)
        add_columns<1, Absolute>(tile + j * kTileStride, g, q + j);
}

template <class T>
class DenseChunk {
  public:
    explicit DenseChunk(const DenseView<T>& X)
        : X_(X), tile_(static_cast<std::size_t>(kTileStride * X.d)) {}
    void load(std::int64_t first, std::int64_t count) {
        count_ = count;
        fill_tile(X_, first, count, tile_.data());
        if (X_.rows_contiguous()) {  // the next chunk comes while this one is worked off
            const std::int64_t next = std::min(first + count + kChunk, X_.n);
            const std::int64_t bytes = X_.d * static_cast<std::int64_t>(sizeof(T));
            for (std::int64_t r = first + count; r < next; ++r)
                prefetch_bytes(X_.row(r), bytes);
        }
    }
    void product(const double* b, double shift, double* z) const {
        tile_product<false>(tile_.data(), X_.d, b, shift, z);
    }
    // size = |X| b + shift
    void size_product(const double* b, double shift, double* size) const {
        tile_product<true>(tile_.data(), X_.d, b, shift, size);
    }
    void lengths(const double* scale, const double* mean, double* length) const {
        tile_lengths(tile_.data(), X_.d, scale, mean, length);
    }
    // q += X'g; what the chunk adds has a sum of its own.
    void add(const double* g, double* q) { add_tile<false>(tile_.data(), X_.d, g, q); }
    // q += X'g for few rows with g != 0.
    void add_few(const double* g, double* q) const {
        add_tile_rows(tile_.data(), X_.d, g, count_, q);
    }
    void add_sizes(const double* weight, double* sizes) const {
        double padded[kChunk] = {};
        std::copy(weight, weight + count_, padded);
        add_tile<true>(tile_.data(), X_.d, padded, sizes);
    }
    // Squared lengths of (directions x) for some rows.
    void squared_lengths(std::span<const int> rows, std::span<const double> directions, bool shift,
                         double* squares) {
        picked_.resize(static_cast<std::size_t>(X_.d * kPicked));
        double found[kPicked];
        for (std::size_t first = 0; first < rows.size(); first += kPicked) {
            const std::size_t some = std::min<std::size_t>(kPicked, rows.size() - first);
            for (std::int64_t j = 0; j < X_.d; ++j)
                for (std::size_t k = 0; k < some; ++k)
                    picked_[static_cast<std::size_t>(j * kPicked) + k] =
                        tile_[static_cast<std::size_t>(j * kTileStride + rows[first + k])];
            picked_squares(directions, X_.d, shift, picked_.data(), found);
            std::copy(found, found + some, squares + first);
        }
    }

  private:
    const DenseView<T>& X_;
    std::int64_t count_ = 0;
    std::vector<double> tile_, picked_;
};

// Compressed sparse rows.
template <class T, class I>
class SparseChunk {
  public:
    explicit SparseChunk(const SparseView<T, I>& X) : X_(X), sums_(static_cast<std::size_t>(X.d)) {}
    void load(std::int64_t first, std::int64_t count) { first_ = first, count_ = count; }
    void product(const double* b, double shift, double* z) const {
        for (std::int64_t r = 0; r < count_; ++r)
            z[r] = sparse_dot(line(r), b) + shift;
    }
    void size_product(const double* b, double shift, double* size) const {
        for (std::int64_t r = 0; r < count_; ++r) {
            double sum = shift;
            for (I k = X_.pointers[first_ + r]; k < X_.pointers[first_ + r + 1]; ++k)
                sum += std::fabs(static_cast<double>(X_.values[k])) * b[X_.indices[k]];
            size[r] = sum;
        }
    }
    void add(const double* g, double* q) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        add_few(g, sums_.data());
        for (std::size_t j = 0; j < sums_.size(); ++j)
            q[j] += sums_[j];
    }
    void add_few(const double* g, double* q) const {
        for (std::int64_t r = 0; r < count_; ++r)
            if (g[r] != 0) sparse_axpy(g[r], line(r), q);
    }
    void lengths(const double* scale, const double* mean, double* length) const {
        for (std::int64_t r = 0; r < count_; ++r) {
            double sum = 0;
            for (I k = X_.pointers[first_ + r]; k < X_.pointers[first_ + r + 1]; ++k) {
                const I j = X_.indices[k];
                const double part = scale[j] * (static_cast<double>(X_.values[k]) - mean[j]);
                sum += part * part;
            }
            length[r] = sum;
        }
    }
    void add_sizes(const double* weight, double* sizes) const {
        for (std::int64_t r = 0; r < count_; ++r)
            for (I k = X_.pointers[first_ + r]; k < X_.pointers[first_ + r + 1]; ++k)
                sizes[X_.indices[k]] += weight[r] * std::fabs(static_cast<double>(X_.values[k]));
    }
    void squared_lengths(std::span<const int> rows, std::span<const double> directions, bool shift,
                         double* squares) const {
        const double* end = directions.data() + directions.size();
        for (std::size_t k = 0; k < rows.size(); ++k) {
            squares[k] = 0;
            for (const double* v = directions.data(); v < end; v += X_.d + (shift ? 1 : 0)) {
                const double moved = sparse_dot(line(rows[k]), v) + (shift ? v[X_.d] : 0.0);
                squares[k] += moved * moved;
            }
        }
    }

  private:
    SparseLine<T, I> line(std::int64_t r) const { return X_.line(first_ + r); }

    const SparseView<T, I>& X_;
    std::int64_t first_ = 0, count_ = 0;
    std::vector<double> sums_;  // of a chunk
};

// Calls use(chunk) with the access that fits the view. Sparse views must be by rows.
template <class Use>
void with_chunk_access(const DesignView& X, Use&& use) {
    std::visit(
        [&]<class View>(const View& view) {
            if constexpr (requires { view.row_stride; }) {
                using T = std::remove_cv_t<std::remove_pointer_t<decltype(view.data)>>;
                DenseChunk<T> chunk(view);
                use(chunk);
            } else {
                using T = std::remove_cv_t<std::remove_pointer_t<decltype(view.values)>>;
                using I = std::remove_cv_t<std::remove_pointer_t<decltype(view.indices)>>;
                SparseChunk<T, I> chunk(view);
                use(chunk);
            }
        },
        X);
}

}  // namespace rectiline::passes
