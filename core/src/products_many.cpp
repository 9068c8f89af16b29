#include "rectiline/products_many.hpp"

#include "rectiline/lanes.hpp"

#include <algorithm>
#include <vector>

namespace rectiline {
namespace {

// Vectors lie side by side in a few lanes, so that a row of X meets all of them: its entries are
// spread over the lanes one by one, and nothing of X is packed or turned. Blocks of rows are turned
// between this order and the one in which each vector lies in one piece.
#ifdef RECTILINE_LANES
constexpr std::int64_t kBlock = 64;         // rows turned at a time
constexpr std::int64_t kSide = 2 * kLanes;  // vectors taken together
constexpr int kAccumulators = 8;            // enough to hide the latency of a sum

// out[r * width + k] = in[k * stride + r]; vectors beyond `count` are zero.
RECTILINE_MULTIVERSION void turn_in(const double* in, std::int64_t stride, std::int64_t count,
                                    std::int64_t rows, std::int64_t width, double* out) {
    for (std::int64_t r = 0; r < rows; ++r) {
        double* line = out + r * width;
        for (std::int64_t k = 0; k < count; ++k)
            line[k] = in[k * stride + r];
        for (std::int64_t k = count; k < width; ++k)
            line[k] = 0.0;
    }
}

RECTILINE_MULTIVERSION void turn_out(const double* in, std::int64_t width, std::int64_t count,
                                     std::int64_t rows, std::int64_t stride, double* out) {
    for (std::int64_t k = 0; k < count; ++k)
        for (std::int64_t r = 0; r < rows; ++r)
            out[k * stride + r] = in[r * width + k];
}

// out (rows x 8 Groups) = start + X Bt, with Bt (d x 8 Groups)
template <int Groups, class T>
RECTILINE_MULTIVERSION void rows_times_many(const T* x, std::int64_t stride, std::int64_t rows,
                                            std::int64_t d, const double* Bt, const double* start,
                                            double* out) {
    constexpr int kTall = kAccumulators / Groups;
    constexpr std::int64_t kWidth = Groups * kLanes;
    for (std::int64_t i = 0; i < rows; i += kTall) {
        const T* row[kTall];
        for (int r = 0; r < kTall; ++r)  // a row too many is done twice
            row[r] = x + std::min(i + r, rows - 1) * stride;
        Lanes sum[kTall][Groups];
        for (int g = 0; g < Groups; ++g)
            for (int r = 0; r < kTall; ++r)
                load_lanes(start + g * kLanes, sum[r][g]);
        for (std::int64_t j = 0; j < d; ++j) {
            Lanes b[Groups];
            for (int g = 0; g < Groups; ++g)
                load_lanes(Bt + j * kWidth + g * kLanes, b[g]);
            for (int r = 0; r < kTall; ++r) {
                const double v = static_cast<double>(row[r][j]);
                for (int g = 0; g < Groups; ++g)
                    sum[r][g] += v * b[g];
            }
        }
        for (int r = 0; r < kTall; ++r)
            for (int g = 0; g < Groups; ++g)
                *reinterpret_cast<Lanes*>(out + std::min(i + r, rows - 1) * kWidth + g * kLanes) =
                    sum[r][g];
    }
}

// Qt (d x 8 Groups) += X' Gt, with Gt (rows x 8 Groups)
template <int Groups, class T>
RECTILINE_MULTIVERSION void add_transposed_many(const T* x, std::int64_t stride, std::int64_t rows,
                                                std::int64_t d, const double* Gt, double* Qt) {
    constexpr int kTall = kAccumulators / Groups;
    constexpr std::int64_t kWidth = Groups * kLanes;
    for (std::int64_t j = 0; j < d; j += kTall) {
        std::int64_t column[kTall];
        for (int c = 0; c < kTall; ++c)
            column[c] = std::min(j + c, d - 1);
        Lanes sum[kTall][Groups];
        for (int c = 0; c < kTall; ++c)
            for (int g = 0; g < Groups; ++g)
                load_lanes(Qt + column[c] * kWidth + g * kLanes, sum[c][g]);
        for (std::int64_t i = 0; i < rows; ++i) {
            const T* row = x + i * stride;
            Lanes v[Groups];
            for (int g = 0; g < Groups; ++g)
                load_lanes(Gt + i * kWidth + g * kLanes, v[g]);
            for (int c = 0; c < kTall; ++c) {
                const double weight = static_cast<double>(row[column[c]]);
                for (int g = 0; g < Groups; ++g)
                    sum[c][g] += weight * v[g];
            }
        }
        for (int c = 0; c < kTall; ++c)
            for (int g = 0; g < Groups; ++g)
                *reinterpret_cast<Lanes*>(Qt + column[c] * kWidth + g * kLanes) = sum[c][g];
    }
}

bool counts(const double* weight, std::int64_t first, std::int64_t rows) {
    return !weight ||
           std::any_of(weight + first, weight + first + rows, [](double one) { return one > 0; });
}

// Calls kernel<Groups>(first, count) for every few vectors.
template <class Kernel>
void over_vectors(std::int64_t count, const Kernel& kernel) {
    for (std::int64_t first = 0; first < count; first += kSide) {
        const std::int64_t some = std::min(kSide, count - first);
        if (some > kLanes)
            kernel.template operator()<2>(first, some);
        else
            kernel.template operator()<1>(first, some);
    }
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
    double out[kBlock * kSide];
    for (std::int64_t i = 0; i < X.n; i += kBlock) {
        const std::int64_t rows = std::min(kBlock, X.n - i);
        if (!counts(weight, i, rows)) {
            for (std::int64_t k = 0; k < count; ++k)
                std::fill_n(Z + k * X.n + i, rows, shift[k]);
            continue;
        }
        over_vectors(count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
            rows_times_many<Groups>(X.row(i), X.row_stride, rows, X.d, Bt.data() + first * X.d,
                                    start.data() + first, out);
            turn_out(out, Groups * kLanes, some, rows, X.n, Z + first * X.n + i);
        });
    }
}

template <class T>
void multiply_dense_transposed(const DenseView<T>& X, std::int64_t count, const double* G,
                               const double* weight, double* Q) {
    const std::int64_t padded = (count + kSide - 1) / kSide * kSide;
    std::vector<double> Qt(static_cast<std::size_t>(padded * X.d), 0.0);
    double in[kBlock * kSide];
    for (std::int64_t i = 0; i < X.n; i += kBlock) {
        const std::int64_t rows = std::min(kBlock, X.n - i);
        if (!counts(weight, i, rows)) continue;
        over_vectors(count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
            turn_in(G + first * X.n + i, X.n, some, rows, Groups * kLanes, in);
            add_transposed_many<Groups>(X.row(i), X.row_stride, rows, X.d, in,
                                        Qt.data() + first * X.d);
        });
    }
    over_vectors(count, [&]<int Groups>(std::int64_t first, std::int64_t some) {
        turn_out(Qt.data() + first * X.d, Groups * kLanes, some, X.d, X.d, Q + first * X.d);
    });
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

}  // namespace rectiline
