#include "rectiline/prox/proximal_multipliers.hpp"

#include <stdexcept>

namespace rectiline::prox {

namespace {

// The cap of one group. Newton's method on the sum, a convex piecewise linear function of the
// level, climbs from the left to the root in finitely many steps without sorting.
double cap(std::span<const std::int64_t> columns, double radius, std::span<const double> v) {
    double total = 0.0;
    for (const std::int64_t j : columns)
        total += std::fabs(v[j]);
    std::int64_t active = std::ssize(columns);
    double level = std::max((total - radius) / static_cast<double>(active), 0.0);
    while (level > 0.0) {
        std::int64_t above = 0;
        total = 0.0;
        for (const std::int64_t j : columns) {
            const double one = std::fabs(v[j]);
            if (one > level) {
                total += one;
                ++above;
            }
        }
        // The set only shrinks, but for rounding: an entry next to the level can be above it in one
        // pass and not in the other, for ever. An empty set means a radius below the rounding of
        // the entries.
        if (above >= active || above == 0) break;
        active = above;
        level = (total - radius) / static_cast<double>(above);
    }
    return level;
}

template <class T>
void sums_by_rows(const DenseView<T>& X, const Groups& atoms, std::span<const double> signs,
                  std::span<double> out) {
    for (std::int64_t i = 0; i < X.n; ++i) {
        const T* x = X.row(i);
        for (std::int64_t a = 0; a < atoms.count(); ++a) {
            double sum = 0.0;
            for (std::int64_t k = atoms.starts[a]; k < atoms.starts[a + 1]; ++k)
                sum += signs[k] * static_cast<double>(x[atoms.columns[k] * X.column_stride]);
            out[a * X.n + i] = sum;
        }
    }
}

template <class T>
void sums_by_columns(const DenseView<T>& X, const Groups& atoms, std::span<const double> signs,
                     std::span<double> out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::int64_t a = 0; a < atoms.count(); ++a)
        for (std::int64_t k = atoms.starts[a]; k < atoms.starts[a + 1]; ++k)
            axpy(signs[k], X.data + atoms.columns[k] * X.column_stride, out.data() + a * X.n, X.n);
}

double squares(std::span<const double> b) {
    return dot(b.data(), b.data(), std::ssize(b));
}

}  // namespace

void group_prox(const Groups& groups, double radius, std::span<double> v) {
    for (std::int64_t g = 0; g < groups.count(); ++g) {
        const auto columns =
            groups.columns.subspan(groups.starts[g], groups.starts[g + 1] - groups.starts[g]);
        const double level = cap(columns, radius, v);
        for (const std::int64_t j : columns)
            v[j] = std::clamp(v[j], -level, level) + 0.0;  // no negative zeros
    }
}

void signed_sums(const DesignView& X, const Groups& atoms, std::span<const double> signs,
                 std::span<double> out) {
    std::visit(
        [&](const auto& view) {
            if constexpr (requires { view.row_stride; }) {
                if (view.row_stride == 1 && view.n > 1)
                    sums_by_columns(view, atoms, signs, out);
                else
                    sums_by_rows(view, atoms, signs, out);
            } else {
                throw std::invalid_argument("signed_sums needs a dense X");
            }
        },
        X);
}

double SortedProx::prox(std::span<const double> v, double s, std::span<double> b,
                        Clusters& clusters) {
    const std::int64_t d = size();
    std::fill(b.begin(), b.end(), 0.0);
    clusters.clear();
    // What does not exceed the last strength is not in a block with a positive mean.
    const double least = d > 0 ? s * strengths_.back() : 0.0;
    sorted_.clear();
    for (std::int64_t j = 0; j < d; ++j)
        if (std::fabs(v[j]) > least) sorted_.emplace_back(-std::fabs(v[j]), j);
    std::sort(sorted_.begin(), sorted_.end());
    blocks_.clear();
    for (std::size_t k = 0; k < sorted_.size(); ++k) {
        const double above = -sorted_[k].first - s * strengths_[k];
        Block block{above, above, 1};
        while (!blocks_.empty() && blocks_.back().mean <= block.mean) {
            block.sum += blocks_.back().sum;
            block.size += blocks_.back().size;
            block.mean = block.sum / static_cast<double>(block.size);
            blocks_.pop_back();
        }
        blocks_.push_back(block);
    }
    std::size_t k = 0;
    double total = 0.0;
    for (const Block& block : blocks_) {
        const double level = block.mean;
        if (!(level > 0.0)) break;
        for (const std::size_t end = k + static_cast<std::size_t>(block.size); k < end; ++k) {
            const std::int64_t j = sorted_[k].second;
            b[j] = std::copysign(level, v[j]);
            clusters.places.push_back(j);
        }
        clusters.close();
        total += level * level * static_cast<double>(block.size);
    }
    return total / (2.0 * s);  // v'b = s Omega(b) + |b|^2, as for every norm
}

GroupProx::GroupProx(std::int64_t size, std::vector<std::int64_t> columns,
                     std::vector<std::int64_t> starts, double strength, double l1)
    : size_(size),
      columns_(std::move(columns)),
      starts_(std::move(starts)),
      strength_(strength),
      l1_(l1) {
    std::vector<bool> owned(size, false);
    for (const std::int64_t j : columns_)
        owned[j] = true;
    for (std::int64_t j = 0; j < size; ++j)
        if (!owned[j]) free_.push_back(j);
}

double GroupProx::prox(std::span<const double> v, double s, std::span<double> b,
                       Clusters& clusters) {
    for (std::int64_t j = 0; j < size_; ++j)
        b[j] = v[j] - std::clamp(v[j], -s * l1_, s * l1_);
    clusters.clear();
    const Groups groups{columns_, starts_};
    const bool is_capped = s * strength_ > 0.0;
    if (is_capped) group_prox(groups, s * strength_, b);
    for (std::int64_t g = 0; g < groups.count(); ++g) {
        const std::int64_t first = starts_[g], last = starts_[g + 1];
        double largest = 0.0;
        for (std::int64_t k = first; k < last; ++k)
            largest = std::max(largest, std::fabs(b[columns_[k]]));
        if (largest == 0.0) continue;
        if (is_capped) {
            for (std::int64_t k = first; k < last; ++k)
                if (std::fabs(b[columns_[k]]) == largest) clusters.places.push_back(columns_[k]);
            clusters.close();
        }
        for (std::int64_t k = first; k < last; ++k) {
            const double one = std::fabs(b[columns_[k]]);
            if (one != 0.0 && !(one == largest && is_capped)) clusters.add_alone(columns_[k]);
        }
    }
    for (const std::int64_t j : free_)
        if (b[j] != 0.0) clusters.add_alone(j);
    return squares(b) / (2.0 * s);
}

double SeparableProx::prox(std::span<const double> v, double s, std::span<double> b,
                           Clusters& clusters) {
    clusters.clear();
    double value = 0.0;
    for (std::int64_t j = 0; j < size(); ++j) {
        const double shrunk = std::max(std::fabs(v[j]) - s * l1_[j], 0.0);
        b[j] = std::clamp(std::copysign(shrunk, v[j]), lower_[j], upper_[j]) + 0.0;
        value += b[j] * (v[j] - 0.5 * b[j]) / s - l1_[j] * std::fabs(b[j]);
        if (b[j] != 0.0 && b[j] > lower_[j] && b[j] < upper_[j]) clusters.add_alone(j);
    }
    return value;
}

}  // namespace rectiline::prox
