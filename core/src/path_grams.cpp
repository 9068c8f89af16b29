#include "rectiline/path_grams.hpp"

#include "rectiline/updated_gram.hpp"

#include <algorithm>
#include <vector>

namespace rectiline {

void path_grams(const DesignView& X, const RowFunctions& rows, const double* z, std::int64_t count,
                bool intercept, double* out, int n_threads) {
    UpdatedGram gram;  // neighbours on a path differ in few rows
    std::vector<double> weight(static_cast<std::size_t>(rows.n));
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t i = 0; i < rows.n; ++i) {
            const Curve& f = rows.curve(i);
            const double t = rows.argument(i, z[k * rows.n + i]);
            weight[i] = rows.weight[i] * f.curvature[f.piece(t)];
        }
        const std::vector<double>& found = gram.at(X, weight.data(), rows.n, intercept, n_threads);
        out = std::copy(found.begin(), found.end(), out);
    }
}

}  // namespace rectiline
