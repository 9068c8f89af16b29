#include "rectiline/design/updated_gram.hpp"

#include "rectiline/design/gram.hpp"
#include "rectiline/support/multiversion.hpp"

#include <cassert>

namespace rectiline::design {
namespace {

constexpr std::int64_t kRefreshEvery = 24;  // removes the rounding of repeated updates
constexpr std::int64_t kMostChanged = 3;    // one in so many: beyond, a new sum is cheaper

struct Changes {
    std::int64_t used, changed;
};

RECTILINE_MULTIVERSION Changes count_changes(const double* weight, const double* before,
                                             std::int64_t n) {
    std::int64_t used = 0, changed = 0;
#pragma omp simd reduction(+ : used, changed)
    for (std::int64_t i = 0; i < n; ++i) {
        used += weight[i] > 0;
        changed += weight[i] != before[i];
    }
    return {used, changed};
}

}  // namespace

// Whether so few weights differ from those of the last call that an update is the cheaper way.
bool UpdatedGram::list_changes(std::span<const double> weight) {
    if (weight_.size() != weight.size() || ++calls_ % kRefreshEvery == 0) return false;
    risen_.clear(), fallen_.clear();
    const std::int64_t n = std::ssize(weight);
    const Changes changes = count_changes(weight.data(), weight_.data(), n);
    if (changes.changed > changes.used / kMostChanged) return false;
    for (std::int64_t i = 0, left = changes.changed; i < n && left > 0; ++i) {
        const double change = weight[i] - weight_[i];
        if (change == 0) continue;
        if (change > 0)
            risen_.add(i, change);
        else
            fallen_.add(i, -change);
        --left;
    }
    return true;
}

const std::vector<double>* UpdatedGram::at(const DesignView& X, std::span<const double> weight,
                                           bool intercept, Interrupt& interrupt) {
    assert(std::ssize(weight) == n_rows(X));
    bool done = true;
    const auto sum = [&](const Rows& rows, std::vector<double>& out) {
        done = done && weighted_gram(X, rows.index, rows.weight, intercept, out, interrupt);
    };
    const std::int64_t order = n_columns(X) + (intercept ? 1 : 0);
    const std::size_t size = static_cast<std::size_t>(order * order);
    gram_.resize(size);
    if (list_changes(weight)) {
        part_.resize(size);
        if (!risen_.index.empty()) {
            sum(risen_, part_);
            for (std::size_t e = 0; e < size; ++e)
                gram_[e] += part_[e];
        }
        if (!fallen_.index.empty()) {
            sum(fallen_, part_);
            for (std::size_t e = 0; e < size; ++e)
                gram_[e] -= part_[e];
        }
    } else {
        used_.clear();
        for (std::int64_t i = 0; i < std::ssize(weight); ++i)
            if (weight[i] > 0) used_.add(i, weight[i]);
        sum(used_, gram_);
    }
    if (!done) {
        weight_.clear();
        return nullptr;
    }
    weight_.assign(weight.begin(), weight.end());
    return &gram_;
}

}  // namespace rectiline::design
