#include "rectiline/design/gram.hpp"

#include "rectiline/design/row_access.hpp"
#include "rectiline/support/lanes.hpp"
#include "rectiline/support/threads.hpp"

#include <cassert>

namespace rectiline::design {

namespace {

// Rows are scaled by sqrt(weight) into a packed block P; then H += P'P tile by tile. A tile is
// kTall rows by kWide columns where registers hold eight numbers, else by kNarrow: eight registers
// of accumulators. The columns are padded to a multiple of kNarrow; what does not fill a wide tile
// is done in narrow ones.
constexpr std::int64_t kDepth = 128, kTall = 4, kWide = 16, kNarrow = 8;
constexpr double kBetweenPolls = 2e7;           // multiply-adds of each thread
constexpr std::int64_t kMostPartial = 1 << 19;  // entries of all partial matrices, if more than 8

struct Tiling {
    std::int64_t order;   // columns of H, padded
    std::int64_t stride;  // of the rows of P

    explicit Tiling(std::int64_t columns)
        : order((columns + kNarrow - 1) / kNarrow * kNarrow), stride(order) {
        // P is read down its columns: beyond what the first cache holds, rows that are an odd
        // number of cache lines apart do not push each other out.
        constexpr std::int64_t kFirstCache = 32768 / sizeof(double);
        if (kDepth * order > kFirstCache && order / kNarrow % 2 == 0) stride += kNarrow;
    }
};

// tile (kTall x Width) += P[:, i:i+kTall]' P[:, j:j+Width]
template <int Width, class Lanes>
RECTILINE_INLINE void add_tile(const double* P, const Tiling& tiling, std::int64_t depth,
                               std::int64_t i, std::int64_t j, double* H) {
    constexpr int kParts = Width / kLanes;
    ProductTile<Lanes, kTall, kParts> sums;
    sums.set(P + i, tiling.stride, P + j, tiling.stride, depth);
    for (int r = 0; r < kTall; ++r)
        for (int part = 0; part < kParts; ++part) {
            double* target = H + (i + r) * tiling.order + j + kLanes * part;
            Lanes sum;
            sum.load(target);
            sum.add(sums.of[r][part]);
            sum.store(target);
        }
}

// Adds the upper tiles of P'P to H.
struct AddTiles {
    template <class Lanes>
    static RECTILINE_INLINE void run(const double* P, const Tiling* tiling, std::int64_t depth,
                                     double* H) {
        constexpr int kWidth = Lanes::kRegisters == 1 ? kWide : kNarrow;
        std::int64_t j = 0;
        for (; j + kWidth <= tiling->order; j += kWidth)
            for (std::int64_t i = 0; i < j + kWidth; i += kTall)
                add_tile<kWidth, Lanes>(P, *tiling, depth, i, j, H);
        if (j < tiling->order)
            for (std::int64_t i = 0; i < tiling->order; i += kTall)
                add_tile<kNarrow, Lanes>(P, *tiling, depth, i, j, H);
    }
};

template <class T>
RECTILINE_MULTIVERSION void pack_row(const T* x, std::int64_t stride, std::int64_t d, double scale,
                                     double* out) {
    if (stride == 1) {
#pragma omp simd
        for (std::int64_t j = 0; j < d; ++j)
            out[j] = scale * static_cast<double>(x[j]);
    } else {
        for (std::int64_t j = 0; j < d; ++j)
            out[j] = scale * static_cast<double>(x[j * stride]);
    }
}

template <class T>
void dense_part(const DenseView<T>& X, const std::int64_t* rows, const double* weight,
                std::int64_t count, bool intercept, const Tiling& tiling, double* H) {
    std::vector<double> packed(kDepth * tiling.stride, 0.0);
    for (std::int64_t first = 0; first < count; first += kDepth) {
        const std::int64_t depth = std::min(kDepth, count - first);
        for (std::int64_t k = 0; k < depth; ++k) {
            if (first + k + kRowsAhead < count) X.prefetch_row(rows[first + k + kRowsAhead]);
            const double scale = std::sqrt(weight[first + k]);
            double* out = packed.data() + k * tiling.stride;
            pack_row(X.row(rows[first + k]), X.column_stride, X.d, scale, out);
            if (intercept) out[X.d] = scale;
        }
        with_lanes<AddTiles>(static_cast<const double*>(packed.data()), &tiling, depth, H);
    }
}

template <class T, class I>
void sparse_part(const SparseView<T, I>& X, const std::int64_t* rows, const double* weight,
                 std::int64_t count, bool intercept, std::int64_t order, double* H) {
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t i = rows[k];
        const I start = X.pointers[i], end = X.pointers[i + 1];
        for (I e = start; e < end; ++e) {
            const double v = weight[k] * static_cast<double>(X.values[e]);
            double* row = H + static_cast<std::int64_t>(X.indices[e]) * order;
            // canonical rows have increasing indices, so this stays in the upper half
            for (I f = e; f < end; ++f)
                row[X.indices[f]] += v * static_cast<double>(X.values[f]);
            if (intercept) row[X.d] += v;
        }
        if (intercept) H[X.d * order + X.d] += weight[k];
    }
}

template <class T>
std::int64_t full_chunks(const DenseView<T>&, std::span<const std::int64_t> rows, std::int64_t D) {
    return std::ssize(rows) / std::max<std::int64_t>(2048, 4 * D);
}

template <class T, class I>
std::int64_t full_chunks(const SparseView<T, I>& X, std::span<const std::int64_t> rows,
                         std::int64_t D) {
    double pairs = 0.0;
    for (const std::int64_t i : rows)
        pairs += std::pow(static_cast<double>(X.line(i).size()), 2);
    const double most = static_cast<double>(rows.size()) / 2048.0;
    return static_cast<std::int64_t>(std::min(pairs / (32.0 * static_cast<double>(D * D)), most));
}

constexpr std::int64_t kRefreshEvery = 24;  // removes the rounding of repeated updates
constexpr std::int64_t kMostChanged = 3;    // one in so many: beyond, a new sum is cheaper

}  // namespace

bool weighted_gram(const DesignView& X, std::span<const std::int64_t> rows,
                   std::span<const double> weight, bool intercept, std::span<double> H,
                   Interrupt& interrupt) {
    const std::int64_t D = n_columns(X) + (intercept ? 1 : 0), count = std::ssize(rows);
    assert(weight.size() == rows.size() && std::ssize(H) == D * D);
    const Tiling tiling(D);
    const std::int64_t order = tiling.order;
    const std::size_t size = static_cast<std::size_t>(order * order);
    const auto most =
        std::clamp<std::int64_t>(kMostPartial / static_cast<std::int64_t>(size), 8, 32);
    // A chunk is worth a partial matrix of its own only if it adds to most entries many times.
    const std::int64_t chunks = std::clamp<std::int64_t>(
        std::visit([&](const auto& view) { return full_chunks(view, rows, D); }, X), 1, most);
    std::vector<double> partial(size * static_cast<std::size_t>(chunks), 0.0);
    const std::int64_t share = (count + chunks - 1) / chunks;
    // Every chunk in slices of whole blocks, so that the sums do not depend on the polls.
    const double blocks = kBetweenPolls * thread_count() /
                          (static_cast<double>(D * D) * static_cast<double>(kDepth * chunks));
    const std::int64_t slice =
        kDepth * static_cast<std::int64_t>(std::clamp(blocks, 1.0, 1.0 + share / kDepth));
    for (std::int64_t begin = 0; begin < share; begin += slice) {
        if (begin > 0 && interrupt.poll(slice * chunks * D * D)) return false;
        parallel_chunks(chunks, [&](std::int64_t c) {
            const std::int64_t end = std::min(count, (c + 1) * share),
                               first = std::min(end, c * share + begin),
                               last = std::min(end, first + slice);
            double* target = partial.data() + static_cast<std::size_t>(c) * size;
            std::visit(
                [&]<class View>(const View& view) {
                    if constexpr (requires { view.row_stride; })
                        dense_part(view, rows.data() + first, weight.data() + first, last - first,
                                   intercept, tiling, target);
                    else
                        sparse_part(view, rows.data() + first, weight.data() + first, last - first,
                                    intercept, order, target);
                },
                X);
        });
    }
    for (std::int64_t c = 1; c < chunks; ++c)
        for (std::size_t e = 0; e < size; ++e)
            partial[e] += partial[static_cast<std::size_t>(c) * size + e];
    for (std::int64_t i = 0; i < D; ++i)
        for (std::int64_t j = i; j < D; ++j)
            H[i * D + j] = H[j * D + i] = partial[i * order + j];
    return true;
}

bool add_weighted_gram(const DesignView& X, const WeightedRows& rows, bool intercept, double sign,
                       std::vector<double>& H, Interrupt& interrupt) {
    if (rows.index.empty()) return true;
    const auto order = static_cast<std::size_t>(n_columns(X) + (intercept ? 1 : 0));
    std::vector<double> part(order * order);
    if (!weighted_gram(X, rows.index, rows.weight, intercept, part, interrupt)) return false;
    H.resize(part.size(), 0.0);
    for (std::size_t e = 0; e < part.size(); ++e)
        H[e] += sign * part[e];
    return true;
}

// Whether so few weights differ from those of the last call that an update is the cheaper way.
bool UpdatedGram::list_changes(std::span<const double> weight) {
    if (weight_.size() != weight.size() || ++calls_ % kRefreshEvery == 0) return false;
    risen_.clear(), fallen_.clear();
    std::int64_t left =
        std::count_if(weight.begin(), weight.end(), [](double w) { return w > 0; }) / kMostChanged;
    for (std::size_t i = 0; i < weight.size(); ++i) {
        const double change = weight[i] - weight_[i];
        if (change == 0) continue;
        if (left-- == 0) return false;
        (change > 0 ? risen_ : fallen_).add(static_cast<std::int64_t>(i), std::fabs(change));
    }
    return true;
}

const std::vector<double>* UpdatedGram::at(const DesignView& X, std::span<const double> weight,
                                           bool intercept, Interrupt& interrupt) {
    assert(std::ssize(weight) == n_rows(X));
    bool done;
    if (list_changes(weight)) {
        done = add_weighted_gram(X, risen_, intercept, 1.0, gram_, interrupt) &&
               add_weighted_gram(X, fallen_, intercept, -1.0, gram_, interrupt);
    } else {
        used_.clear();
        for (std::int64_t i = 0; i < std::ssize(weight); ++i)
            if (weight[i] > 0) used_.add(i, weight[i]);
        const std::int64_t order = n_columns(X) + (intercept ? 1 : 0);
        gram_.resize(order * order);
        done = weighted_gram(X, used_.index, used_.weight, intercept, gram_, interrupt);
    }
    if (!done) {
        weight_.clear();
        return nullptr;
    }
    weight_.assign(weight.begin(), weight.end());
    return &gram_;
}

}  // namespace rectiline::design
