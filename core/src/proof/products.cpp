#include "rectiline/proof/products.hpp"

#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <cassert>

namespace rectiline::proof {
namespace {

constexpr int kLanes = 8;  // sums side by side, so that loops over one line of X become vectors

// Sums of products over one line of X.
class Lanes {
  public:
    RECTILINE_INLINE void add_product(int lane, double x, double y) {
        const Pair product = two_product(x, y), total = two_sum(hi_[lane], product.value);
        hi_[lane] = total.value;
        lo_[lane] += product.rest + total.rest;
        lost_[lane] += size_of(product.rest) + size_of(total.rest);
        size_[lane] += size_of(product.value);
    }
    RECTILINE_INLINE TwofoldSum total() const {
        TwofoldSum sum;
        for (int lane = 0; lane < kLanes; ++lane)
            sum.add(TwofoldSum{hi_[lane], lo_[lane], lost_[lane], size_[lane]});
        return sum;
    }

  private:
    double hi_[kLanes] = {}, lo_[kLanes] = {}, lost_[kLanes] = {}, size_[kLanes] = {};
};

template <class T>
RECTILINE_MULTIVERSION Twofold dense_dot(const T* x, std::int64_t stride, const double* y,
                                         std::int64_t count) {
    Lanes lanes;
    std::int64_t k = 0;
    if (stride == 1) {
        for (; k + kLanes <= count; k += kLanes)
            for (int lane = 0; lane < kLanes; ++lane)
                lanes.add_product(lane, static_cast<double>(x[k + lane]), y[k + lane]);
    }
    for (int lane = 0; k < count; ++k, lane = (lane + 1) % kLanes)
        lanes.add_product(lane, static_cast<double>(x[k * stride]), y[k]);
    return finished(lanes.total(), count);
}

template <class T, class I>
RECTILINE_MULTIVERSION Twofold twofold_dot(const SparseLine<T, I>& line, const double* y) {
    Lanes lanes;
    const T* x = line.values.data();
    const I* index = line.indices.data();
    const std::int64_t count = line.size();
    for (std::int64_t k = 0; k < count; ++k)
        lanes.add_product(static_cast<int>(k % kLanes), static_cast<double>(x[k]), y[index[k]]);
    return finished(lanes.total(), count);
}

RECTILINE_INLINE void add_product_to(const TwofoldVector& sums, std::int64_t j, double x,
                                     double y) {
    const Pair product = two_product(x, y), total = two_sum(sums.hi[j], product.value);
    sums.hi[j] = total.value;
    sums.lo[j] += product.rest + total.rest;
    sums.error[j] += size_of(product.rest) + size_of(total.rest);  // the `lost` of an open sum
    sums.size[j] += size_of(product.value);
}

template <class T>
RECTILINE_MULTIVERSION void dense_axpy(double a, const T* x, std::int64_t stride,
                                       std::int64_t count, const TwofoldVector& sums) {
    const TwofoldVector to = sums;
#pragma omp simd
    for (std::int64_t j = 0; j < count; ++j)
        add_product_to(to, j, a, static_cast<double>(x[j * stride]));
}

template <class T, class I>
RECTILINE_MULTIVERSION void twofold_axpy(double a, const SparseLine<T, I>& line,
                                         const TwofoldVector& sums) {
    for (std::int64_t k = 0; k < line.size(); ++k)
        add_product_to(sums, static_cast<std::int64_t>(line.indices[k]), a,
                       static_cast<double>(line.values[k]));
}

void open(const TwofoldVector& sums) {
    for (double* part : {sums.hi, sums.lo, sums.error, sums.size})
        std::fill(part, part + sums.n, 0.0);
}

// `count`: how many terms were added to each.
void finish(const TwofoldVector& sums, std::int64_t count) {
    for (std::int64_t j = 0; j < sums.n; ++j)
        sums.set(j, finished({sums.hi[j], sums.lo[j], sums.error[j], sums.size[j]}, count));
}

// One sum per line of X, lines dealt out to threads: every sum is made by one of them.
template <class Line>
void each_line(std::int64_t n_lines, const Line& line) {
    constexpr std::int64_t kChunk = 512;
    parallel_chunks((n_lines + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
        const std::int64_t last = std::min(n_lines, (chunk + 1) * kChunk);
        for (std::int64_t i = chunk * kChunk; i < last; ++i)
            line(i);
    });
}

// out_line = sum over the line of entries times `in`.
template <class T>
void gather(const DenseView<T>& X, bool by_rows, const double* in, const TwofoldVector& out) {
    const std::int64_t n_lines = by_rows ? X.n : X.d, length = by_rows ? X.d : X.n;
    const std::int64_t next = by_rows ? X.row_stride : X.column_stride;
    const std::int64_t stride = by_rows ? X.column_stride : X.row_stride;
    each_line(n_lines, [&](std::int64_t i) {
        out.set(i, dense_dot(X.data + i * next, stride, in, length));
    });
}

// out = sum over lines of `in` times the line.
template <class T>
void scatter(const DenseView<T>& X, bool by_rows, const double* in, const TwofoldVector& out) {
    const std::int64_t n_lines = by_rows ? X.n : X.d, length = by_rows ? X.d : X.n;
    const std::int64_t next = by_rows ? X.row_stride : X.column_stride;
    const std::int64_t stride = by_rows ? X.column_stride : X.row_stride;
    open(out);
    for (std::int64_t i = 0; i < n_lines; ++i)
        if (in[i] != 0) dense_axpy(in[i], X.data + i * next, stride, length, out);
    finish(out, n_lines);
}

template <class T, class I>
void gather(const SparseView<T, I>& X, bool, const double* in, const TwofoldVector& out) {
    each_line(out.n, [&](std::int64_t i) { out.set(i, twofold_dot(X.line(i), in)); });
}

template <class T, class I>
void scatter(const SparseView<T, I>& X, bool, const double* in, const TwofoldVector& out) {
    const std::int64_t n_lines = X.by_rows ? X.n : X.d;
    open(out);
    for (std::int64_t i = 0; i < n_lines; ++i)
        if (in[i] != 0) twofold_axpy(in[i], X.line(i), out);
    finish(out, n_lines);
}

template <class T>
bool lies_by_rows(const DenseView<T>& X) {
    return X.rows_contiguous();
}
template <class T, class I>
bool lies_by_rows(const SparseView<T, I>& X) {
    return X.by_rows;
}

// Eight sums side by side, in plain arrays: compilers make vector code of that.
RECTILINE_MULTIVERSION TwofoldSum sum_in_lanes(const double* x, std::int64_t n_blocks) {
    double hi[kLanes] = {}, lo[kLanes] = {}, lost[kLanes] = {}, size[kLanes] = {};
    for (std::int64_t k = 0; k < n_blocks; ++k) {
        const double* block = x + k * kLanes;
#pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane) {
            const double old = hi[lane], next = old + block[lane], part = next - old;
            const double rest = (old - (next - part)) + (block[lane] - part);
            hi[lane] = next, lo[lane] += rest;
            lost[lane] += size_of(rest), size[lane] += size_of(block[lane]);
        }
    }
    TwofoldSum total;
    for (int lane = 0; lane < kLanes; ++lane)
        total.add(TwofoldSum{hi[lane], lo[lane], lost[lane], size[lane]});
    return total;
}

}  // namespace

void multiply(const DesignView& X, std::span<const double> b, const TwofoldVector& z) {
    assert(std::ssize(b) == n_columns(X) && z.n == n_rows(X));
    std::visit(
        [&](const auto& view) {
            if (lies_by_rows(view))
                gather(view, true, b.data(), z);
            else
                scatter(view, false, b.data(), z);
        },
        X);
}

void multiply_transposed(const DesignView& X, std::span<const double> g, const TwofoldVector& q) {
    assert(std::ssize(g) == n_rows(X) && q.n == n_columns(X));
    std::visit(
        [&](const auto& view) {
            if (lies_by_rows(view))
                scatter(view, true, g.data(), q);
            else
                gather(view, false, g.data(), q);
        },
        X);
}

Twofold sum(std::span<const double> x) {
    const std::int64_t n = std::ssize(x);
    TwofoldSum total = sum_in_lanes(x.data(), n / kLanes);
    for (std::int64_t i = n - n % kLanes; i < n; ++i)
        total.add(x[i]);
    return finished(total, n);
}

}  // namespace rectiline::proof
