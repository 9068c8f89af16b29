#include "rectiline/sparse/normal_equations.hpp"

#include <cassert>
#include <numeric>
#include <utility>

namespace rectiline::sparse {

namespace {

constexpr Index kEliminated = -1;
constexpr double kLeastLong = 32, kLong = 10;  // times the root of the number of columns

// The entries of each of `width` columns, in the order of the rows.
template <class Columns>
EntriesByColumns by_columns(const std::vector<std::int64_t>& row_begin, const Columns& columns,
                            std::int64_t width) {
    EntriesByColumns found{std::vector<std::int64_t>(static_cast<std::size_t>(width) + 1, 0),
                           std::vector<std::int64_t>(columns.size()),
                           std::vector<Index>(columns.size())};
    for (const auto column : columns)
        ++found.begin[column + 1];
    std::partial_sum(found.begin.begin(), found.begin.end(), found.begin.begin());
    std::vector<std::int64_t> next(found.begin);
    for (std::size_t r = 0; r + 1 < row_begin.size(); ++r)
        for (std::int64_t e = row_begin[r]; e < row_begin[r + 1]; ++e) {
            const std::int64_t to = next[columns[e]]++;
            found.places[to] = e;
            found.rows[to] = static_cast<Index>(r);
        }
    return found;
}

}  // namespace

NormalEquations::NormalEquations(CompressedRows rows, std::int64_t width, bool keeps_long_rows)
    : rows_(std::move(rows)), width_(width), unknown_(rows_.n_rows(), kEliminated) {
    const double most = std::max(kLeastLong, kLong * std::sqrt(static_cast<double>(width)));
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r) {
        if (!keeps_long_rows || static_cast<double>(rows_.length(r)) <= most) continue;
        unknown_[r] = static_cast<Index>(width_ + std::ssize(kept_));
        kept_.push_back(r);
    }
    kept_weight_.resize(kept_.size());
}

// Columns are joined where they share an eliminated row, and to the rows that are kept. Empty when
// asked to stop, or where these are more pairs than a factor may have entries.
Graph NormalEquations::graph(double most, Interrupt& interrupt) const {
    const auto size = static_cast<std::size_t>(width_) + kept_.size();
    const auto [begin, places, users] = by_columns(rows_.begin, rows_.columns, width_);
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
        std::int64_t work = 1;
        for (std::int64_t u = begin[j]; u < begin[j + 1]; ++u) {
            const std::int64_t r = users[u];
            work += rows_.length(r);
            if (unknown_[r] != kEliminated) {
                take(unknown_[r]);
                continue;
            }
            for (std::int64_t e = rows_.begin[r]; e < rows_.begin[r + 1]; ++e)
                take(rows_.columns[e]);
        }
        found.begin.push_back(std::ssize(found.nodes));
        const bool is_full = 0.5 * static_cast<double>(found.nodes.size()) > most;
        if (is_full || interrupt.poll(8 * work)) return {};
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
    row_columns_.resize(rows_.columns.size());
    sources_.resize(rows_.columns.size());
    std::vector<std::pair<Index, std::int64_t>> row;
    for (std::int64_t r = 0; r < rows_.n_rows(); ++r) {
        row.clear();
        for (std::int64_t e = rows_.begin[r]; e < rows_.begin[r + 1]; ++e)
            row.emplace_back(place[rows_.columns[e]], e);
        std::sort(row.begin(), row.end());
        for (std::int64_t at = rows_.begin[r]; const auto& [column, source] : row) {
            row_columns_[at] = column;
            sources_[at++] = source;
        }
    }
    columns_ = by_columns(rows_.begin, row_columns_, factor_.size());
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
    const Graph joined = graph(most, interrupt);
    is_analysed_ = !joined.begin.empty() && factor_.analyse(joined, most, interrupt);
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
            for (std::int64_t e = rows_.begin[r + 1]; e-- > rows_.begin[r] && row_columns_[e] > j;)
                sums_[row_columns_[e]] = values_[e];
        } else {
            sums_[j] = diagonal[order[j]];
            for (std::int64_t k = columns_.begin[j]; k < columns_.begin[j + 1]; ++k) {
                const std::int64_t r = columns_.rows[k], first = columns_.places[k];
                if (unknown_[r] != kEliminated) {
                    const Index at = place[unknown_[r]];
                    if (at > j) sums_[at] = values_[first];
                    continue;
                }
                const double factor = weight[r] * values_[first];
                for (std::int64_t e = first; e < rows_.begin[r + 1]; ++e)
                    sums_[row_columns_[e]] += factor * values_[e];
                work += rows_.begin[r + 1] - first;
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
    if (!is_analysed_ && !analyse(kInfinity, interrupt)) return false;
    if (sources_.size() != rows_.columns.size()) arrange();
    for (std::size_t i = 0; i < kept_.size(); ++i)
        kept_weight_[i] = weight[kept_[i]];
    return sum_up(weight, diagonal, interrupt) && factor_.factorise(entries_, signs_, interrupt);
}

void NormalEquations::solve(std::span<double> v, std::span<const double> r,
                            std::span<double> s) const {
    const auto place = factor_.place();
    std::vector<double> x(factor_.size(), 0.0);
    for (std::int64_t j = 0; j < width_; ++j)
        x[place[j]] = v[j];
    for (std::size_t k = 0; k < r.size(); ++k) {
        if (unknown_[k] != kEliminated) {
            x[place[unknown_[k]]] = r[k] / kept_weight_[unknown_[k] - width_];
            continue;
        }
        if (r[k] == 0) continue;
        for (std::int64_t e = rows_.begin[k]; e < rows_.begin[k + 1]; ++e)
            x[row_columns_[e]] += values_[e] * r[k];
    }
    factor_.solve(x);
    for (std::int64_t j = 0; j < width_; ++j)
        v[j] = x[place[j]];
    for (const std::int64_t k : kept_)
        s[k] = x[place[unknown_[k]]];
}

}  // namespace rectiline::sparse
