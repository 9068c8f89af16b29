// Sums for certificates of many pairs at once, whose multipliers are known slopes of the losses, or
// those at their own predictions, but for a few rows. No multipliers are kept: a block of rows of X
// goes from predictions to sums in a cache.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"

#include <cstdint>

namespace rectiline::path {

struct SlopeSums {
    double loss, fenchel_young;
    double total, size;  // sum of the multipliers and of their sizes
};

struct PairsOf {
    std::int64_t count;
    const double* B;      // count x d
    const double* shift;  // count: intercepts
    // count: slopes of the losses of all rows in their arguments, which pairs may share; null if
    // they are those at the pair's own predictions, as they are for NaN
    const double* const* slopes;
};

// For each pair k, from first[k] to first[k + 1]: rows in increasing order and their multipliers,
// which are slopes in the predictions; NaN stands for what the row has without being listed.
struct FewMultipliers {
    const std::int64_t* first;
    const std::int64_t* row;
    double* g;
};

// All multipliers are clipped into their ranges, and those in `few`, if `balanced`, moved within
// them until all sum to zero, as far as they can. Q (count x d) receives X' times the multipliers.
void judge_slopes(const DesignView& X, const RowFunctions& rows, const PairsOf& pairs,
                  const FewMultipliers& few, bool balanced, SlopeSums* sums, double* Q);

}  // namespace rectiline::path
