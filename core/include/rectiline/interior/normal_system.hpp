// The normal equations of a step of `UnitInterior`: (diag(rho) + R' diag(weight) R) x = v.
//
// By columns: the matrix itself is factorised. Rows whose weight never changes (squares,
// equalities) are summed up once.
//
// By rows: rows of one entry belong to the diagonal D = diag(rho) + .., and with W for the others
// x = (v - W's) / D, where (W D^-1 W' + diag(1/weight)) s = W D^-1 v has the size of these rows.
#pragma once

#include "rectiline/interior/number.hpp"
#include "rectiline/interior/unit_program.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::interior {

template <class Real>
class NormalSystem {
  public:
    NormalSystem(const UnitProgram& program, bool by_rows);

    // `weight` has one entry per row; false where there is no factor, or when asked to stop.
    bool factorise(const UnitProgram& program, std::span<const Real> weight,
                   support::Interrupt& interrupt);
    // Replaces v by x.
    void solve(std::span<Real> v);

  private:
    bool sum_rows(const UnitProgram& program, std::span<const Real> weight, bool steady,
                  SymmetricMatrix<Real>& sum, support::Interrupt& interrupt) const;
    bool sum_columns(const UnitProgram& program, std::span<const Real> weight,
                     support::Interrupt& interrupt);

    bool set_up(const UnitProgram& program, std::span<const Real> weight,
                support::Interrupt& interrupt);

    bool by_rows_;
    double proximal_;
    bool has_steady_ = false;
    std::vector<std::uint8_t> is_steady_;       // whether the weight of a row never changes
    std::vector<std::int64_t> wide_;            // by rows: those with several entries, ..
    std::vector<std::int64_t> begin_, number_;  // .. by columns, as places in `wide_` ..
    std::vector<double> values_;                // .. and entries
    std::vector<Real> diagonal_, image_;
    SymmetricMatrix<Real> steady_, matrix_;
};

extern template class NormalSystem<double>;
extern template class NormalSystem<Number>;

}  // namespace rectiline::interior
