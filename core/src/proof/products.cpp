#include "rectiline/proof/products.hpp"

#include "rectiline/support/threads.hpp"

#include <cassert>

namespace rectiline::proof {
namespace {

constexpr int kLanes = 8;  // sums side by side, so that loops over one line of X become vectors

// Eight sums in plain arrays: compilers make vector code of that.
class Lanes {
  public:
    RECTILINE_INLINE void add(int lane, Pair term) {
        add_term(term, hi_[lane], lo_[lane], lost_[lane], size_[lane]);
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

// A row or a column of X: `count` entries, and which entry of the other factor each belongs to.
template <class T, bool InOnePiece>
struct DenseEntries {
    const T* x;
    std::int64_t stride, count;
    double value(std::int64_t k) const {
        return static_cast<double>(x[InOnePiece ? k : k * stride]);
    }
    std::int64_t index(std::int64_t k) const { return k; }
};

template <class T, class I>
struct SparseEntries {
    const T* x;
    const I* at;
    std::int64_t count;
    double value(std::int64_t k) const { return static_cast<double>(x[k]); }
    std::int64_t index(std::int64_t k) const { return static_cast<std::int64_t>(at[k]); }
};

// Calls work(entries) for line i: a row or, if not by rows, a column.
template <class T, class Work>
void with_line(const DenseView<T>& X, bool by_rows, std::int64_t i, const Work& work) {
    const T* x = X.data + i * (by_rows ? X.row_stride : X.column_stride);
    const std::int64_t stride = by_rows ? X.column_stride : X.row_stride;
    const std::int64_t count = by_rows ? X.d : X.n;
    stride == 1 ? work(DenseEntries<T, true>{x, 1, count})
                : work(DenseEntries<T, false>{x, stride, count});
}

template <class T, class I, class Work>
void with_line(const SparseView<T, I>& X, bool, std::int64_t i, const Work& work) {
    const auto line = X.line(i);
    work(SparseEntries<T, I>{line.values.data(), line.indices.data(), line.size()});
}

template <class Entries>
RECTILINE_MULTIVERSION Twofold dot(const Entries& line, const double* y) {
    Lanes lanes;
    std::int64_t k = 0;
    for (; k + kLanes <= line.count; k += kLanes)
        for (int lane = 0; lane < kLanes; ++lane)
            lanes.add(lane, two_product(line.value(k + lane), y[line.index(k + lane)]));
    for (int lane = 0; k < line.count; ++k, ++lane)
        lanes.add(lane, two_product(line.value(k), y[line.index(k)]));
    return finished(lanes.total(), line.count);
}

// Adds to open sums, whose `error` is what TwofoldSum calls lost. No index occurs twice.
template <class Entries>
RECTILINE_MULTIVERSION void axpy(double a, const Entries& line, const TwofoldVector& sums) {
    const TwofoldVector to = sums;
#pragma omp simd
    for (std::int64_t k = 0; k < line.count; ++k) {
        const std::int64_t j = line.index(k);
        add_term(two_product(a, line.value(k)), to.hi[j], to.lo[j], to.error[j], to.size[j]);
    }
}

// out_line = sum over the line of entries times `in`. Lines are dealt out to threads: every sum is
// made by one of them.
template <class View>
void gather(const View& X, bool by_rows, const double* in, const TwofoldVector& out) {
    constexpr std::int64_t kChunk = 512;
    parallel_chunks((out.n + kChunk - 1) / kChunk, [&](std::int64_t chunk) {
        const std::int64_t last = std::min(out.n, (chunk + 1) * kChunk);
        for (std::int64_t i = chunk * kChunk; i < last; ++i)
            with_line(X, by_rows, i, [&](const auto& line) { out.set(i, dot(line, in)); });
    });
}

// out = sum over lines of `in` times the line.
template <class View>
void scatter(const View& X, bool by_rows, const double* in, const TwofoldVector& out) {
    const std::int64_t n_lines = by_rows ? X.n : X.d;
    for (double* part : {out.hi, out.lo, out.error, out.size})
        std::fill(part, part + out.n, 0.0);
    for (std::int64_t i = 0; i < n_lines; ++i)
        if (in[i] != 0) with_line(X, by_rows, i, [&](const auto& line) { axpy(in[i], line, out); });
    for (std::int64_t j = 0; j < out.n; ++j)
        out.set(j, finished({out.hi[j], out.lo[j], out.error[j], out.size[j]}, n_lines));
}

template <class T>
bool lies_by_rows(const DenseView<T>& X) {
    return X.rows_contiguous();
}
template <class T, class I>
bool lies_by_rows(const SparseView<T, I>& X) {
    return X.by_rows;
}

RECTILINE_MULTIVERSION TwofoldSum sum_in_lanes(const double* x, std::int64_t n_blocks) {
    Lanes lanes;
    for (std::int64_t k = 0; k < n_blocks; ++k)
#pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            lanes.add(lane, {x[k * kLanes + lane], 0.0});
    return lanes.total();
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
