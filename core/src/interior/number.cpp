#include "rectiline/interior/number.hpp"

#include "rectiline/support/dense_algebra.hpp"

#include <algorithm>
#include <cassert>

namespace rectiline::interior {

namespace {

constexpr double kLostPivot = 1e-28;  // of the diagonal: a pivot that is rounding

// (high, low) += product + rest, where the rest is small.
RECTILINE_INLINE void add_to(double& high, double& low, double product, double rest) {
    const double sum = high + product, part = sum - high;
    const double lost = (high - (sum - part)) + (product - part);
    const double small = lost + (low + rest);
    high = sum + small;
    low = small - (high - sum);
}

// a += s * b for columns of numbers.
RECTILINE_MULTIVERSION void add_multiple(double* a_high, double* a_low, Number s,
                                         const double* b_high, const double* b_low,
                                         std::int64_t count) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
        const double product = s.hi * b_high[i];
        const double rest =
            std::fma(s.hi, b_high[i], -product) + (s.hi * b_low[i] + s.lo * b_high[i]);
        add_to(a_high[i], a_low[i], product, rest);
    }
}

// a += s * b for a column of numbers and doubles b.
RECTILINE_MULTIVERSION void add_multiple(double* a_high, double* a_low, Number s, const double* b,
                                         std::int64_t count) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
        const double product = s.hi * b[i];
        const double rest = std::fma(s.hi, b[i], -product) + s.lo * b[i];
        add_to(a_high[i], a_low[i], product, rest);
    }
}

Number number(double high, double low) {
    Number made;
    made.hi = high, made.lo = low;
    return made;
}

}  // namespace

void SymmetricMatrix<Number>::clear() {
    std::fill(high_.begin(), high_.end(), 0.0);
    std::fill(low_.begin(), low_.end(), 0.0);
}

void SymmetricMatrix<Number>::add_to_diagonal(std::int64_t j, Number value) {
    const Number sum = number(high(j)[j], low(j)[j]) + value;
    high(j)[j] = sum.hi, low(j)[j] = sum.lo;
}

void SymmetricMatrix<Number>::add_row(Number weight, std::span<const std::int64_t> columns,
                                      std::span<const double> values) {
    assert(columns.size() == values.size());
    const std::int64_t count = std::ssize(columns);
    const bool is_dense = count > 0 && columns.back() - columns.front() == count - 1;
    for (std::int64_t p = 0; p < count; ++p) {
        const std::int64_t j = columns[p];
        const Number scaled = weight * Number(values[p]);
        if (is_dense) {
            add_multiple(high(j) + j, low(j) + j, scaled, values.data() + p, count - p);
            continue;
        }
        for (std::int64_t q = p; q < count; ++q) {
            const std::int64_t i = columns[q];
            const Number sum = number(high(j)[i], low(j)[i]) + scaled * Number(values[q]);
            high(j)[i] = sum.hi, low(j)[i] = sum.lo;
        }
    }
}

bool SymmetricMatrix<Number>::factorise() {
    for (std::int64_t j = 0; j < size_; ++j) {
        double *column = high(j), *rest = low(j);
        const double diagonal = column[j];
        for (std::int64_t k = 0; k < j; ++k) {
            const Number factor = number(high(k)[j], low(k)[j]);
            if (factor.hi == 0) continue;
            add_multiple(column + j, rest + j, -factor, high(k) + j, low(k) + j, size_ - j);
        }
        if (!(column[j] > kLostPivot * diagonal)) {
            std::fill(column + j, column + size_, 0.0);
            std::fill(rest + j, rest + size_, 0.0);
            continue;
        }
        const Number root = square_root(number(column[j], rest[j]));
        for (std::int64_t i = j; i < size_; ++i) {
            const Number entry = i == j ? root : number(column[i], rest[i]) / root;
            column[i] = entry.hi, rest[i] = entry.lo;
        }
    }
    return true;
}

void SymmetricMatrix<Number>::solve(std::span<Number> x) const {
    assert(std::ssize(x) == size_);
    const auto entry = [this](std::int64_t i, std::int64_t j) {
        const auto place = static_cast<std::size_t>(j * size_ + i);
        return number(high_[place], low_[place]);
    };
    for (std::int64_t j = 0; j < size_; ++j) {
        const Number pivot = entry(j, j);
        x[j] = pivot.hi > 0 ? x[j] / pivot : Number(0.0);
        for (std::int64_t i = j + 1; i < size_; ++i)
            x[i] -= entry(i, j) * x[j];
    }
    for (std::int64_t j = size_ - 1; j >= 0; --j) {
        const Number pivot = entry(j, j);
        if (!(pivot.hi > 0)) {
            x[j] = Number(0.0);
            continue;
        }
        Number sum = x[j];
        for (std::int64_t i = j + 1; i < size_; ++i)
            sum -= entry(i, j) * x[i];
        x[j] = sum / pivot;
    }
}

void SymmetricMatrix<double>::clear() {
    std::fill(entries_.begin(), entries_.end(), 0.0);
}

void SymmetricMatrix<double>::add_row(double weight, std::span<const std::int64_t> columns,
                                      std::span<const double> values) {
    assert(columns.size() == values.size());
    const std::int64_t count = std::ssize(columns);
    const bool is_dense = count > 0 && columns.back() - columns.front() == count - 1;
    for (std::int64_t p = 0; p < count; ++p) {
        const double scaled = weight * values[p];
        double* target = column(columns[p]);
        if (is_dense) {
            target += columns[p];
            for (std::int64_t q = 0; q < count - p; ++q)
                target[q] += scaled * values[p + q];
        } else {
            for (std::int64_t q = p; q < count; ++q)
                target[columns[q]] += scaled * values[q];
        }
    }
}

bool SymmetricMatrix<double>::factorise() {
    return size_ == 0 || cholesky(entries_.data(), size_);
}

void SymmetricMatrix<double>::solve(std::span<double> x) const {
    assert(std::ssize(x) == size_);
    if (size_ > 0) cholesky_solve(entries_.data(), size_, x.data(), 1);
}

}  // namespace rectiline::interior
