// A program of boxed units on rows, see `UnitInterior`.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>
#include <vector>

namespace rectiline::interior {

// Rows in compressed form with increasing columns; each unit names its row.
struct UnitProgram {
    std::vector<std::int64_t> begin, columns;
    std::vector<double> values;
    std::vector<std::int64_t> row;
    std::vector<double> shift, low, high, soft;
    std::vector<double> rho, linear;

    std::int64_t width() const { return static_cast<std::int64_t>(rho.size()); }
    std::int64_t n_rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
    std::int64_t n_units() const { return static_cast<std::int64_t>(row.size()); }
};

}  // namespace rectiline::interior
