#include "rectiline/design/updated_gram.hpp"

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
    bool done;
    if (list_changes(weight)) {
        done = add_weighted_gram(X, risen_, intercept, 1.0, gram_, interrupt) &&
               add_weighted_gram(X, fallen_, intercept, -1.0, gram_, interrupt);
    } else {
        used_.clear();
        for (std::int64_t i = 0; i < std::ssize(weight); ++i)
            if (weight[i] > 0) used_.add(i, weight[i]);
        const std::int64_t order = n_columns(X) + (intercept ? 1 : 0);
        gram_.resize(static_cast<std::size_t>(order * order));
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
