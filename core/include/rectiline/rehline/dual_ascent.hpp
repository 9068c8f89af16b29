// Parts of dual coordinate ascent (rehline.hpp): b = grad h*(q) kept up to date while one
// coordinate moves, the constraints' coordinates, and what a sweep reports.
#pragma once

#include "rectiline/columns/columns.hpp"
#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::rehline {

// Linear constraints A b + c >= 0, with equality where `equality` is set. The rows of A
// lie in one piece.
struct LinearConstraints {
    DesignView A;
    std::span<const double> c;
    std::span<const std::uint8_t> equality;
};

struct RehlineProgress {
    std::int64_t sweeps;    // done in this call
    double gap;             // estimate: Fenchel-Young terms met during the last sweep
    double objective;       // estimate of the primal value during the last full sweep
    std::int64_t n_active;  // rows visited by the last sweep
    std::int64_t visits;    // rows visited in this call
    bool reached;           // gap estimate over all rows is at most the target
    bool interrupted;
};

// The dual coordinate of some row or constraint moved: q += step * row, b = grad h*(q).
struct DualMove {
    ColumnFunctions columns;
    std::span<double> q, coef;
    double inverse_rho;  // used when the columns are plain

    template <class Rows>
    RECTILINE_INLINE void operator()(const Rows& access, std::int64_t slot, std::int64_t i,
                                     double step) const {
        if (columns.plain) {  // b = q / rho: q itself is not needed
            access.axpy(slot, i, step * inverse_rho, coef.data());
            return;
        }
        access.for_each(slot, i, [this, step](std::int64_t j, double x) {
            q[j] += step * x;
            coef[j] = columns.minimiser(j, q[j]);
        });
    }
};

// xi, one dual coordinate per constraint: at least 0, or free for an equality.
class ConstraintDuals {
  public:
    ConstraintDuals(LinearConstraints constraints, const ColumnFunctions& columns);

    std::int64_t size() const { return static_cast<std::int64_t>(dual_.size()); }
    const std::vector<double>& values() const { return dual_; }
    void restart(std::span<const double> dual);

    // One exact step per constraint; adds what they had yet to settle to `gap`. Returns the
    // products it took, about.
    std::int64_t sweep(const DualMove& move, double& gap);

    // sum_k |xi_k (a_k'b + c_k)|: what the constraints add to the gap at b.
    double complementarity(std::span<const double> coef);
    // q = A'xi
    void push(std::span<double> q) const;

  private:
    LinearConstraints constraints_;
    std::vector<double> dual_, curvature_, slack_;
    std::int64_t entries_per_row_ = 0;
};

// q and b, which follow from the dual point.
class Coefficients {
  public:
    explicit Coefficients(ColumnFunctions columns);

    const std::vector<double>& values() const { return coef_; }
    DualMove mover();
    // Recomputes q = A'xi - X'g and b, which removes accumulated rounding.
    void follow(const DesignView& X, std::span<const double> g, const ConstraintDuals& constraints);
    double penalty() const;  // sum_j h_j(b_j)

  private:
    ColumnFunctions columns_;
    std::vector<double> q_, coef_, part_;
};

constexpr std::int64_t kRefreshEvery = 100;  // sweeps until rounding in q is worth one pass

}  // namespace rectiline::rehline
