#include "rectiline/simplex/simplex_parts.hpp"

#include "rectiline/simplex/simplex_lines.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rectiline::simplex {
namespace {

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
        data.resize(static_cast<std::size_t>(new_lines * to), 0.0);
        return;
    }
    std::vector<double> fresh(static_cast<std::size_t>(new_lines * to), 0.0);
    for (std::int64_t k = 0; k < lines; ++k)
        std::copy_n(data.data() + k * from, used, fresh.data() + k * to);
    data = std::move(fresh);
}

// The place of the largest entry of a column, from row `first` on.
std::int64_t pivot_row(const std::vector<double>& work, std::int64_t s, std::int64_t first,
                       std::int64_t column) {
    std::int64_t best = first;
    for (std::int64_t i = first + 1; i < s; ++i)
        if (std::fabs(work[i * s + column]) > std::fabs(work[best * s + column])) best = i;
    return best;
}

}  // namespace

void TwoWayMatrix::grow(std::int64_t rows, std::int64_t columns) {
    const std::int64_t m = n_rows_ + rows, k = n_columns_ + columns;
    const std::int64_t row_stride = enlarged(k, row_stride_);
    const std::int64_t column_stride = enlarged(m, column_stride_);
    restride(by_row_, n_rows_, n_columns_, row_stride_, row_stride, m);
    restride(by_column_, n_columns_, n_rows_, column_stride_, column_stride, k);
    n_rows_ = m, n_columns_ = k, row_stride_ = row_stride, column_stride_ = column_stride;
}

void TwoWayMatrix::add_to_rows(std::int64_t first, std::int64_t count, const std::int32_t* named,
                               std::int64_t n_named, const double* values) {
    for (std::int64_t r = 0; r < count; ++r) {
        double* mine = by_row_.data() + (first + r) * row_stride_;
        for (std::int64_t k = 0; k < n_named; ++k)
            mine[named[k]] = values[r * n_named + k];
    }
    // A few columns at a time, so that what is read and what is written stays in the cache.
    constexpr std::int64_t kFew = 8;
    for (std::int64_t start = 0; start < n_named; start += kFew) {
        const std::int64_t end = std::min(n_named, start + kFew);
        for (std::int64_t r = 0; r < count; ++r)
            for (std::int64_t k = start; k < end; ++k)
                by_column_[named[k] * column_stride_ + first + r] = values[r * n_named + k];
    }
}

void TwoWayMatrix::subtract_rows(const std::int32_t* rows, const double* scale, std::int64_t count,
                                 double* out) const {
    for (std::int64_t first = 0; first < n_columns_; first += kChunk) {
        const std::int64_t size = std::min(kChunk, n_columns_ - first);
        for (std::int64_t i = 0; i < count; i += kMostSubtracted) {
            const std::int64_t some = std::min(kMostSubtracted, count - i);
            const double* lines[kMostSubtracted];
            for (std::int64_t k = 0; k < some; ++k)
                lines[k] = row(rows[i + k]) + first;
            subtract_lines(lines, scale + i, some, size, out + first);
        }
    }
}

void TwoWayMatrix::add_columns(const std::int32_t* columns, const double* const scale[3],
                               std::int64_t count, double* const out[3]) const {
    const double* given[3];
    double* wanted[3];
    std::int64_t outputs = 0;
    for (int k = 0; k < 3; ++k)
        if (scale[k] != nullptr) given[outputs] = scale[k], wanted[outputs++] = out[k];
    for (std::int64_t first = 0; first < n_rows_; first += kChunk) {
        const std::int64_t size = std::min(kChunk, n_rows_ - first);
        double* target[3];
        for (std::int64_t k = 0; k < outputs; ++k)
            target[k] = wanted[k] + first;
        for (std::int64_t i = 0; i < count; i += kMostAdded) {
            const std::int64_t some = std::min(kMostAdded, count - i);
            const double *lines[kMostAdded], *factor[3];
            for (std::int64_t k = 0; k < some; ++k)
                lines[k] = column(columns[i + k]) + first;
            for (std::int64_t k = 0; k < outputs; ++k)
                factor[k] = given[k] + i;
            add_lines(lines, factor, some, outputs, size, target);
        }
    }
}

void KernelInverse::reserve(std::int64_t size, std::int64_t kept) {
    const std::int64_t stride = enlarged(size, stride_);
    if (stride == stride_) return;
    restride(inverse_, kept, kept, stride_, stride, stride);
    stride_ = stride;
}

void KernelInverse::solve(const double* const right[3], double* const out[3]) const {
    const double* given[3];
    double* wanted[3];
    std::int64_t count = 0;
    for (int k = 0; k < 3; ++k)
        if (right[k] != nullptr) given[count] = right[k], wanted[count++] = out[k];
    for (std::int64_t j = 0; j < size(); ++j) {
        double found[3];
        dots(line(j), given, count, size(), found);
        for (std::int64_t k = 0; k < count; ++k)
            wanted[k][j] = found[k];
    }
}

void KernelInverse::solve_transposed(const double* left, double* out) const {
    const std::int64_t s = size();
    std::fill(out, out + s, 0.0);
    for (std::int64_t j = 0; j < s; j += kMostSubtracted) {
        const std::int64_t some = std::min(kMostSubtracted, s - j);
        const double* lines[kMostSubtracted];
        double scale[kMostSubtracted];
        for (std::int64_t k = 0; k < some; ++k) {
            lines[k] = line(j + k);
            scale[k] = -left[j + k];
        }
        subtract_lines(lines, scale, some, s, out);
    }
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
    const std::int64_t last = static_cast<std::int64_t>(columns.size()) - 1;
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
        norms[j] = dot(line(j), line(j), size());
    n_updates = 0;
}

// A[rows, columns], row by row.
std::vector<double> KernelInverse::entries(const TwoWayMatrix& A) const {
    const std::int64_t s = size();
    std::vector<double> out(static_cast<std::size_t>(s * s));
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

// Gauss-Jordan in place with row exchanges, which become column exchanges of the inverse. False,
// and nothing has changed, if a pivot is missing or the interrupt asks to stop.
bool KernelInverse::invert(const TwoWayMatrix& A, Interrupt& interrupt) {
    const std::int64_t s = size();
    std::vector<double> work = entries(A);
    std::vector<std::int64_t> swapped(static_cast<std::size_t>(s));
    for (std::int64_t k = 0; k < s; ++k) {
        const std::int64_t best = pivot_row(work, s, k, k);
        const double pivot = work[best * s + k];
        if (!(std::fabs(pivot) > kSingular) || interrupt.poll(s * s)) return false;
        swapped[k] = best;
        double* line_k = work.data() + k * s;
        if (best != k) std::swap_ranges(line_k, line_k + s, work.data() + best * s);
        line_k[k] = 1.0;
        for (std::int64_t j = 0; j < s; ++j)
            line_k[j] /= pivot;
        for (std::int64_t i = 0; i < s; ++i) {
            double* one = work.data() + i * s;
            const double factor = one[k];
            if (i == k || factor == 0.0) continue;
            one[k] = 0.0;
            update_line(one, line_k, factor, s);
        }
    }
    for (std::int64_t k = s; k-- > 0;)
        if (swapped[k] != k)
            for (std::int64_t i = 0; i < s; ++i)
                std::swap(work[i * s + k], work[i * s + swapped[k]]);
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
