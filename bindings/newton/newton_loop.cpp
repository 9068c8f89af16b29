#include "rectiline/newton/newton_loop.hpp"

#include <nanobind/stl/optional.h>

#include "common.hpp"
#include "newton/newton_rows.hpp"
#include <optional>

namespace {

using namespace rectiline::newton;
using LoopState = NewtonLoopState;

using FrozenState = NewtonFrozenState;

void make_loop(LoopState* self, VectorIn scale, std::optional<VectorIn> center, VectorIn rho,
               VectorIn l1, VectorIn lower, VectorIn upper, IndexIn kinked,
               VectorIn column_stiffness, MatrixIn rows, VectorIn offset, BytesIn equality,
               double constraint_stiffness, std::int64_t d) {
    const std::size_t order = scale.shape(0), m = rows.shape(0);
    require(d >= 0 && static_cast<std::size_t>(d) <= order, "d must not exceed the variables");
    require(!center || length(*center) == d, "center must have one entry per column");
    for (const VectorIn* values : {&rho, &l1, &lower, &upper})
        require(values->shape(0) == order, "column terms must have one entry per variable");
    require(column_stiffness.shape(0) == kinked.shape(0), "one stiffness per kinked column");
    require(rows.shape(1) == order && offset.shape(0) == m && equality.shape(0) == m,
            "constraint rows, offsets and kinds differ in size");
    for (const std::int64_t j : in(kinked))
        require(j >= 0 && static_cast<std::size_t>(j) < order, "kinked column out of range");
    NewtonTerms terms{d,
                      in(scale),
                      in(center),
                      in(rho),
                      in(l1),
                      in(lower),
                      in(upper),
                      in(kinked),
                      in(column_stiffness),
                      in(rows),
                      in(offset),
                      in(equality),
                      constraint_stiffness};
    std::vector<nb::object> keep{nb::cast(scale),   nb::cast(rho),    nb::cast(l1),
                                 nb::cast(lower),   nb::cast(upper),  nb::cast(kinked),
                                 nb::cast(rows),    nb::cast(offset), nb::cast(column_stiffness),
                                 nb::cast(equality)};
    if (center) keep.push_back(nb::cast(*center));
    new (self) LoopState{std::make_unique<NewtonLoop>(terms), std::move(keep)};
}

void make_frozen(FrozenState* self, VectorIn linear, std::optional<MatrixIn> quadratic,
                 VectorIn at) {
    const std::size_t order = linear.shape(0);
    require(at.shape(0) == order, "`at` must have one entry per variable");
    require(!quadratic || (quadratic->shape(0) == order && quadratic->shape(1) == order),
            "the quadratic part must be square, of the order of the variables");
    std::vector<nb::object> keep{nb::cast(linear), nb::cast(at)};
    if (quadratic) keep.push_back(nb::cast(*quadratic));
    new (self) FrozenState{{in(linear), in(quadratic), in(at)}, std::move(keep)};
}

}  // namespace

void bind_newton_loop(nb::module_& m) {
    nb::class_<FrozenState>(m, "NewtonFrozen", "What rows outside a working set add.")
        .def("__init__", &make_frozen, nb::arg("linear"), nb::arg("quadratic").none(),
             nb::arg("at"));
    nb::class_<LoopState>(m, "NewtonLoop",
                          "The terms of the columns, and Newton's method with them.")
        .def("__init__", &make_loop, nb::arg("scale"), nb::arg("center").none(), nb::arg("rho"),
             nb::arg("l1"), nb::arg("lower"), nb::arg("upper"), nb::arg("kinked"),
             nb::arg("column_stiffness"), nb::arg("rows"), nb::arg("offset"), nb::arg("equality"),
             nb::arg("constraint_stiffness"), nb::arg("d"));
}
