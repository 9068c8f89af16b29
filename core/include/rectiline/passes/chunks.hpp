// A chunk of dense rows, for passes: sums over its columns and over its rows.
#pragma once

#include "rectiline/design/dense_rows.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/passes/pass.hpp"
#include "rectiline/rows/packed_curve.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/lanes.hpp"
#include "rectiline/support/vectors.hpp"

#include <iterator>
#include <numeric>

namespace rectiline::passes {

// ---- rows without X -----------------------------------------------------------------------------

// What a pass does per row once predictions are known: loops over a chunk of rows without X.

constexpr std::int64_t kChunk = 64;  // rows whose part of X stays in a cache

// One chunk. Inputs: predictions z and z_split, the sizes of the terms of z, the sums that bound
// the squared lengths of rows; which rows are left out, and which are near in any case. Outputs:
// multipliers g of frozen rows, slack to the nearest knot, the rows to look at closely and their
// squared lengths, and for the next split the slopes g_next and weights times curvatures before and
// after.
struct Chunk {
    std::int64_t count = 0;
    double z[kChunk], z_split[kChunk], size[kChunk], listed[kChunk], kept[kChunk];
    double g[kChunk], g_next[kChunk], curved[kChunk], curved_next[kChunk], slack[kChunk];
    double crossed[kChunk], length[kChunk], close[kChunk];
    int candidates[kChunk];
};

// Evaluates the rows of a chunk that are not listed. `unit`: bound on the relative error of a
// prediction against the sizes of its terms. The Fenchel-Young term is convex in the argument, so
// the larger of its values at both ends of the argument's error is an upper bound. Adds to the sums
// over rows, and raises the steepest slope.
template <class Curves>
RECTILINE_MULTIVERSION void evaluate_rows(const Curves& curves, const rows::RowFunctions& rows,
                                          std::int64_t first, double unit, Chunk& c, RowSums& sums,
                                          double& largest) {
    const Curves of = curves;
    const double *direction = rows.direction + first, *offset = rows.offset + first;
    const double* weight = rows.weight + first;
    double loss = 0, gap = 0, error = 0, total = 0, size = 0, steepest = 0, all = 0;
#pragma omp simd reduction(+ : loss, gap, error, total, size, all) reduction(max : steepest)
    for (std::int64_t i = 0; i < c.count; ++i) {
        const auto& f = of[first + i];
        const double w = weight[i] * (1.0 - c.listed[i]);
        const double t = direction[i] * c.z[i] + offset[i];
        const auto frozen = f.quadratic_at(direction[i] * c.z_split[i] + offset[i]);
        const double s = f.nearest_slope(frozen.slope_at(t)), q = frozen.curvature;
        const double own = f.slope_at(t);
        const double err = unit * (c.size[i] + size_of(offset[i]));
        const double worst = larger(f.fenchel_young(t - err, s), f.fenchel_young(t + err, s));
        const double slope = larger(size_of(s), size_of(own));
        loss += w * f.loss(t);
        gap += w * worst;
        error += w * err;
        all += w;
        steepest = larger(steepest, w > 0 ? slope : 0.0);
        c.crossed[i] = s != own ? 1.0 : 0.0;
        const double g = direction[i] * w * s;
        c.g[i] = g;
        c.curved[i] = w * q;
        total += g, size += size_of(g);
    }
    const double found[] = {loss, gap, error, total, size, all};
    for (std::size_t k = 0; k < std::size(found); ++k)
        sums[k] += found[k];
    largest = larger(largest, steepest);
}

// Slopes, curvatures and slack at the candidate, for the next split.
template <class Curves>
RECTILINE_MULTIVERSION void look_at_rows(const Curves& curves, const rows::RowFunctions& rows,
                                         std::int64_t first, Chunk& c) {
    const Curves of = curves;
    const double *direction = rows.direction + first, *offset = rows.offset + first;
    const double* weight = rows.weight + first;
#pragma omp simd
    for (std::int64_t i = 0; i < c.count; ++i) {
        const auto& f = of[first + i];
        const double t = direction[i] * c.z[i] + offset[i];
        c.slack[i] = f.slack(t);
        c.g_next[i] =
            direction[i] * weight[i] * f.slope_at(t) + 0.0 * t;  // shows what is not finite
        c.curved_next[i] = weight[i] * f.curvature_at(t);
    }
}

// Lists the rows that are to be looked at closely: those with a weight that are within reach of a
// knot by the bound on their length, or across it and not listed; and those near in any case.
// Returns their number.
RECTILINE_MULTIVERSION inline int list_close(const double* weight, double reach, double least,
                                             Chunk& c) {
    const double factor = reach * reach, base = factor * least;
    double any = 0;
#pragma omp simd reduction(+ : any)
    for (std::int64_t i = 0; i < c.count; ++i) {
        double close = c.slack[i] * c.slack[i] <= base + factor * c.length[i] ? 1.0 : 0.0;
        close = larger(close, c.crossed[i] * (1.0 - c.listed[i]));
        close = larger(weight[i] > 0 ? close : 0.0, c.kept[i]);
        c.close[i] = close;
        any += close;
    }
    if (any == 0) return 0;
    int found = 0;
    for (int i = 0; i < c.count; ++i) {  // without branches: which rows are close is hard to guess
        c.candidates[found] = i;
        found += c.close[i] > 0 ? 1 : 0;
    }
    return found;
}

// What `take_changes` finds: the sum of the changes of slopes, and how many rows change their slope
// and their curvature.
struct Changes {
    double total, slopes, curvatures;
};

// g_next and curved_next become what they change by.
RECTILINE_MULTIVERSION inline Changes take_changes(Chunk& c) {
    double total = 0, slopes = 0, any = 0;
#pragma omp simd reduction(+ : total, slopes, any)
    for (std::int64_t i = 0; i < c.count; ++i) {
        const double change = c.g_next[i] - c.g[i], curved = c.curved_next[i] - c.curved[i];
        c.g_next[i] = change, c.curved_next[i] = curved;
        total += change;
        slopes += change != 0 ? 1.0 : 0.0;
        any += curved != 0 ? 1.0 : 0.0;
    }
    return {total, slopes, any};
}

// ---- chunks of X --------------------------------------------------------------------------------

// The matrix (directions) that rows are multiplied by, column by column, padded to full tiles: sums
// side by side hide the latency of the additions.
struct Directions {
    static constexpr int kParts = 4, kTile = kParts * kLanes;

    std::int64_t width = 0;
    std::vector<double> columns;  // one more, if there is an intercept; else zeros

    Directions() = default;
    Directions(std::span<const double> lines, std::int64_t d, bool intercept) {
        const std::int64_t order = d + (intercept ? 1 : 0), count = std::ssize(lines) / order;
        width = (count + kTile - 1) / kTile * kTile;
        columns.resize((d + 1) * width, 0.0);
        for (std::int64_t c = 0; c < count; ++c)
            for (std::int64_t j = 0; j < order; ++j)
                columns[j * width + c] = lines[c * order + j];
    }
};

// The entries of one row, and in which columns they are.
struct RowEntries {
    std::vector<double> values;
    std::vector<std::int64_t> indices;
};

// The squared length of the product of directions with a row.
struct SquaredLength {
    template <class Lanes>
    static RECTILINE_INLINE void run(const RowEntries* row, const Directions* directions,
                                     double* square) {
        const std::int64_t width = directions->width;
        const double* columns = directions->columns.data();
        const double* last = columns + directions->columns.size() - width;
        Lanes sum, moved[Directions::kParts], v;
        sum.clear();
        for (std::int64_t c = 0; c < width; c += Directions::kTile) {
            for (int part = 0; part < Directions::kParts; ++part)
                moved[part].load(last + c + kLanes * part);
            for (std::size_t e = 0; e < row->values.size(); ++e)
                for (int part = 0; part < Directions::kParts; ++part) {
                    v.load(columns + row->indices[e] * width + c + kLanes * part);
                    moved[part].add_product(row->values[e], v);
                }
            for (const Lanes& part : moved)
                sum.add_product(part, part);
        }
        double parts[kLanes];
        sum.store(parts);
        *square = std::accumulate(parts, parts + kLanes, 0.0);
    }
};

// Rows are used in place where they lie in one piece; others are copied. Sums have the same bits
// either way, whatever the order of X.
template <class T>
class DenseChunk {
  public:
    explicit DenseChunk(const DenseView<T>& X) : X_(X), sums_(X.d) {}

    // `shares`: calls of `sums` that follow; each asks for a part of the next chunk.
    void load(std::int64_t first, std::int64_t count, int shares) {
        count_ = count, ahead_ = {};
        if (!X_.rows_contiguous()) return copy(first);
        rows_ = X_.row(first), stride_ = X_.row_stride;
        if (first + 2 * count > X_.n) return;
        ahead_.at = reinterpret_cast<const char*>(X_.row(first + count));
        ahead_.bytes = stride_ * kRowGroup / shares * static_cast<std::int64_t>(sizeof(T));
    }
    template <Sum First, Sum Second = Sum::none>
    void sums(const SumOf& one, const SumOf& two = {}) {
        row_sums<First, Second>(rows_, stride_, count_, X_.d, one, two, ahead_);
        ahead_.at += ahead_.bytes * (count_ / kRowGroup);
    }
    // q += X'g; what the chunk adds has a sum of its own.
    void add(const double* g, double* q) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        add_rows<Entry::plain>(rows_, stride_, count_, X_.d, g, sums_.data(), false);
        for (std::size_t j = 0; j < sums_.size(); ++j)
            q[j] += sums_[j];
    }
    template <class Visit>
    RECTILINE_INLINE void for_each(std::int64_t r, const Visit& visit) const {
        for (std::int64_t j = 0; j < X_.d; ++j)
            visit(j, static_cast<double>(rows_[r * stride_ + j]));
    }

  private:
    void copy(std::int64_t first) {
        copied_.resize(count_ * X_.d);
        for (std::int64_t j = 0; j < X_.d; ++j) {
            const T* column = X_.column(j) + first * X_.row_stride;
            for (std::int64_t r = 0; r < count_; ++r)
                copied_[r * X_.d + j] = column[r * X_.row_stride];
        }
        rows_ = copied_.data(), stride_ = X_.d;
    }

    const DenseView<T>& X_;
    const T* rows_ = nullptr;
    std::int64_t stride_ = 0, count_ = 0;
    Ahead ahead_;
    std::vector<T> copied_;
    std::vector<double> sums_;
};

template <class T, class I>
class SparseChunk {
  public:
    explicit SparseChunk(const SparseView<T, I>& X) : X_(X), sums_(X.d) {}

    void load(std::int64_t first, std::int64_t count, int) { first_ = first, count_ = count; }
    template <Sum First, Sum Second = Sum::none>
    void sums(const SumOf& one, const SumOf& two = {}) const {
        for (std::int64_t r = 0; r < count_; ++r) {
            add_up<First>(r, one);
            add_up<Second>(r, two);
        }
    }
    // q += X'g; what the chunk adds has a sum of its own, unless it is little.
    void add(const double* g, double* q) {
        constexpr std::int64_t kFew = 16;
        if (std::count_if(g, g + count_, [](double v) { return v != 0; }) <= kFew)
            return add_lines(g, q);
        std::fill(sums_.begin(), sums_.end(), 0.0);
        add_lines(g, sums_.data());
        for (std::size_t j = 0; j < sums_.size(); ++j)
            q[j] += sums_[j];
    }
    template <class Visit>
    RECTILINE_INLINE void for_each(std::int64_t r, const Visit& visit) const {
        const SparseLine<T, I> row = line(r);
        for (std::int64_t e = 0; e < row.size(); ++e)
            visit(static_cast<std::int64_t>(row.indices[e]), static_cast<double>(row.values[e]));
    }

  private:
    RECTILINE_INLINE SparseLine<T, I> line(std::int64_t r) const { return X_.line(first_ + r); }
    void add_lines(const double* g, double* q) const {
        for (std::int64_t r = 0; r < count_; ++r)
            if (g[r] != 0) sparse_axpy(g[r], line(r), q);
    }
    template <Sum Kind>
    void add_up(std::int64_t r, const SumOf& of) const {
        if constexpr (Kind == Sum::product) of.out[r] = sparse_dot(line(r), of.v) + of.start;
        if constexpr (Kind == Sum::absolute)
            of.out[r] = sparse_dot<Entry::absolute>(line(r), of.v) + of.start;
        if constexpr (Kind == Sum::distance) {
            of.out[r] = of.start;
            for_each(r, [&](std::int64_t j, double x) { of.out[r] += of.term<Kind>(x, j); });
        }
    }

    const SparseView<T, I>& X_;
    std::int64_t first_ = 0, count_ = 0;
    std::vector<double> sums_;  // of a chunk
};

}  // namespace rectiline::passes
