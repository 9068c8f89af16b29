// What the program consists of, and where its basis is: no arithmetic.
#include "rectiline/simplex/simplex.hpp"

#include <algorithm>

namespace rectiline::simplex {

void BoxedSimplex::add_columns(std::span<const double> cost, std::span<const double> width,
                               std::span<const std::int32_t> named, const double* values) {
    const std::int64_t first = n_columns(), count = static_cast<std::int64_t>(cost.size());
    A_.grow(0, count);
    for (const std::int32_t r : named)
        for (std::int64_t u = 0; u < count; ++u)
            A_.set(r, first + u, *values++);
    given_cost_.insert(given_cost_.end(), cost.begin(), cost.end());
    width_.insert(width_.end(), width.begin(), width.end());
    column_place_.resize(n_columns(), -1);
    turn_.resize(n_columns(), 1.0);
    open_.insert(open_.end(), width.begin(), width.end());
    t_.resize(n_columns(), 0.0);
}

void BoxedSimplex::add_rows(std::span<const double> low, std::span<const double> high,
                            std::span<const std::int32_t> named, const double* values) {
    const std::int64_t first = n_rows(), count = static_cast<std::int64_t>(low.size());
    A_.grow(count, 0);
    A_.add_to_rows(first, count, named.data(), static_cast<std::int64_t>(named.size()), values);
    low_.insert(low_.end(), low.begin(), low.end());
    high_.insert(high_.end(), high.begin(), high.end());
    row_place_.resize(n_rows(), -1);
    side_.resize(n_rows(), 1.0);
    y_.resize(n_rows(), 0.0);
}

void BoxedSimplex::set_row_bounds(std::span<const std::int32_t> rows, std::span<const double> low,
                                  std::span<const double> high) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
        low_[rows[k]] = low[k];
        high_[rows[k]] = high[k];
    }
}

void BoxedSimplex::set_widths(std::span<const std::int32_t> columns,
                              std::span<const double> width) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
        width_[columns[k]] = width[k];
        if (column_place_[columns[k]] < 0) open_[columns[k]] = width[k];
    }
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

void BoxedSimplex::set_basis(std::span<const std::uint8_t> columns,
                             std::span<const std::uint8_t> rows) {
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

void BoxedSimplex::basis(std::span<std::uint8_t> columns, std::span<std::uint8_t> rows) const {
    for (std::int64_t u = 0; u < n_columns(); ++u)
        columns[u] = column_place_[u] >= 0 ? kBasic : at_high(u) ? kAtHigh : kAtLow;
    for (std::int64_t r = 0; r < n_rows(); ++r)
        rows[r] = row_place_[r] < 0 ? kBasic : side_[r] > 0.0 ? kAtHigh : kAtLow;
}

void BoxedSimplex::values(std::span<double> v) const {
    for (std::int64_t u = 0; u < n_columns(); ++u)
        v[u] = at_high(u) ? width_[u] : 0.0;
    for (std::int64_t j = 0; j < kernel_.size(); ++j)
        v[kernel_.columns[j]] = basic_[j];
}

}  // namespace rectiline::simplex
