#include "rectiline/prox/group_linf.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace rectiline::prox {

namespace {

// The cap of one group. Newton's method on the sum, a convex piecewise linear function of the
// level, climbs from the left to the root in finitely many steps without sorting.
double cap(std::span<const std::int64_t> columns, double radius, std::span<const double> v) {
    double total = 0.0;
    for (const std::int64_t j : columns)
        total += std::fabs(v[j]);
    std::int64_t active = static_cast<std::int64_t>(columns.size());
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

}  // namespace

void group_prox(const Groups& groups, double radius, std::span<double> v) {
    for (std::int64_t g = 0; g < groups.count(); ++g) {
        const auto columns = groups.columns.subspan(
            static_cast<std::size_t>(groups.starts[g]),
            static_cast<std::size_t>(groups.starts[g + 1] - groups.starts[g]));
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

}  // namespace rectiline::prox
