#include "rectiline/path/path_grams.hpp"

#include "rectiline/design/updated_gram.hpp"
#include "rectiline/rows/packed_curve.hpp"

#include <algorithm>
#include <vector>

namespace rectiline::path {
namespace {

template <class Packed>
RECTILINE_MULTIVERSION void curvature_pass(const Packed& curve, const RowFunctions& rows,
                                           const double* weight, const double* z, double* out) {
    const Packed f = curve;
    const double *direction = rows.direction, *offset = rows.offset;
#pragma omp simd
    for (std::int64_t i = 0; i < rows.n; ++i)
        out[i] = weight[i] * f.curvature_at(direction[i] * z[i] + offset[i]);
}

void curvatures(const RowFunctions& rows, const double* weight, const double* z, double* out) {
    if (!rows.curve_index && with_packed(rows.curves[0], [&](const auto& packed) {
            curvature_pass(packed, rows, weight, z, out);
        }))
        return;
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const Curve& f = rows.curve(i);
        out[i] = weight[i] * f.curvature[f.piece(rows.argument(i, z[i]))];
    }
}

}  // namespace

void path_grams(const DesignView& X, const RowFunctions& rows, const double* weight,
                const double* z, std::int64_t count, bool intercept, double* out, int n_threads) {
    UpdatedGram gram;  // neighbours on a path differ in few rows
    std::vector<double> curved(static_cast<std::size_t>(rows.n));
    for (std::int64_t k = 0; k < count; ++k) {
        curvatures(rows, weight, z + k * rows.n, curved.data());
        const std::vector<double>& found = gram.at(X, curved.data(), rows.n, intercept, n_threads);
        out = std::copy(found.begin(), found.end(), out);
    }
}

}  // namespace rectiline::path
