// Loops over the rows of a design matrix (or the lines of a sparse one) in chunks that threads
// share. The chunks are fixed by the data alone, so that sums do not depend on the number of
// threads.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/support/threads.hpp"

namespace rectiline::design {

struct RowChunks {
    std::int64_t size, count;
    RowChunks(std::int64_t n, std::int64_t entries, std::int64_t most) {
        const std::int64_t wanted = std::clamp<std::int64_t>(entries >> 17, 1, most);
        size = std::max<std::int64_t>(1, (n + wanted - 1) / wanted);
        count = n == 0 ? 0 : (n + size - 1) / size;
    }
    std::int64_t first(std::int64_t c) const { return c * size; }
    std::int64_t last(std::int64_t c, std::int64_t n) const { return std::min(n, (c + 1) * size); }
};
inline constexpr std::int64_t kMostChunks = 64;
inline constexpr std::int64_t kMostSums = 32;  // each partial sum costs its length in doubles

template <class T>
std::int64_t entries(const DenseView<T>& X) {
    return X.n * X.d;
}
template <class T, class I>
std::int64_t entries(const SparseView<T, I>& X) {
    return static_cast<std::int64_t>(X.pointers[X.by_rows ? X.n : X.d]);
}

// The work of sums of n_out numbers over lines of X, zero where partial sums are not worth their
// memory: they must be small against the entries.
template <class T, class I>
std::int64_t scatter_work(const SparseView<T, I>& X, std::int64_t n_out) {
    return n_out > entries(X) / kMostSums ? 0 : entries(X);
}

// Calls work(first, last) over chunks of n rows.
template <class Work>
void over_rows(std::int64_t n, std::int64_t work_size, const Work& work) {
    const RowChunks chunks(n, work_size, kMostChunks);
    support::parallel_chunks(chunks.count,
                             [&](std::int64_t c) { work(chunks.first(c), chunks.last(c, n)); });
}

// Calls accumulate(first, last, target) over chunks of n rows and adds the partial targets, of
// `size` numbers, in order.
template <class Accumulate>
void sum_over_rows(std::int64_t n, std::int64_t size, std::int64_t work_size, double* total,
                   const Accumulate& accumulate) {
    std::fill(total, total + size, 0.0);
    const RowChunks chunks(n, work_size, size > 0 ? kMostSums : 1);
    if (chunks.count <= 1) {
        if (n > 0) accumulate(0, n, total);
        return;
    }
    std::vector<double> partial(static_cast<std::size_t>(chunks.count * size), 0.0);
    support::parallel_chunks(chunks.count, [&](std::int64_t c) {
        accumulate(chunks.first(c), chunks.last(c, n), partial.data() + c * size);
    });
    for (std::int64_t c = 0; c < chunks.count; ++c)
        for (std::int64_t j = 0; j < size; ++j)
            total[j] += partial[c * size + j];
}

}  // namespace rectiline::design
