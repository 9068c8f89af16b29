// A whole proof of a small problem but for the penalty: the steps that `problems/proof` takes one
// by one, in one call, for problems without constraint rows whose penalty is a sum over columns.
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/proof/free_columns.hpp"
#include "rectiline/proof/measure.hpp"
#include "rectiline/proof/terms.hpp"

#include <optional>

namespace rectiline::proof {

struct ClosedPair {
    BoundedTerms terms;
    double share;  // of the multipliers that is in the dual range
};

// A problem: X with its norms, the free columns and which of X they are, rows, columns, boxes.
struct SmallProblem {
    const DesignView& X;
    DesignNorms norms;
    FreeColumns free;
    std::span<const std::int64_t> free_columns;
    const RowFunctions& rows;
    const ColumnFunctions& columns;
    DualBoxes boxes;
};

// Moves any finite multipliers g into their boxes and balances them. Sets q for the share of them
// that is in the dual range, zero on the free columns. Nothing if no exact balance was found.
std::optional<ClosedPair> close_pair(const SmallProblem& problem, std::span<const double> b,
                                     double intercept, bool twofold, std::span<double> g,
                                     PairProducts out);

}  // namespace rectiline::proof
