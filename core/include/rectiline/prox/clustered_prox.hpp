// Proximal steps of penalties, together with which coefficients the step moves as one.
//
//     b = argmin_b  s Omega(b) + |b - v|^2 / 2
//
// Around v the step is linear on a union of clusters: the coefficients of a cluster move by the
// mean of their signed moves, all others stay.
#pragma once

#include "rectiline/design/design.hpp"

#include <utility>

namespace rectiline::prox {

// ---- groups -------------------------------------------------------------------------------------

// Disjoint groups of columns and the penalty that charges the largest absolute value of each.
//
// Group g is columns[starts[g]] .. columns[starts[g + 1] - 1].

struct Groups {
    std::span<const std::int64_t> columns, starts;
    std::int64_t count() const { return std::ssize(starts) - 1; }
};

// argmin_b |b - v|^2 / 2 + radius sum_g max_j |b_j|, in place on the grouped entries: every group
// is capped at the level t >= 0 with sum (|v_j| - t)+ = radius, at 0 if its total is below the
// radius.
void group_prox(const Groups& groups, double radius, std::span<double> v);

// out[a * n + i] = sum of signs_k X(i, columns_k) over atom a; dense views only.
void signed_sums(const DesignView& X, const Groups& atoms, std::span<const double> signs,
                 std::span<double> out);

// Cluster c is places[starts[c]] .. places[starts[c + 1] - 1].
struct Clusters {
    std::vector<std::int64_t> places, starts;
    std::int64_t count() const { return std::ssize(starts) - 1; }
    void clear() {
        places.clear();
        starts.assign(1, 0);
    }
    void close() { starts.push_back(std::ssize(places)); }
    void add_alone(std::int64_t place) { places.push_back(place), close(); }
};

class ClusteredProx {
  public:
    virtual ~ClusteredProx() = default;
    virtual std::int64_t size() const = 0;
    // Fills b and its clusters; returns max_b v'b / s - Omega(b) - |b|^2 / (2 s).
    virtual double prox(std::span<const double> v, double s, std::span<double> b,
                        Clusters& clusters) = 0;
};

// sum_k strengths_k |b|_(k), strengths non-increasing and non-negative, |b|_(1) >= |b|_(2) >= ...
// Sorted by size, the answer is the closest non-increasing sequence to |v|_(k) - s strengths_k, cut
// at zero (pool adjacent violators). Entries of one cluster are equal to the last bit.
class SortedProx : public ClusteredProx {
  public:
    explicit SortedProx(std::vector<double> strengths) : strengths_(std::move(strengths)) {}
    std::int64_t size() const override { return std::ssize(strengths_); }
    double prox(std::span<const double> v, double s, std::span<double> b,
                Clusters& clusters) override;

  private:
    struct Block {
        double sum, mean;
        std::int64_t size;
    };
    std::vector<double> strengths_;
    std::vector<std::pair<double, std::int64_t>> sorted_;
    std::vector<Block> blocks_;
};

// strength * sum over groups of the largest |b_j|, and l1 |b_j| on every column. The step of the
// sum is that of the groups after soft thresholding: capping keeps all signs.
class GroupProx : public ClusteredProx {
  public:
    GroupProx(std::int64_t size, std::vector<std::int64_t> columns,
              std::vector<std::int64_t> starts, double strength, double l1);
    std::int64_t size() const override { return size_; }
    double prox(std::span<const double> v, double s, std::span<double> b,
                Clusters& clusters) override;

  private:
    std::int64_t size_;
    std::vector<std::int64_t> columns_, starts_, free_;
    double strength_, l1_;
};

// sum_j l1_j |b_j| within bounds.
class SeparableProx : public ClusteredProx {
  public:
    SeparableProx(std::vector<double> l1, std::vector<double> lower, std::vector<double> upper)
        : l1_(std::move(l1)), lower_(std::move(lower)), upper_(std::move(upper)) {}
    std::int64_t size() const override { return std::ssize(l1_); }
    double prox(std::span<const double> v, double s, std::span<double> b,
                Clusters& clusters) override;

  private:
    std::vector<double> l1_, lower_, upper_;
};

}  // namespace rectiline::prox
