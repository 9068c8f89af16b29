#include "rectiline/interior/normal_system.hpp"
#include "rectiline/support/dense_algebra.hpp"

#include <cassert>
#include <type_traits>

namespace rectiline::interior {

namespace {

constexpr double kLostPivot = 1e-28;  // of the diagonal: a pivot that is rounding

// a += s * b
template <class Real, class Other>
RECTILINE_MULTIVERSION void add_multiple(Real* a, Real s, const Other* b, std::int64_t count) {
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i)
        a[i] = a[i] + s * Real(b[i]);
}

}  // namespace

template <class Real>
void SymmetricMatrix<Real>::add_row(Real weight, std::span<const std::int64_t> columns,
                                    std::span<const double> values) {
    assert(columns.size() == values.size());
    const std::int64_t count = std::ssize(columns);
    const bool is_dense = count > 0 && columns.back() - columns.front() == count - 1;
    for (std::int64_t p = 0; p < count; ++p) {
        const Real scaled = weight * Real(values[p]);
        Real* const target = column(columns[p]);
        if (is_dense)
            add_multiple(target + columns[p], scaled, values.data() + p, count - p);
        else
            for (std::int64_t q = p; q < count; ++q)
                target[columns[q]] += scaled * Real(values[q]);
    }
}

template <class Real>
bool SymmetricMatrix<Real>::factorise() {
    if constexpr (std::is_same_v<Real, double>) {
        return size_ == 0 || cholesky(entries_.data(), size_);
    } else {
        for (std::int64_t j = 0; j < size_; ++j) {
            Real* const own = column(j);
            const double diagonal = own[j].hi;
            for (std::int64_t k = 0; k < j; ++k)
                if (const Real factor = column(k)[j]; factor.hi != 0)
                    add_multiple(own + j, -factor, column(k) + j, size_ - j);
            if (!(own[j].hi > kLostPivot * diagonal)) {
                std::fill(own + j, own + size_, Real(0.0));
                continue;
            }
            own[j] = square_root(own[j]);
            for (std::int64_t i = j + 1; i < size_; ++i)
                own[i] = own[i] / own[j];
        }
        return true;
    }
}

template <class Real>
void SymmetricMatrix<Real>::solve(std::span<Real> x) const {
    assert(std::ssize(x) == size_);
    if constexpr (std::is_same_v<Real, double>) {
        if (size_ > 0) cholesky_solve(entries_.data(), size_, x.data(), 1);
    } else {
        const auto divided = [](Real a, Real pivot) {
            return pivot.hi > 0 ? a / pivot : Real(0.0);
        };
        for (std::int64_t j = 0; j < size_; ++j) {
            x[j] = divided(x[j], column(j)[j]);
            for (std::int64_t i = j + 1; i < size_; ++i)
                x[i] -= column(j)[i] * x[j];
        }
        for (std::int64_t j = size_ - 1; j >= 0; --j) {
            for (std::int64_t i = j + 1; i < size_; ++i)
                x[j] -= column(j)[i] * x[i];
            x[j] = divided(x[j], column(j)[j]);
        }
    }
}

template class SymmetricMatrix<double>;
template class SymmetricMatrix<Number>;

}  // namespace rectiline::interior
