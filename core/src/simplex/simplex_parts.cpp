#include "rectiline/simplex/simplex.hpp"
#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/vectors.hpp"

#include <array>
#include <numeric>

namespace rectiline::simplex {

namespace {

// out += the sum of four scaled lines
RECTILINE_MULTIVERSION void add_four(const double* const* lines, const double* scale,
                                     std::int64_t size, double* out) {
    const double *a = lines[0], *b = lines[1], *c = lines[2], *d = lines[3];
#pragma omp simd
    for (std::int64_t k = 0; k < size; ++k)
        out[k] += (scale[0] * a[k] + scale[1] * b[k]) + (scale[2] * c[k] + scale[3] * d[k]);
}

constexpr std::int64_t kChunk = 1024;  // of an output that stays in the nearest cache
constexpr double kSingular = 1e-11;    // pivots of a scaled matrix that count as zero

// Moving everything costs more than memory that is not used. Lines that are an odd number of cache
// lines apart do not push each other out where one entry of each is read.
std::int64_t enlarged(std::int64_t needed, std::int64_t held) {
    if (needed <= held) return held;
    const std::int64_t cache_lines = (std::max(needed, 2 * held) + 7) / 8;
    return 8 * (cache_lines | 1);
}

void restride(std::vector<double>& data, std::int64_t lines, std::int64_t used, std::int64_t from,
              std::int64_t to, std::int64_t new_lines) {
    if (from == to) {
        data.resize(new_lines * to, 0.0);
        return;
    }
    std::vector<double> fresh(new_lines * to, 0.0);
    for (std::int64_t k = 0; k < lines; ++k)
        std::copy_n(data.data() + k * from, used, fresh.data() + k * to);
    data = std::move(fresh);
}

// Adds combinations of lines of a matrix, a chunk of the outputs at a time.
void add_in_chunks(const double* data, std::int64_t stride, const std::int32_t* which,
                   std::span<const Combination> wanted, std::int64_t count, std::int64_t size) {
    std::vector<const double*> lines(count);
    for (std::int64_t first = 0; first < size; first += kChunk) {
        const std::int64_t some = std::min(kChunk, size - first);
        for (std::int64_t i = 0; i < count; ++i)
            lines[i] = data + which[i] * stride + first;
        for (std::int64_t i = 0; i < count; i += 4)
            for (const Combination& one : wanted) {
                if (i + 4 <= count) {
                    add_four(&lines[i], one.scale + i, some, one.out + first);
                    continue;
                }
                for (std::int64_t k = i; k < count; ++k)
                    add_multiple(one.scale[k], lines[k], one.out + first, some);
            }
    }
}

}  // namespace

RECTILINE_MULTIVERSION void edge_steps(const EdgeArrays& edge, std::int64_t size, double slowest,
                                       double* step) {
    const double *t = edge.t, *dt = edge.dt, *turn = edge.turn, *open = edge.open;
#pragma omp simd
    for (std::int64_t u = 0; u < size; ++u) {
        const double toward = turn[u] * dt[u], away = -turn[u] * t[u];
        const double moves = toward > slowest ? toward : 0.0;
        const double counts = open[u] > 0.0 ? moves : 0.0;
        const double ahead = away > 0.0 ? away : 0.0;
        const double reached = ahead / counts;  // not a number for those on a kink that stay there
        step[u] = counts > 0.0 ? reached : kInfinity;
    }
}

void TwoWayMatrix::grow(std::int64_t rows, std::int64_t columns) {
    const std::int64_t m = n_rows_ + rows, k = n_columns_ + columns;
    const std::int64_t row_stride = enlarged(k, row_stride_);
    const std::int64_t column_stride = enlarged(m, column_stride_);
    restride(by_row_, n_rows_, n_columns_, row_stride_, row_stride, m);
    restride(by_column_, n_columns_, n_rows_, column_stride_, column_stride, k);
    n_rows_ = m, n_columns_ = k, row_stride_ = row_stride, column_stride_ = column_stride;
}

void TwoWayMatrix::subtract_rows(const std::int32_t* rows, const double* scale, std::int64_t count,
                                 double* out) const {
    std::vector<double> negative(scale, scale + count);
    for (double& one : negative)
        one = -one;
    add_in_chunks(by_row_.data(), row_stride_, rows, std::array{Combination{negative.data(), out}},
                  count, n_columns_);
}

void TwoWayMatrix::add_columns(const std::int32_t* columns, std::span<const Combination> wanted,
                               std::int64_t count) const {
    add_in_chunks(by_column_.data(), column_stride_, columns, wanted, count, n_rows_);
}

void KernelInverse::reserve(std::int64_t size, std::int64_t kept) {
    const std::int64_t stride = enlarged(size, stride_);
    if (stride == stride_) return;
    restride(inverse_, kept, kept, stride_, stride, stride);
    stride_ = stride;
}

void KernelInverse::solve(std::span<const Combination> wanted) const {
    for (std::int64_t j = 0; j < size(); ++j)
        for (const Combination& one : wanted)
            one.out[j] = product(line(j), one.scale, size());
}

void KernelInverse::solve_transposed(const double* left, double* out) const {
    const std::int64_t s = size();
    std::vector<std::int32_t> lines(s);
    std::iota(lines.begin(), lines.end(), 0);
    std::fill(out, out + s, 0.0);
    add_in_chunks(inverse_.data(), stride_, lines.data(), std::array{Combination{left, out}}, s, s);
}

// Subtracts the pivot line from all others (`count` entries of each), so that the new column
// becomes a unit vector. The pivot line may lie in the inverse: `skip` is its place then.
void KernelInverse::eliminate(std::int64_t count, const double* alpha, double pivot,
                              const double* pivot_line, std::int64_t skip) {
    for (std::int64_t j = 0; j < size(); ++j)
        if (j != skip && alpha[j] != 0.0)
            norms[j] =
                update_line(inverse_.data() + j * stride_, pivot_line, alpha[j] / pivot, count);
    ++n_updates;
}

void KernelInverse::column_for_column(std::int64_t j, std::int32_t column, const double* alpha) {
    const std::int64_t s = size();
    double* mine = inverse_.data() + j * stride_;
    eliminate(s, alpha, alpha[j], mine, j);
    for (std::int64_t i = 0; i < s; ++i)
        mine[i] /= alpha[j];
    norms[j] /= alpha[j] * alpha[j];
    columns[j] = column;
}

void KernelInverse::row_for_column(std::int64_t j, std::int64_t i, const double* alpha) {
    const std::int64_t last = size() - 1;
    eliminate(last + 1, alpha, alpha[j], inverse_.data() + j * stride_, j);
    // Column i of the other lines is zero now; the last one takes its place.
    for (std::int64_t k = 0; k <= last; ++k) {
        double* one = inverse_.data() + k * stride_;
        one[i] = one[last];
        one[last] = 0.0;
    }
    rows[i] = rows[last];
    drop_line(j);
    rows.pop_back();
}

void KernelInverse::drop_line(std::int64_t j) {
    const std::int64_t last = std::ssize(columns) - 1;
    if (j != last) {
        std::copy_n(inverse_.data() + last * stride_, last + 1, inverse_.data() + j * stride_);
        columns[j] = columns[last];
        norms[j] = norms[last];
    }
    std::fill_n(inverse_.data() + last * stride_, last + 1, 0.0);
    columns.pop_back();
    norms.pop_back();
}

void KernelInverse::column_for_row(std::int32_t row, std::int32_t column, const double* alpha,
                                   const double* g, double pivot) {
    const std::int64_t s = size();
    reserve(s + 1, s);
    spare_.assign(g, g + s);
    spare_.push_back(-1.0);
    for (std::int64_t j = 0; j < s; ++j)
        inverse_[j * stride_ + s] = 0.0;
    eliminate(s + 1, alpha, pivot, spare_.data(), -1);
    double* mine = inverse_.data() + s * stride_;
    double sum = 0.0;
    for (std::int64_t i = 0; i <= s; ++i) {
        mine[i] = spare_[i] / pivot;
        sum += mine[i] * mine[i];
    }
    rows.push_back(row);
    columns.push_back(column);
    norms.push_back(sum);
}

void KernelInverse::row_for_row(std::int32_t row, std::int64_t i, const double* alpha,
                                const double* g, double pivot) {
    const std::int64_t s = size();
    spare_.assign(g, g + s);
    eliminate(s, alpha, pivot, spare_.data(), -1);
    for (std::int64_t j = 0; j < s; ++j) {  // column i is zero now and becomes that of the new row
        double& place = inverse_[j * stride_ + i];
        norms[j] -= place * place;
        place = alpha[j] / pivot;
        norms[j] += place * place;
    }
    rows[i] = row;
}

void KernelInverse::measure() {
    norms.resize(columns.size());
    for (std::int64_t j = 0; j < size(); ++j)
        norms[j] = product(line(j), line(j), size());
    n_updates = 0;
}

// A[rows, columns], row by row.
std::vector<double> KernelInverse::entries(const TwoWayMatrix& A) const {
    const std::int64_t s = size();
    std::vector<double> out(s * s);
    for (std::int64_t j = 0; j < s; ++j) {
        const double* column = A.column(columns[j]);
        for (std::int64_t i = 0; i < s; ++i)
            out[i * s + j] = column[rows[i]];
    }
    return out;
}

bool KernelInverse::factorise(const TwoWayMatrix& A, Interrupt& interrupt) {
    if (invert(A, interrupt) || interrupt.stopped()) return true;
    Interrupt never;  // from here on the old inverse does not fit any more
    do
        drop_dependent(A);
    while (!invert(A, never));
    return false;
}

// False, and nothing has changed, if a pivot is missing or the interrupt asks to stop.
bool KernelInverse::invert(const TwoWayMatrix& A, Interrupt& interrupt) {
    const std::int64_t s = size();
    std::vector<double> work = entries(A);
    if (!support::invert(work, s, kSingular, interrupt)) return false;
    reserve(s, 0);
    for (std::int64_t j = 0; j < s; ++j)
        std::copy_n(work.data() + j * s, s, inverse_.data() + j * stride_);
    measure();
    return true;
}

// Columns that depend on earlier ones leave, with as many rows that gave no pivot; all in one
// elimination. At least one pair leaves.
void KernelInverse::drop_dependent(const TwoWayMatrix& A) {
    const std::int64_t s = size();
    std::vector<double> work = entries(A);
    std::vector<std::int32_t> kept_columns;
    std::int64_t rank = 0;
    for (std::int64_t k = 0; k < s; ++k) {
        const std::int64_t best = pivot_row(work, s, rank, k);
        const double pivot = work[best * s + k];
        if (!(std::fabs(pivot) > kSingular)) continue;
        double* line = work.data() + rank * s;
        if (best != rank) {
            std::swap(rows[rank], rows[best]);
            std::swap_ranges(line, line + s, work.data() + best * s);
        }
        for (std::int64_t j = k; j < s; ++j)
            line[j] /= pivot;
        for (std::int64_t i = rank + 1; i < s; ++i) {
            double* one = work.data() + i * s;
            if (one[k] != 0.0) update_line(one + k, line + k, one[k], s - k);
        }
        kept_columns.push_back(columns[k]);
        ++rank;
    }
    if (rank == s) kept_columns.pop_back();  // the two eliminations differ by rounding
    columns = std::move(kept_columns);
    rows.resize(columns.size());
}

}  // namespace rectiline::simplex
