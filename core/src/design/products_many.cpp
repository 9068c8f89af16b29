#include "rectiline/design/products_many.hpp"

#include "rectiline/design/many_kernels.hpp"

#include <algorithm>
#include <vector>

namespace rectiline::design {
namespace {

#ifdef RECTILINE_LANES
constexpr std::int64_t kColumns = 1024;  // summed at a time, in a cache

bool counts(const double* weight, std::int64_t first, std::int64_t rows) {
    return !weight ||
           std::any_of(weight + first, weight + first + rows, [](double one) { return one > 0; });
}

template <class T>
void multiply_dense(const DenseView<T>& X, std::int64_t count, const double* B, const double* shift,
                    const double* weight, double* Z) {
    const std::int64_t padded = (count + kSide - 1) / kSide * kSide;
    std::vector<double> Bt(static_cast<std::size_t>(padded * X.d)), start(padded, 0.0);
    std::copy(shift, shift + count, start.begin());
    over_vectors(count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
        turn_in(B + first * X.d, X.d, some, X.d, Groups * kLanes, Bt.data() + first * X.d);
    });
    double out[kTurned * kSide];
    for (std::int64_t i = 0; i < X.n; i += kTurned) {
        const std::int64_t rows = std::min(kTurned, X.n - i);
        if (!counts(weight, i, rows)) {
            for (std::int64_t k = 0; k < count; ++k)
                std::fill_n(Z + k * X.n + i, rows, shift[k]);
            continue;
        }
        over_vectors(count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
            with_lanes<RowsTimesMany<Groups>>(X.row(i), X.row_stride, rows, X.d,
                                              Bt.data() + first * X.d, start.data() + first, out);
            turn_out(out, Groups * kLanes, some, rows, X.n, Z + first * X.n + i);
        });
    }
}

template <class T>
void multiply_dense_transposed(const DenseView<T>& X, std::int64_t count, const double* G,
                               const double* weight, double* Q) {
    const std::int64_t padded = (count + kSide - 1) / kSide * kSide;
    const std::int64_t most = std::min(X.d, kColumns);
    std::vector<double> Qt(static_cast<std::size_t>(padded * most));
    double in[kTurned * kSide];
    for (std::int64_t j = 0; j < X.d; j += kColumns) {
        const std::int64_t columns = std::min(kColumns, X.d - j);
        std::fill(Qt.begin(), Qt.end(), 0.0);
        for (std::int64_t i = 0; i < X.n; i += kTurned) {
            const std::int64_t rows = std::min(kTurned, X.n - i);
            if (!counts(weight, i, rows)) continue;
            over_vectors(count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
                turn_in(G + first * X.n + i, X.n, some, rows, Groups * kLanes, in);
                with_lanes<AddTransposedMany<Groups>>(X.row(i) + j, X.row_stride, rows, columns, in,
                                                      Qt.data() + first * columns);
            });
        }
        over_vectors(count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
            turn_out(Qt.data() + first * columns, Groups * kLanes, some, columns, X.d,
                     Q + first * X.d + j);
        });
    }
}
#endif

}  // namespace

bool takes_many(const DesignView& X) {
#ifdef RECTILINE_LANES
    return std::visit(
        []<class View>(const View& view) {
            if constexpr (requires { view.row_stride; })
                return view.rows_contiguous();
            else
                return false;
        },
        X);
#else
    return false;
#endif
}

void multiply_many(const DesignView& X, std::int64_t count, const double* B, const double* shift,
                   const double* weight, double* Z) {
#ifdef RECTILINE_LANES
    std::visit(
        [&]<class View>(const View& view) {
            if constexpr (requires { view.row_stride; })
                multiply_dense(view, count, B, shift, weight, Z);
        },
        X);
#endif
}

void multiply_transposed_many(const DesignView& X, std::int64_t count, const double* G,
                              const double* weight, double* Q) {
#ifdef RECTILINE_LANES
    std::visit(
        [&]<class View>(const View& view) {
            if constexpr (requires { view.row_stride; })
                multiply_dense_transposed(view, count, G, weight, Q);
        },
        X);
#endif
}

}  // namespace rectiline::design
