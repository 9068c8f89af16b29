// What the program consists of, and where its basis is: no arithmetic.
#include "rectiline/simplex/simplex.hpp"

#include <algorithm>

namespace rectiline::simplex {

void BoxedSimplex::add_columns(std::int64_t count, const double* cost, const double* width,
                               const std::int32_t* named, std::int64_t n_named,
                               const double* values) {
    const std::int64_t first = n_columns();
    A_.grow(0, count);
    for (std::int64_t k = 0; k < n_named; ++k)
        for (std::int64_t u = 0; u < count; ++u)
            A_.set(named[k], first + u, values[k * count + u]);
    given_cost_.insert(given_cost_.end(), cost, cost + count);
    width_.insert(width_.end(), width, width + count);
    column_place_.resize(n_columns(), -1);
    turn_.resize(n_columns(), 1.0);
    open_.insert(open_.end(), width, width + count);
    t_.resize(n_columns(), 0.0);
}

void BoxedSimplex::add_rows(std::int64_t count, const double* low, const double* high,
                            const std::int32_t* named, std::int64_t n_named, const double* values) {
    const std::int64_t first = n_rows();
    A_.grow(count, 0);
    A_.add_to_rows(first, count, named, n_named, values);
    low_.insert(low_.end(), low, low + count);
    high_.insert(high_.end(), high, high + count);
    row_place_.resize(n_rows(), -1);
    side_.resize(n_rows(), 1.0);
    y_.resize(n_rows(), 0.0);
}

void BoxedSimplex::set_row_bounds(std::int64_t count, const std::int32_t* rows, const double* low,
                                  const double* high) {
    for (std::int64_t k = 0; k < count; ++k) {
        low_[rows[k]] = low[k];
        high_[rows[k]] = high[k];
    }
}

void BoxedSimplex::set_widths(std::int64_t count, const std::int32_t* columns,
                              const double* width) {
    for (std::int64_t k = 0; k < count; ++k)
        width_[columns[k]] = width[k];
    for (std::int64_t k = 0; k < count; ++k)
        if (column_place_[columns[k]] < 0) open_[columns[k]] = width[k];
}

void BoxedSimplex::note_places() {
    std::fill(column_place_.begin(), column_place_.end(), -1);
    std::fill(row_place_.begin(), row_place_.end(), -1);
    open_ = width_;
    for (std::int64_t i = 0; i < kernel_.size(); ++i) {
        row_place_[kernel_.rows[i]] = static_cast<std::int32_t>(i);
        column_place_[kernel_.columns[i]] = static_cast<std::int32_t>(i);
        open_[kernel_.columns[i]] = 0.0;
    }
}

void BoxedSimplex::forget_basis() {
    kernel_ = KernelInverse();
    note_places();
    normed_rows_ = 0;
}

void BoxedSimplex::set_basis(const std::uint8_t* columns, const std::uint8_t* rows) {
    forget_basis();
    for (std::int64_t u = 0; u < n_columns(); ++u) {
        turn_[u] = columns[u] == kAtHigh ? -1.0 : 1.0;
        if (columns[u] == kBasic) kernel_.columns.push_back(static_cast<std::int32_t>(u));
    }
    for (std::int64_t r = 0; r < n_rows(); ++r) {
        side_[r] = rows[r] == kAtHigh ? 1.0 : -1.0;
        if (rows[r] != kBasic) kernel_.rows.push_back(static_cast<std::int32_t>(r));
    }
    const std::size_t size = std::min(kernel_.rows.size(), kernel_.columns.size());
    kernel_.rows.resize(size);
    kernel_.columns.resize(size);
    Interrupt never;
    kernel_.factorise(A_, never);
    note_places();
}

void BoxedSimplex::basis(std::uint8_t* columns, std::uint8_t* rows) const {
    for (std::int64_t u = 0; u < n_columns(); ++u)
        columns[u] = column_place_[u] >= 0 ? kBasic : at_high(u) ? kAtHigh : kAtLow;
    for (std::int64_t r = 0; r < n_rows(); ++r)
        rows[r] = row_place_[r] < 0 ? kBasic : side_[r] > 0.0 ? kAtHigh : kAtLow;
}

void BoxedSimplex::values(double* v) const {
    for (std::int64_t u = 0; u < n_columns(); ++u)
        v[u] = at_high(u) ? width_[u] : 0.0;
    for (std::int64_t j = 0; j < kernel_.size(); ++j)
        v[kernel_.columns[j]] = basic_[j];
}

}  // namespace rectiline::simplex
