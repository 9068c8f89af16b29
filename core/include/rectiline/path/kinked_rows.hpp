// Rows of a linear program that have one kink each, copied in scaled variables:
//
//     constant + linear'b + sum_i width_i max(a_i, 0),      a = T b + offset,
//
// and their dual: multipliers v in [0, 1] pull with `linear + T'(width v)`.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/newton/newton_terms.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/aligned.hpp"

#include <cstdint>
#include <vector>

namespace rectiline::path {

class KinkedRows {
  public:
    // Rows with weight; every curve has one knot, no curvature, and slopes on both sides of zero.
    KinkedRows(const DesignView& X, const RowFunctions& rows, const NewtonTerms& terms,
               int n_threads);
    KinkedRows(const KinkedRows&) = delete;  // it looks at its own storage
    KinkedRows& operator=(const KinkedRows&) = delete;
    static bool accepts(const RowFunctions& rows);

    std::int64_t n() const { return static_cast<std::int64_t>(used_.size()); }
    std::int64_t n_given() const { return n_given_; }
    std::int64_t order() const { return p_; }
    const double* row(std::int64_t i) const { return T_.data() + i * stride_; }
    std::int64_t stride() const { return stride_; }  // from row to row
    const std::vector<double>& width() const { return width_; }
    const std::vector<double>& linear() const { return linear_; }

    void arguments(const double* b, double* a) const;
    void change(const double* db, double* da) const;  // of the arguments
    void pull(const double* v, double* g) const;
    double loss(const double* b, const double* a) const;
    // d/dstep of the sum of width max(a, 0) at a + step da
    double slope(const double* a, const double* da, double step) const;
    // The same where max(a, 0) is a parabola on (-h, h): its slope there is 1/2 + a / 2h.
    double soft_slope(const double* a, const double* da, double step, double h) const;
    void soft_multipliers(const double* a, double h, double* v) const;
    // What multipliers prove if they pull with no more than the penalty allows; `share` of them.
    double dual_value(const double* v, double share) const;
    void slopes(const double* v, double* g) const;  // in the predictions, of all rows given

  private:
    std::int64_t n_given_, p_, stride_;
    int n_threads_;
    double constant_ = 0, value_at_kinks_ = 0;
    std::vector<std::int64_t> used_;
    AlignedVector T_;
    std::vector<double> offset_, width_, lowest_, direction_, linear_;
    mutable std::vector<double> weighted_;
    DesignView view_;
};

}  // namespace rectiline::path
