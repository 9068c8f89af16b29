#include "rectiline/interior/normal_system.hpp"

#include <cassert>
#include <type_traits>
#include <utility>

namespace rectiline::interior {

namespace {

constexpr double kLargestProximal = 1e-2, kRaise = 100;
// Multiply-adds of doubles in the time of one of numbers.
template <class Real>
constexpr std::int64_t kCost = std::is_same_v<Real, Number> ? 8 : 1;

}  // namespace

template <class Real>
void CompressedSystem<Real>::multiply(std::span<const Real> x, std::span<Real> rows) {
    const CompressedRows& by = this->rows();
    for (std::size_t r = 0; r < rows.size(); ++r) {
        Real sum = 0.0;
        for (std::int64_t e = by.begin[r]; e < by.begin[r + 1]; ++e)
            sum += Real(by.values[e]) * x[by.columns[e]];
        rows[r] = sum;
    }
}

template <class Real>
void CompressedSystem<Real>::multiply_transposed(std::span<const Real> rows, std::span<Real> x) {
    const CompressedRows& of = this->rows();
    std::fill(x.begin(), x.end(), Real(0.0));
    for (std::size_t r = 0; r < rows.size(); ++r)
        for (std::int64_t e = of.begin[r]; e < of.begin[r + 1]; ++e)
            x[of.columns[e]] += Real(of.values[e]) * rows[r];
}

template <class Real>
bool CompressedSystem<Real>::factorise(std::span<const Real> weight, Interrupt& interrupt) {
    assert(std::ssize(weight) == n_rows());
    for (; proximal_ <= kLargestProximal; proximal_ *= kRaise) {
        for (std::size_t j = 0; j < diagonal_.size(); ++j)
            diagonal_[j] = Real(rho_[j]) + Real(proximal_);
        if (try_factor(weight, interrupt)) return true;
        if (interrupt.stopped()) return false;
    }
    return false;
}

template <class Real>
DenseSystem<Real>::DenseSystem(const UnitProgram& program, CompressedRows rows, bool by_rows,
                               double proximal)
    : CompressedSystem<Real>(program, proximal),
      rows_(std::move(rows)),
      by_rows_(by_rows),
      is_steady_(rows_.n_rows(), 1),
      steady_(by_rows ? 0 : program.width()),
      matrix_(by_rows ? 0 : program.width()) {
    for (std::int64_t k = 0; k < program.n_units(); ++k)
        if (program.is_boxed(k) || program.soft[k] == 0) is_steady_[program.row[k]] = 0;
    if (!by_rows) return;
    begin_.assign(static_cast<std::size_t>(program.width()) + 1, 0);
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r) {
        if (rows_.length(r) < 2) continue;
        wide_.push_back(r);
        for (std::int64_t e = rows_.begin[r]; e < rows_.begin[r + 1]; ++e)
            ++begin_[rows_.columns[e] + 1];
    }
    for (std::size_t j = 1; j < begin_.size(); ++j)
        begin_[j] += begin_[j - 1];
    number_.resize(begin_.back());
    values_.resize(number_.size());
    image_.resize(wide_.size());
    matrix_ = SymmetricMatrix<Real>(std::ssize(wide_));
    std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < wide_.size(); ++i)
        for (std::int64_t e = rows_.begin[wide_[i]]; e < rows_.begin[wide_[i] + 1]; ++e) {
            const std::int64_t place = next[rows_.columns[e]]++;
            number_[place] = static_cast<std::int64_t>(i);
            values_[place] = rows_.values[e];
        }
}

template <class Real>
bool DenseSystem<Real>::sum_rows(std::span<const Real> weight, bool steady,
                                 SymmetricMatrix<Real>& sum, Interrupt& interrupt) const {
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r) {
        if (static_cast<bool>(is_steady_[r]) != steady) continue;
        const std::int64_t first = rows_.begin[r], count = rows_.length(r);
        const auto size = static_cast<std::size_t>(count);
        sum.add_row(weight[r], {rows_.columns.data() + first, size},
                    {rows_.values.data() + first, size});
        if (interrupt.poll(kCost<Real> * (1 + count * count / 2))) return false;
    }
    return true;
}

template <class Real>
bool DenseSystem<Real>::sum_columns(std::span<const Real> weight, Interrupt& interrupt) {
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r)
        if (rows_.length(r) == 1) {
            const std::int64_t e = rows_.begin[r];
            const Real value = Real(rows_.values[e]);
            diagonal_[rows_.columns[e]] += weight[r] * value * value;
        }
    matrix_.clear();
    for (std::size_t j = 0; j < diagonal_.size(); ++j) {
        const std::int64_t first = begin_[j], count = begin_[j + 1] - first;
        const auto size = static_cast<std::size_t>(count);
        matrix_.add_row(Real(1.0) / diagonal_[j], {number_.data() + first, size},
                        {values_.data() + first, size});
        if (interrupt.poll(kCost<Real> * (1 + count * count / 2))) return false;
    }
    for (std::size_t i = 0; i < wide_.size(); ++i)
        matrix_.add_to_diagonal(static_cast<std::int64_t>(i), Real(1.0) / weight[wide_[i]]);
    return true;
}

template <class Real>
bool DenseSystem<Real>::sum_all_rows(std::span<const Real> weight, Interrupt& interrupt) {
    if (!has_steady_ && !sum_rows(weight, true, steady_, interrupt)) return false;
    has_steady_ = true;
    matrix_ = steady_;
    for (std::size_t j = 0; j < diagonal_.size(); ++j)
        matrix_.add_to_diagonal(static_cast<std::int64_t>(j), diagonal_[j]);
    return sum_rows(weight, false, matrix_, interrupt);
}

template <class Real>
bool DenseSystem<Real>::try_factor(std::span<const Real> weight, Interrupt& interrupt) {
    const auto size = std::ssize(by_rows_ ? image_ : diagonal_);
    return (by_rows_ ? sum_columns(weight, interrupt) : sum_all_rows(weight, interrupt)) &&
           !interrupt.poll_ahead(kCost<Real> * size * size * size / 6) && matrix_.factorise();
}

template <class Real>
bool DenseSystem<Real>::solve(std::span<Real> v, std::span<const Real> r, std::span<Real>) {
    std::vector<Real> pulled(v.size());
    this->multiply_transposed(r, pulled);
    for (std::size_t j = 0; j < v.size(); ++j)
        v[j] += pulled[j];
    if (!by_rows_) {
        matrix_.solve(v);
        return false;
    }
    std::fill(image_.begin(), image_.end(), Real(0.0));
    for (std::size_t j = 0; j < v.size(); ++j) {
        const Real own = v[j] / diagonal_[j];
        for (std::int64_t e = begin_[j]; e < begin_[j + 1]; ++e)
            image_[number_[e]] += Real(values_[e]) * own;
    }
    matrix_.solve(image_);
    for (std::size_t j = 0; j < v.size(); ++j) {
        for (std::int64_t e = begin_[j]; e < begin_[j + 1]; ++e)
            v[j] -= Real(values_[e]) * image_[number_[e]];
        v[j] = v[j] / diagonal_[j];
    }
    return false;
}

bool SparseSystem::solve(std::span<double> v, std::span<const double> r, std::span<double> s) {
    std::fill(s.begin(), s.end(), std::numeric_limits<double>::quiet_NaN());
    equations_->solve(v, r, s);
    return equations_->has_kept_rows();
}

template class DenseSystem<double>;
template class DenseSystem<Number>;

}  // namespace rectiline::interior
