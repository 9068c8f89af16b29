#include "rectiline/sparse/normal_equations.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace rectiline::sparse {

namespace {

constexpr Index kEliminated = -1;
constexpr double kLeastLong = 32, kLong = 10;  // times the root of the number of columns

}  // namespace

NormalEquations::NormalEquations(CompressedRows rows, std::int64_t width, bool keeps_long_rows)
    : rows_(std::move(rows)),
      width_(width),
      unknown_(static_cast<std::size_t>(rows_.n_rows()), kEliminated) {
    const double most = std::max(kLeastLong, kLong * std::sqrt(static_cast<double>(width)));
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r) {
        if (!keeps_long_rows || static_cast<double>(rows_.length(r)) <= most) continue;
        unknown_[r] = static_cast<Index>(width_ + std::ssize(kept_));
        kept_.push_back(r);
    }
    kept_weight_.resize(kept_.size());
}

// Columns are joined where they share an eliminated row, and to the rows that are kept.
Graph NormalEquations::graph(Interrupt& interrupt) const {
    const auto size = static_cast<std::size_t>(width_) + kept_.size();
    std::vector<std::int64_t> begin(static_cast<std::size_t>(width_) + 1, 0);
    for (const std::int64_t column : rows_.columns)
        ++begin[column + 1];
    for (std::size_t j = 1; j < begin.size(); ++j)
        begin[j] += begin[j - 1];
    std::vector<std::int64_t> users(rows_.columns.size());
    std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r)
        for (std::int64_t e = rows_.begin[r]; e < rows_.begin[r + 1]; ++e)
            users[next[rows_.columns[e]]++] = r;
    Graph found;
    found.begin.push_back(0);
    std::vector<Index> mark(size, -1);
    for (std::int64_t j = 0; j < width_; ++j) {
        const auto own = static_cast<Index>(j);
        mark[j] = own;
        const auto take = [&](std::int64_t node) {
            if (mark[node] == own) return;
            mark[node] = own;
            found.nodes.push_back(static_cast<Index>(node));
        };
        for (std::int64_t u = begin[j]; u < begin[j + 1]; ++u) {
            const std::int64_t r = users[u];
            if (unknown_[r] != kEliminated) {
                take(unknown_[r]);
                continue;
            }
            for (std::int64_t e = rows_.begin[r]; e < rows_.begin[r + 1]; ++e)
                take(rows_.columns[e]);
        }
        found.begin.push_back(std::ssize(found.nodes));
        if (interrupt.poll(8 * (begin[j + 1] - begin[j] + 1))) return {};
    }
    for (const std::int64_t r : kept_) {
        for (std::int64_t e = rows_.begin[r]; e < rows_.begin[r + 1]; ++e)
            found.nodes.push_back(static_cast<Index>(rows_.columns[e]));
        found.begin.push_back(std::ssize(found.nodes));
    }
    return found;
}

// Sorts the entries of each row by the order of elimination: those that meet an entry in the lower
// triangle then follow it.
void NormalEquations::arrange() {
    const auto place = factor_.place();
    const auto size = static_cast<std::size_t>(factor_.size());
    column_begin_.assign(size + 1, 0);
    row_begin_.assign(1, 0);
    row_columns_.resize(rows_.columns.size());
    sources_.resize(rows_.columns.size());
    std::vector<std::pair<Index, std::int64_t>> row;
    std::int64_t at = 0;
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r) {
        row.clear();
        for (std::int64_t e = rows_.begin[r]; e < rows_.begin[r + 1]; ++e)
            row.emplace_back(place[rows_.columns[e]], e);
        std::sort(row.begin(), row.end());
        for (const auto& [column, source] : row) {
            row_columns_[at] = column;
            sources_[at++] = source;
            ++column_begin_[column + 1];
        }
        row_begin_.push_back(at);
    }
    for (std::size_t j = 1; j <= size; ++j)
        column_begin_[j] += column_begin_[j - 1];
    column_places_.resize(row_columns_.size());
    column_rows_.resize(row_columns_.size());
    std::vector<std::int64_t> next(column_begin_.begin(), column_begin_.end() - 1);
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r)
        for (std::int64_t e = row_begin_[r]; e < row_begin_[r + 1]; ++e) {
            const std::int64_t to = next[row_columns_[e]]++;
            column_places_[to] = e;
            column_rows_[to] = static_cast<Index>(r);
        }
    signs_.assign(size, 1.0);
    for (const std::int64_t r : kept_)
        signs_[place[unknown_[r]]] = -1.0;
    sums_.assign(size, 0.0);
    entries_.resize(factor_.rows().size());
    values_.resize(sources_.size());
    set_values(rows_.values);
}

void NormalEquations::set_values(std::span<const double> values) {
    assert(values.size() == rows_.values.size());
    if (values.data() != rows_.values.data()) rows_.values.assign(values.begin(), values.end());
    for (std::size_t e = 0; e < sources_.size(); ++e)
        values_[e] = rows_.values[sources_[e]];
}

bool NormalEquations::analyse(double most, Interrupt& interrupt) {
    const Graph joined = graph(interrupt);
    is_analysed_ = !interrupt.stopped() && factor_.analyse(joined, most, interrupt);
    sources_.clear();
    return is_analysed_;
}

void NormalEquations::adopt(const NormalEquations& other) {
    assert(other.is_analysed_ && other.width_ == width_ && kept_.empty() && other.kept_.empty());
    factor_ = other.factor_;
    is_analysed_ = true;
    sources_.clear();
}

// The lower triangle column by column, in the order of elimination.
bool NormalEquations::sum_up(std::span<const double> weight, std::span<const double> diagonal,
                             Interrupt& interrupt) {
    const auto order = factor_.order(), place = factor_.place(), rows = factor_.rows();
    const auto begin = factor_.begin();
    for (Index j = 0; j < factor_.size(); ++j) {
        std::int64_t work = 1;
        if (order[j] >= width_) {
            const std::int64_t r = kept_[order[j] - width_];
            sums_[j] = -1.0 / weight[r];
            for (std::int64_t e = row_begin_[r + 1]; e-- > row_begin_[r] && row_columns_[e] > j;)
                sums_[row_columns_[e]] = values_[e];
        } else {
            sums_[j] = diagonal[order[j]];
            for (std::int64_t k = column_begin_[j]; k < column_begin_[j + 1]; ++k) {
                const std::int64_t r = column_rows_[k], first = column_places_[k];
                if (unknown_[r] != kEliminated) {
                    const Index at = place[unknown_[r]];
                    if (at > j) sums_[at] = values_[first];
                    continue;
                }
                const double factor = weight[r] * values_[first];
                for (std::int64_t e = first; e < row_begin_[r + 1]; ++e)
                    sums_[row_columns_[e]] += factor * values_[e];
                work += row_begin_[r + 1] - first;
            }
        }
        for (std::int64_t e = begin[j]; e < begin[j + 1]; ++e)
            entries_[e] = std::exchange(sums_[rows[e]], 0.0);
        if (interrupt.poll(2 * work)) return false;
    }
    return true;
}

bool NormalEquations::factorise(std::span<const double> weight, std::span<const double> diagonal,
                                Interrupt& interrupt) {
    assert(std::ssize(weight) == rows_.n_rows() && std::ssize(diagonal) == width_);
    if (!is_analysed_ && !analyse(std::numeric_limits<double>::infinity(), interrupt)) return false;
    if (sources_.size() != rows_.columns.size()) arrange();
    for (std::size_t i = 0; i < kept_.size(); ++i)
        kept_weight_[i] = weight[kept_[i]];
    return sum_up(weight, diagonal, interrupt) && factor_.factorise(entries_, signs_, interrupt);
}

void NormalEquations::solve(std::span<double> v, std::span<const double> r,
                            std::span<double> s) const {
    const auto place = factor_.place();
    std::vector<double> x(static_cast<std::size_t>(factor_.size()), 0.0);
    for (std::int64_t j = 0; j < width_; ++j)
        x[place[j]] = v[j];
    for (std::size_t k = 0; k < r.size(); ++k) {
        if (unknown_[k] != kEliminated) {
            x[place[unknown_[k]]] = r[k] / kept_weight_[unknown_[k] - width_];
            continue;
        }
        if (r[k] == 0) continue;
        for (std::int64_t e = row_begin_[k]; e < row_begin_[k + 1]; ++e)
            x[row_columns_[e]] += values_[e] * r[k];
    }
    factor_.solve(x);
    for (std::int64_t j = 0; j < width_; ++j)
        v[j] = x[place[j]];
    for (const std::int64_t k : kept_)
        s[k] = x[place[unknown_[k]]];
}

}  // namespace rectiline::sparse
