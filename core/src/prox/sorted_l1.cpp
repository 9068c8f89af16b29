#include "rectiline/prox/sorted_l1.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rectiline::prox {

namespace {

struct Block {
    double sum;
    std::int64_t size;
    double mean() const { return sum / static_cast<double>(size); }
};

}  // namespace

void sorted_l1_prox(std::span<const double> v, std::span<const double> strengths,
                    std::span<double> result) {
    std::vector<std::int64_t> order(v.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [v](std::int64_t a, std::int64_t b) {
        return std::fabs(v[a]) > std::fabs(v[b]);
    });
    // Behind the last positive difference everything is zero: blocks there cannot have a positive
    // mean.
    std::int64_t last = static_cast<std::int64_t>(v.size());
    while (last > 0 && !(std::fabs(v[order[last - 1]]) > strengths[last - 1]))
        --last;
    std::vector<Block> blocks;
    for (std::int64_t k = 0; k < last; ++k) {
        Block block{std::fabs(v[order[k]]) - strengths[k], 1};
        while (!blocks.empty() && blocks.back().mean() <= block.mean()) {
            block.sum += blocks.back().sum;
            block.size += blocks.back().size;
            blocks.pop_back();
        }
        blocks.push_back(block);
    }
    std::fill(result.begin(), result.end(), 0.0);
    std::int64_t k = 0;
    for (const Block& block : blocks) {
        const double level = block.mean();
        if (!(level > 0.0)) break;
        for (const std::int64_t end = k + block.size; k < end; ++k)
            result[order[k]] = std::copysign(level, v[order[k]]);
    }
}

}  // namespace rectiline::prox
