#include "rectiline/interior/normal_system.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <type_traits>

namespace rectiline::interior {

namespace {

template <class Real>
constexpr bool kIsTwofold = std::is_same_v<Real, Number>;
// Added to the diagonal, so that a column that nothing holds stays where it is; raised where there
// is no factor.
template <class Real>
constexpr double kProximal = kIsTwofold<Real> ? 1e-20 : 1e-13;
constexpr double kLargestProximal = 1e-2, kRaise = 100;
// Multiply-adds of doubles in the time of one of numbers.
template <class Real>
constexpr std::int64_t kCost = kIsTwofold<Real> ? 8 : 1;

std::int64_t length(const UnitProgram& program, std::int64_t row) {
    return program.begin[row + 1] - program.begin[row];
}

std::int64_t count_wide(const UnitProgram& program) {
    std::int64_t count = 0;
    for (std::int64_t r = 0; r < program.n_rows(); ++r)
        count += length(program, r) > 1;
    return count;
}

}  // namespace

template <class Real>
NormalSystem<Real>::NormalSystem(const UnitProgram& program, bool by_rows)
    : by_rows_(by_rows),
      proximal_(kProximal<Real>),
      is_steady_(static_cast<std::size_t>(program.n_rows()), 1),
      diagonal_(program.rho.size()),
      steady_(by_rows ? 0 : program.width()),
      matrix_(by_rows ? count_wide(program) : program.width()) {
    for (std::int64_t k = 0; k < program.n_units(); ++k)
        if (std::isfinite(program.low[k]) || std::isfinite(program.high[k]))
            is_steady_[program.row[k]] = 0;
    if (!by_rows) return;
    begin_.assign(static_cast<std::size_t>(program.width()) + 1, 0);
    for (std::int64_t r = 0; r < program.n_rows(); ++r) {
        if (length(program, r) < 2) continue;
        wide_.push_back(r);
        for (std::int64_t e = program.begin[r]; e < program.begin[r + 1]; ++e)
            ++begin_[program.columns[e] + 1];
    }
    for (std::size_t j = 1; j < begin_.size(); ++j)
        begin_[j] += begin_[j - 1];
    number_.resize(static_cast<std::size_t>(begin_.back()));
    values_.resize(number_.size());
    image_.resize(wide_.size());
    std::vector<std::int64_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t i = 0; i < wide_.size(); ++i)
        for (std::int64_t e = program.begin[wide_[i]]; e < program.begin[wide_[i] + 1]; ++e) {
            const std::int64_t place = next[program.columns[e]]++;
            number_[place] = static_cast<std::int64_t>(i);
            values_[place] = program.values[e];
        }
}

template <class Real>
bool NormalSystem<Real>::sum_rows(const UnitProgram& program, std::span<const Real> weight,
                                  bool steady, SymmetricMatrix<Real>& sum,
                                  support::Interrupt& interrupt) const {
    for (std::int64_t r = 0; r < program.n_rows(); ++r) {
        if (static_cast<bool>(is_steady_[r]) != steady) continue;
        const std::int64_t first = program.begin[r], count = length(program, r);
        const auto size = static_cast<std::size_t>(count);
        sum.add_row(weight[r], {program.columns.data() + first, size},
                    {program.values.data() + first, size});
        if (interrupt.poll(kCost<Real> * (1 + count * count / 2))) return false;
    }
    return true;
}

template <class Real>
bool NormalSystem<Real>::sum_columns(const UnitProgram& program, std::span<const Real> weight,
                                     support::Interrupt& interrupt) {
    for (std::int64_t r = 0; r < program.n_rows(); ++r)
        if (length(program, r) == 1) {
            const std::int64_t e = program.begin[r];
            const Real value = Real(program.values[e]);
            diagonal_[program.columns[e]] += weight[r] * value * value;
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
bool NormalSystem<Real>::set_up(const UnitProgram& program, std::span<const Real> weight,
                                support::Interrupt& interrupt) {
    for (std::size_t j = 0; j < diagonal_.size(); ++j)
        diagonal_[j] = Real(program.rho[j]) + Real(proximal_);
    if (by_rows_) return sum_columns(program, weight, interrupt);
    if (!has_steady_) {
        if (!sum_rows(program, weight, true, steady_, interrupt)) return false;
        has_steady_ = true;
    }
    matrix_ = steady_;
    for (std::size_t j = 0; j < diagonal_.size(); ++j)
        matrix_.add_to_diagonal(static_cast<std::int64_t>(j), diagonal_[j]);
    return sum_rows(program, weight, false, matrix_, interrupt);
}

template <class Real>
bool NormalSystem<Real>::factorise(const UnitProgram& program, std::span<const Real> weight,
                                   support::Interrupt& interrupt) {
    assert(std::ssize(weight) == program.n_rows());
    const auto size = by_rows_ ? std::ssize(wide_) : program.width();
    for (; proximal_ <= kLargestProximal; proximal_ *= kRaise) {
        if (!set_up(program, weight, interrupt)) return false;
        if (interrupt.poll_ahead(kCost<Real> * size * size * size / 6)) return false;
        if (matrix_.factorise()) return true;
    }
    return false;
}

template <class Real>
void NormalSystem<Real>::solve(std::span<Real> v) {
    if (!by_rows_) {
        matrix_.solve(v);
        return;
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
}

template class NormalSystem<double>;
template class NormalSystem<Number>;

}  // namespace rectiline::interior
