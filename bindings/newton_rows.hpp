// The Python object around a set of rows, shared by the two binding files of the Newton method.
#pragma once

#include "rectiline/newton_rows.hpp"

#include "common.hpp"
#include <memory>
#include <vector>

struct NewtonRowsState {
    std::unique_ptr<rectiline::NewtonRows> rows;
    std::vector<nb::object> keep;
};
