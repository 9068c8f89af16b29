// Bounds on the errors of products in plain doubles: a sum of k products is off by at most gamma(k)
// times the sum of their absolute values, for any order of summation (Higham, "Accuracy and
// Stability of Numerical Algorithms", section 3.1), and norms bound that sum.
#include "rectiline/proof/measure.hpp"

#include "rectiline/support/threads.hpp"
#include "rectiline/support/vectors.hpp"

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

// X times `in`, or X' times it: the lines that X is stored by are gathered, or scattered.
void product(const DesignView& X, bool transposed, std::span<const double> in,
             const TwofoldVector& out) {
    std::visit(
        [&](const auto& view) {
            bool by_rows = false;
            if constexpr (requires { view.by_rows; })
                by_rows = view.by_rows;
            else
                by_rows = view.rows_contiguous();
            if (by_rows != transposed)
                gather(view, by_rows, in.data(), out);
            else
                scatter(view, by_rows, in.data(), out);
        },
        X);
}

RECTILINE_MULTIVERSION TwofoldSum sum_in_lanes(const double* x, std::int64_t n_blocks) {
    Lanes lanes;
    for (std::int64_t k = 0; k < n_blocks; ++k)
#pragma omp simd
        for (int lane = 0; lane < kLanes; ++lane)
            lanes.add(lane, {x[k * kLanes + lane], 0.0});
    return lanes.total();
}

constexpr double kMinimum = 0x1p-1022;  // squares below this may lose all their digits

RECTILINE_MULTIVERSION double sum_of_squares(const double* x, const double* scale, std::int64_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i)
        sum += (scale[i] * x[i]) * (scale[i] * x[i]);
    return sum;
}

// An upper bound on the Euclidean norm of x, or of scale * x; infinite where squares overflow.
double norm_bound(std::span<const double> x, std::span<const double> scale = {}) {
    const std::int64_t n = std::ssize(x);
    const double squares = scale.empty() ? support::product(x.data(), x.data(), n)
                                         : sum_of_squares(x.data(), scale.data(), n);
    const double sum = squares + static_cast<double>(n) * kMinimum;
    return sum < kInfinity ? std::sqrt(sum) * (1 + gamma(x.size() + 2)) : kInfinity;
}

RECTILINE_MULTIVERSION void set_arguments(const RowFunctions& rows, const double* z,
                                          double intercept, const double* row_norm, double factor,
                                          std::int64_t first, std::int64_t last, double* argument,
                                          double* radius) {
    const double shift = size_of(intercept);
    for (std::int64_t i = first; i < last; ++i) {
        const double sizes = size_of(z[i]) + shift + size_of(rows.offset[i]);
        argument[i] = rows.argument(i, z[i] + intercept);
        radius[i] = factor * row_norm[i] + 4 * kUnit * sizes;
    }
}

// Arguments of predictions in twofold arithmetic, rounded once at the end.
void set_twofold_arguments(const RowFunctions& rows, const TwofoldVector& z, double intercept,
                           PairProducts out) {
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double turn = rows.direction[i];
        const Pair first = two_sum(rows.offset[i], turn * z.hi[i]);
        const Pair second = two_sum(first.value, turn * intercept);
        const double rests = (first.rest + second.rest) + turn * z.lo[i];
        const double sizes = size_of(first.rest) + size_of(second.rest) + size_of(z.lo[i]);
        const Pair total = two_sum(second.value, rests);
        out.argument[i] = total.value;
        out.radius[i] = size_of(total.rest) + z.error[i] + 4 * kUnit * sizes;
    }
}

double entry(std::span<const double> values, std::size_t j) {
    return values.empty() ? 0.0 : values[j];
}

void set_undefined_errors(std::span<double> error) {
    for (double& one : error)
        if (!(one >= 0)) one = kInfinity;
}

}  // namespace

void multiply(const DesignView& X, std::span<const double> b, const TwofoldVector& z) {
    assert(std::ssize(b) == n_columns(X) && z.n == n_rows(X));
    product(X, false, b, z);
}

void multiply_transposed(const DesignView& X, std::span<const double> g, const TwofoldVector& q) {
    assert(std::ssize(g) == n_rows(X) && q.n == n_columns(X));
    product(X, true, g, q);
}

Twofold sum(std::span<const double> x) {
    const std::int64_t n = std::ssize(x);
    TwofoldSum total = sum_in_lanes(x.data(), n / kLanes);
    for (std::int64_t i = n - n % kLanes; i < n; ++i)
        total.add(x[i]);
    return finished(total, n);
}

double gamma(std::size_t count) {
    return 1.01 * (static_cast<double>(count) + 4) * kUnit;
}

void measure_plain(const RowFunctions& rows, const Candidate& pair, std::span<const double> z,
                   std::span<const double> image, const DesignNorms& norms, const Shift& shift,
                   PairProducts out) {
    const auto [b, intercept, g] = pair;
    assert(std::ssize(z) == rows.n && norms.row.size() == z.size() && image.size() == b.size());
    assert(norms.scale.size() == b.size() && norms.column.size() == b.size());
    const double reach = gamma(b.size()) * norm_bound(b, norms.scale);
    over_stretches(rows.n, [&](std::int64_t first, std::int64_t last) {
        set_arguments(rows, z.data(), intercept, norms.row.data(), reach, first, last,
                      out.argument.data(), out.radius.data());
    });
    const double slope = gamma(g.size()) * norm_bound(g);
    for (std::size_t j = 0; j < b.size(); ++j) {
        out.q[j] = entry(shift.value, j) - image[j];
        out.error[j] = slope * norms.column[j] + 2 * kUnit * size_of(out.q[j]);
        out.error[j] += size_of(entry(shift.rest, j)) + entry(shift.error, j);
    }
    set_undefined_errors(out.error);
}

void measure_twofold(const DesignView& X, const RowFunctions& rows, const Candidate& pair,
                     const Shift& shift, PairProducts out) {
    const auto [b, intercept, g] = pair;
    const std::size_t n = g.size(), d = b.size();
    std::vector<double> space(4 * std::max(n, d));
    const auto vector = [&](std::size_t size) {
        double* at = space.data();
        return TwofoldVector{static_cast<std::int64_t>(size), at, at + size, at + 2 * size,
                             at + 3 * size};
    };
    multiply(X, b, vector(n));
    set_twofold_arguments(rows, vector(n), intercept, out);
    const TwofoldVector image = vector(d);
    multiply_transposed(X, g, image);
    for (std::size_t j = 0; j < d; ++j) {
        const auto [hi, lo, error, size] = image[static_cast<std::int64_t>(j)];
        const double rest = entry(shift.rest, j);
        const Pair sum = two_sum(entry(shift.value, j), -hi);
        const Pair total = two_sum(sum.value, (sum.rest - lo) + rest);
        out.q[j] = total.value;
        out.error[j] = size_of(total.rest) + error + entry(shift.error, j) +
                       9 * kUnit * (size_of(sum.rest) + size_of(lo) + size_of(rest));
    }
    set_undefined_errors(out.error);
}

BoundedSum bounded_sum(std::span<const double> g) {
    const Twofold total = sum(g);
    return {total.hi, total.error + size_of(total.lo)};
}

}  // namespace rectiline::proof
