#include "rectiline/design/moments.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace rectiline::design {
namespace {

constexpr double kDenormal = 0x1p-1022;  // squares below this may have lost all their digits
constexpr double kLeastSpread = 1e-12;   // of the mean square of a column that is centred
constexpr int kLargestExponent = 500;    // of a scale: its square does not overflow

// Every so many rows of a dense X, which its columns are measured by before the pass over all rows.
DesignView some_rows(const DesignView& X) {
    constexpr std::int64_t kSample = 64;
    return std::visit(
        []<class View>(const View& view) -> DesignView {
            if constexpr (requires { view.row_stride; }) {
                const std::int64_t step = std::max<std::int64_t>(1, view.n / kSample);
                return View{view.data, (view.n + step - 1) / step, view.d, step * view.row_stride,
                            view.column_stride};
            } else {
                return view;
            }
        },
        X);
}

// Turns sums of squares into powers of two of about the size of the columns. Columns without an
// entry, or with squares that overflow, get the mean exponent of the others.
void set_scales(std::span<double> s) {
    const std::int64_t d = std::ssize(s);
    std::int64_t total = 0, seen = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        if (!(s[j] > 0) || !std::isfinite(s[j])) {
            s[j] = 0;
            continue;
        }
        const int exponent = std::clamp(std::ilogb(s[j]) / 2, -kLargestExponent, kLargestExponent);
        s[j] = std::ldexp(1.0, exponent);
        total += exponent, ++seen;
    }
    const double other = seen > 0 ? std::ldexp(1.0, static_cast<int>(total / seen)) : 1.0;
    for (std::int64_t j = 0; j < d; ++j)
        if (s[j] == 0) s[j] = other;
}

// Upper bounds on norms: rounding is allowed for; norms whose squares overflow are infinite.
RECTILINE_MULTIVERSION void set_norms(const double* square, std::int64_t count, double margin,
                                      double lost, double* norm) {
#pragma omp simd
    for (std::int64_t k = 0; k < count; ++k)
        norm[k] = std::sqrt(square[k] * margin + lost) * margin;
}

}  // namespace

void moments(const DesignView& X, const Moments& out) {
    const std::int64_t n = n_rows(X), d = n_columns(X);
    assert(std::ssize(out.row_norm) == n && std::ssize(out.column_norm) == d);
    assert(std::ssize(out.sum) == d && std::ssize(out.square) == d && std::ssize(out.scale) == d);
    const DesignView sample = some_rows(X);
    const std::vector<double> ones(static_cast<std::size_t>(n), 1.0);
    column_squares(sample, std::span(ones).first(static_cast<std::size_t>(n_rows(sample))),
                   out.scale);
    set_scales(out.scale);
    std::vector<double> inverse(static_cast<std::size_t>(d));
    double inverses = 0;
    for (std::int64_t j = 0; j < d; ++j) {
        inverse[j] = 1.0 / (out.scale[j] * out.scale[j]);
        inverses += inverse[j];
    }
    if (!moments_of_rows(X, inverse, out.sum, out.square, out.row_norm)) {
        multiply_transposed(X, ones, out.sum);
        column_squares(X, ones, out.square);
        row_squares(X, inverse, out.row_norm);
    }
    const double margin = 1.0 + 0x1p-51 * static_cast<double>(n + d + 8);
    const double lost = static_cast<double>(n) * kDenormal;
    set_norms(out.square.data(), d, margin, lost, out.column_norm.data());
    over_stretches(n, [&](std::int64_t first, std::int64_t last) {
        double* norm = out.row_norm.data() + first;
        set_norms(norm, last - first, margin, inverses * kDenormal, norm);
    });
}

bool column_units(std::span<const double> mean, std::span<const double> square, bool centred,
                  std::span<double> shift, std::span<double> unit) {
    assert(square.size() == mean.size() && shift.size() == mean.size());
    assert(unit.size() == mean.size());
    bool any = false;
    for (std::size_t j = 0; j < mean.size(); ++j) {
        const double spread = square[j] - mean[j] * mean[j];
        const bool moves = centred && spread > kLeastSpread * square[j];
        const double root = std::sqrt(moves ? spread : square[j]);
        shift[j] = moves ? mean[j] : 0.0;
        unit[j] = root == 0 ? 1.0 : 1.0 / root;
        any = any || shift[j] != 0;
    }
    return any;
}

}  // namespace rectiline::design
