#include "rectiline/sparse/normal_equations.hpp"

#include <utility>

namespace rectiline::sparse {

namespace {

constexpr Index kNone = -1;
constexpr double kLeastDense = 16, kDense = 10;  // times the root of the number of nodes

// Eliminated nodes are elements: a clique of the nodes that they were joined to. Nodes with the
// same neighbours are merged, and weigh as many as they are.
class Elimination {
  public:
    explicit Elimination(const Graph& graph);
    EliminationOrder run(double most, Interrupt& interrupt);

  private:
    void insert(Index i);
    Index next_pivot();
    void merge(Index from, Index into);
    void absorb(Index element, Index into);
    void gather(Index pivot);
    void count_outside();
    void update(Index pivot);
    void merge_equal_nodes();
    bool are_equal(Index one, Index other) const;
    EliminationOrder in_order_of_the_tree() const;

    Index size_, left_ = 0, least_ = 0, total_ = 0;
    std::vector<std::vector<Index>> nodes_, elements_, members_;
    std::vector<Index> weight_, degree_;           // of nodes; eliminated and merged ones weigh 0
    std::vector<std::vector<Index>> by_degree_;    // nodes, now or at some time before
    std::vector<Index> follower_, last_follower_;  // merged nodes, in a chain
    std::vector<Index> element_size_, outside_, width_;  // of elements, named after their pivots
    std::vector<Index> parent_;  // the element that takes one in; size_: the nodes that come last
    std::vector<std::int64_t> mark_, outside_mark_;
    std::int64_t stamp_ = 0, pivot_stamp_ = 0;
    std::vector<Index> joined_;          // the nodes of the new element
    std::vector<Index> pivots_, dense_;  // in their order; nodes that come last
    std::vector<std::pair<std::uint64_t, Index>> hashes_;
};

Elimination::Elimination(const Graph& graph)
    : size_(graph.size()),
      nodes_(size_),
      elements_(size_),
      members_(size_),
      weight_(size_, 1),
      degree_(size_),
      by_degree_(size_ + 1),
      follower_(size_, kNone),
      last_follower_(size_),
      element_size_(size_),
      outside_(size_),
      width_(size_, 0),
      parent_(size_, size_),
      mark_(size_, 0),
      outside_mark_(size_, 0) {
    const double most = std::max(kLeastDense, kDense * std::sqrt(static_cast<double>(size_)));
    for (Index i = 0; i < size_; ++i) {
        last_follower_[i] = i;
        if (std::ssize(graph.neighbours(i)) <= most) continue;
        weight_[i] = 0;
        dense_.push_back(i);
    }
    for (Index i = 0; i < size_; ++i) {
        if (weight_[i] == 0) continue;
        for (const Index j : graph.neighbours(i))
            if (weight_[j] > 0) nodes_[i].push_back(j);
        degree_[i] = static_cast<Index>(nodes_[i].size());
        insert(i);
        ++left_;
    }
}

void Elimination::insert(Index i) {
    by_degree_[degree_[i]].push_back(i);
    least_ = std::min(least_, degree_[i]);
}

// A node of least degree; what has left its list meanwhile is passed over.
Index Elimination::next_pivot() {
    for (;; ++least_)
        for (std::vector<Index>& some = by_degree_[least_]; !some.empty();) {
            const Index i = some.back();
            some.pop_back();
            if (weight_[i] > 0 && degree_[i] == least_) return i;
        }
}

void Elimination::merge(Index from, Index into) {
    weight_[into] += weight_[from];
    weight_[from] = 0;
    follower_[last_follower_[into]] = from;
    last_follower_[into] = last_follower_[from];
    nodes_[from] = {}, elements_[from] = {};
}

void Elimination::absorb(Index element, Index into) {
    if (members_[element].empty()) return;
    members_[element] = {};
    parent_[element] = into;
}

// The nodes that the pivot is joined to, directly or by an element, which it takes in.
void Elimination::gather(Index pivot) {
    joined_.clear();
    total_ = 0;
    pivot_stamp_ = mark_[pivot] = ++stamp_;
    const auto take = [&](Index i) {
        if (weight_[i] == 0 || mark_[i] == pivot_stamp_) return;
        mark_[i] = pivot_stamp_;
        joined_.push_back(i);
        total_ += weight_[i];
    };
    for (const Index i : nodes_[pivot])
        take(i);
    for (const Index e : elements_[pivot]) {
        for (const Index i : members_[e])
            take(i);
        absorb(e, pivot);
    }
    nodes_[pivot] = {}, elements_[pivot] = {};
}

// How much of each neighbouring element lies outside the new one.
void Elimination::count_outside() {
    for (const Index i : joined_)
        for (const Index e : elements_[i]) {
            if (members_[e].empty()) continue;
            if (outside_mark_[e] != pivot_stamp_) {
                outside_mark_[e] = pivot_stamp_;
                outside_[e] = element_size_[e];
            }
            outside_[e] -= weight_[i];
        }
}

// New bounds on the degrees; nodes that are joined to nothing else go along with the pivot.
void Elimination::update(Index pivot) {
    hashes_.clear();
    for (const Index i : joined_) {
        Index degree = 0;
        std::uint64_t hash = 0;
        std::erase_if(elements_[i], [&](Index e) {
            if (members_[e].empty()) return true;
            if (outside_[e] == 0) {
                absorb(e, pivot);
                return true;
            }
            degree += outside_[e], hash += static_cast<std::uint64_t>(e);
            return false;
        });
        std::erase_if(nodes_[i], [&](Index j) {
            if (weight_[j] == 0 || mark_[j] == pivot_stamp_) return true;
            degree += weight_[j], hash += static_cast<std::uint64_t>(j);
            return false;
        });
        if (degree == 0) {
            total_ -= weight_[i];
            merge(i, pivot);
            continue;
        }
        degree_[i] = std::min(degree_[i], degree);
        elements_[i].push_back(pivot);
        hashes_.emplace_back(hash, i);
    }
}

bool Elimination::are_equal(Index one, Index other) const {
    const auto all_marked = [&](const std::vector<Index>& list) {
        return std::all_of(list.begin(), list.end(), [&](Index k) { return mark_[k] == stamp_; });
    };
    return nodes_[one].size() == nodes_[other].size() &&
           elements_[one].size() == elements_[other].size() && all_marked(nodes_[other]) &&
           all_marked(elements_[other]);
}

void Elimination::merge_equal_nodes() {
    std::sort(hashes_.begin(), hashes_.end());
    for (std::size_t a = 0; a < hashes_.size(); ++a) {
        const auto [hash, i] = hashes_[a];
        if (a + 1 == hashes_.size() || hashes_[a + 1].first != hash || weight_[i] == 0) continue;
        ++stamp_;  // elements and nodes have different numbers: one mark serves both
        for (const auto* list : {&nodes_[i], &elements_[i]})
            for (const Index k : *list)
                mark_[k] = stamp_;
        for (std::size_t b = a + 1; b < hashes_.size() && hashes_[b].first == hash; ++b) {
            const Index j = hashes_[b].second;
            if (weight_[j] > 0 && are_equal(i, j)) merge(j, i);
        }
    }
}

EliminationOrder Elimination::run(double most, Interrupt& interrupt) {
    double entries = 0.5 * static_cast<double>(dense_.size()) * static_cast<double>(dense_.size());
    if (entries > most) return {};
    while (left_ > 0) {
        const Index pivot = next_pivot();
        gather(pivot);
        count_outside();
        update(pivot);
        merge_equal_nodes();
        const Index weight = std::exchange(weight_[pivot], 0);
        entries += weight * (total_ + 0.5 * weight);
        left_ -= weight;
        std::erase_if(joined_, [&](Index i) { return weight_[i] == 0; });
        for (const Index i : joined_) {
            degree_[i] = std::min(left_, degree_[i] + total_) - weight_[i];
            insert(i);
        }
        element_size_[pivot] = total_;
        width_[pivot] = weight;
        if (entries > most || interrupt.poll(16 * (1 + std::ssize(joined_)))) return {};
        members_[pivot] = joined_;
        pivots_.push_back(pivot);
    }
    return in_order_of_the_tree();
}

// Children before parents, each subtree in one piece; the nodes that come last are one more set.
EliminationOrder Elimination::in_order_of_the_tree() const {
    const Index all = size_, n_dense = static_cast<Index>(dense_.size());
    std::vector<Index> subtree(size_ + 1, 0), end(size_ + 1);
    for (const Index e : pivots_) {
        subtree[e] += width_[e];
        subtree[parent_[e]] += subtree[e];
    }
    EliminationOrder found{std::vector<Index>(size_), {}};
    std::copy(dense_.begin(), dense_.end(), found.nodes.end() - n_dense);
    if (n_dense > 0) found.sets.push_back({all - n_dense, n_dense});
    end[all] = all - n_dense;
    for (std::size_t k = pivots_.size(); k-- > 0;) {
        const Index e = pivots_[k], above = parent_[e];
        Index at = end[e] = end[above] - width_[e];
        end[above] -= subtree[e];
        found.sets.push_back({at, width_[e]});
        for (Index i = e; i != kNone; i = follower_[i])
            found.nodes[at++] = i;
    }
    std::sort(found.sets.begin(), found.sets.end(),
              [](const auto& one, const auto& other) { return one.first < other.first; });
    return found;
}

}  // namespace

EliminationOrder minimum_degree_order(const Graph& graph, double most, Interrupt& interrupt) {
    return Elimination(graph).run(most, interrupt);
}

}  // namespace rectiline::sparse
