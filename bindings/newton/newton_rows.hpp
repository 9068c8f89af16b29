// The Python objects that the binding files of the Newton method share.
#pragma once

#include "rectiline/newton/newton_loop.hpp"
#include "rectiline/newton/newton_rows.hpp"

#include "common.hpp"

struct NewtonRowsState {
    std::unique_ptr<rectiline::newton::NewtonRows> rows;
    std::vector<nb::object> keep;
};

using NewtonLoopState = Held<rectiline::newton::NewtonLoop>;
using NewtonFrozenState = Held<rectiline::newton::FrozenTerms>;
