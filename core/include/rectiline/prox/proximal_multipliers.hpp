// One step of the proximal method of multipliers for
//
//     min over b, b0   sum over units of  max_{low <= a <= high} a (sign z_row + lift) - bend a^2/2
//                      + Omega(b),                                     z = X b + b0 (ones)
//
// Around (b_k, b0_k, a_k) it minimises over the box of the a
//
//     sum (bend a^2 / 2 - lift a) + max_b { v'b / s - Omega(b) - |b|^2 / (2 s) }
//         + (b0_k - s0 sum g)^2 / (2 s0) + |a - a_k|^2 / (2 r),      v = b_k - s X'g, g = S'a
//
// by a projected semismooth Newton method. The Newton matrix is a UnitModel: the diagonal is
// bend + 1/r, the vectors are sqrt(s) times the columns of X summed over each cluster of the
// proximal step. Iterates b are points of that step, so their zeros and clusters are exact.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/support/interrupt.hpp"

#include <memory>
#include <utility>

namespace rectiline::prox {

// ---- proximal steps -----------------------------------------------------------------------------

// Proximal steps of penalties, together with which coefficients the step moves as one.
//
//     b = argmin_b  s Omega(b) + |b - v|^2 / 2
//
// Around v the step is linear on a union of clusters: the coefficients of a cluster move by the
// mean of their signed moves, all others stay.

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

// ---- the quadratic model ------------------------------------------------------------------------

// The quadratic model over units: diag(diagonal) + S F F'S', where S puts the signs of the units on
// their rows and the columns of F are a few vectors over rows.

class UnitModel {
  public:
    // row and sign must outlive the model.
    UnitModel(const std::vector<std::int64_t>& row, const std::vector<double>& sign,
              std::int64_t n_rows);

    // Room for `count` vectors of F, to be filled by the caller, each of n_rows entries.
    std::span<double> vectors(std::int64_t count);
    std::vector<double>& diagonal() { return diagonal_; }

    // image = matrix times move
    void multiply(std::span<const double> move, std::span<double> image);
    // Solves the equations of the units listed in `free`, by equations of the size of the vectors;
    // `right` is overwritten by the solution; false if it was interrupted.
    bool solve(const std::vector<std::int64_t>& free, std::vector<double>& right,
               Interrupt& interrupt);
    // Products that `solve` takes for so many units, about.
    std::int64_t work(std::size_t n_free) const;

  private:
    // Solves (P_ P_' + 1) x = core_ for P_ with a row per vector, in place.
    bool solve_core(std::int64_t depth, Interrupt& interrupt);

    const std::vector<std::int64_t>& row_;
    const std::vector<double>& sign_;
    std::int64_t n_, count_ = 0;
    std::vector<double> F_, diagonal_;  // F by columns
    std::vector<double> P_, square_, weight_, by_row_, core_;
    std::vector<std::int64_t> used_;
};

struct ProximalUnits {
    std::vector<std::int64_t> row;
    std::vector<double> sign, low, high, lift, bend;
};

struct ProximalSteps {
    double step, room;  // s and r
    double tolerance;   // of the projected gradient
    std::int64_t most;  // Newton steps
};

class ProximalMultipliers {
  public:
    // The intercept is in the first `n_ones` of the rows; s0 = one_scale^2 s.
    ProximalMultipliers(ProximalUnits units, std::int64_t n_rows, std::int64_t n_ones,
                        double one_scale);
    ProximalMultipliers(const ProximalMultipliers&) = delete;  // the model looks at the units

    // X by columns (dense with rows next to one another, or CSC); it must outlive its use.
    void set_columns(const DesignView& X, std::unique_ptr<ClusteredProx> penalty);
    // Moves all three to the next point; returns the number of Newton steps. An interrupted one is
    // not taken, and without any nothing moves.
    std::int64_t advance(std::span<double> dual, std::span<double> b, double& b0,
                         const ProximalSteps& how, Interrupt& interrupt);

    // Products of all Newton steps so far, about: the same on every machine.
    double work() const { return work_; }
    std::int64_t n_units() const { return std::ssize(units_.row); }
    std::int64_t n_columns() const { return penalty_ ? penalty_->size() : 0; }
    std::int64_t n_rows() const { return n_; }

  private:
    struct State {
        std::vector<double> dual, b;
        Clusters clusters;
        double b0 = 0.0, value = 0.0;
    };

    void evaluate(State& state);
    void set_gradient(const State& state);
    double projected_gradient(const State& state);
    // False if they were interrupted.
    bool set_model(const State& state, Interrupt& interrupt);
    bool set_move(const State& state, Interrupt& interrupt);
    bool search(State& state, double slope);

    ProximalUnits units_;
    std::int64_t n_, n_ones_;
    double one_scale_;
    double work_ = 0.0;
    DesignView X_;
    std::unique_ptr<ClusteredProx> penalty_;
    UnitModel model_;

    // of one step
    std::vector<double> anchor_dual_, anchor_b_;
    double anchor_b0_ = 0.0;
    ProximalSteps how_{};
    State trial_;
    std::vector<double> slopes_, image_, z_, v_, gradient_, residual_, move_, product_, right_;
    std::vector<std::int8_t> end_;  // of the quadratic model: -1 and +1 hold a unit at an end
    std::vector<std::int64_t> free_;
};

}  // namespace rectiline::prox
