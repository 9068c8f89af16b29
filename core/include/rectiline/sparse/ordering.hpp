// An order in which to eliminate the unknowns of a sparse symmetric system so that few entries are
// filled in.
#pragma once

#include "rectiline/support/interrupt.hpp"

namespace rectiline::sparse {

using Index = std::int32_t;

// An undirected graph: the neighbours of each node, an edge at both of its ends, without loops.
struct Graph {
    std::vector<std::int64_t> begin;
    std::vector<Index> nodes;

    Index size() const { return static_cast<Index>(begin.size()) - 1; }
    std::span<const Index> neighbours(Index i) const {
        return {nodes.data() + begin[i], static_cast<std::size_t>(begin[i + 1] - begin[i])};
    }
};

// Nodes that are eliminated one after the other and have the same later neighbours.
struct EliminatedNodes {
    Index first, width;  // places of the order
    Index parent;        // where the set begins that comes next on the way to the root of the tree
    std::int64_t count;  // rows of their columns of the factor
    double entries;      // of these columns that are not zero
};

struct EliminationOrder {
    std::vector<Index> nodes;           // at each place
    std::vector<EliminatedNodes> sets;  // in the order
};

// Approximate minimum degree: the node that would be joined to the fewest others comes next. Nodes
// with very many neighbours come last. Empty when asked to stop, or when the factor will have more
// than `most` entries.
//
// Source: Amestoy, Davis and Duff, "An approximate minimum degree ordering algorithm" (1996).
EliminationOrder minimum_degree_order(const Graph& graph, double most,
                                      support::Interrupt& interrupt);

}  // namespace rectiline::sparse
