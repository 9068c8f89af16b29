// The Python objects that the binding files of the Newton method share.
#pragma once

#include "rectiline/newton/newton_loop.hpp"
#include "rectiline/newton/newton_rows.hpp"

#include "common.hpp"
#include <memory>
#include <vector>

struct NewtonRowsState {
    std::unique_ptr<rectiline::newton::NewtonRows> rows;
    std::vector<nb::object> keep;
};

struct NewtonLoopState {
    std::unique_ptr<rectiline::newton::NewtonLoop> loop;
    std::vector<nb::object> keep;
};

// What rows outside a working set add, with the arrays that hold it.
struct NewtonFrozenState {
    rectiline::newton::FrozenTerms terms;
    std::vector<nb::object> keep;
};
