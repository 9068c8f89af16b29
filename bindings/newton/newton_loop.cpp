#include "newton/newton_rows.hpp"

namespace {

using namespace rectiline::newton;

void make_loop(NewtonLoopState* self, VectorIn scale, std::optional<VectorIn> center, VectorIn rho,
               VectorIn l1, VectorIn lower, VectorIn upper, IndexIn kinked,
               VectorIn column_stiffness, MatrixIn rows, VectorIn offset, BytesIn equality,
               double constraint_stiffness, std::int64_t d) {
    const std::int64_t order = length(scale), m = length(rows);
    require(d >= 0 && d <= order, "d must not exceed the variables");
    const NewtonTerms terms{d,
                            in(scale),
                            checked(center, d, "center"),
                            checked(rho, order, "rho"),
                            checked(l1, order, "l1"),
                            checked(lower, order, "lower"),
                            checked(upper, order, "upper"),
                            checked_indices(kinked, order, "kinked"),
                            checked(column_stiffness, length(kinked), "column_stiffness"),
                            checked(rows, m * order, "rows"),
                            checked(offset, m, "offset"),
                            checked(equality, m, "equality"),
                            constraint_stiffness};
    new (self) NewtonLoopState(kept(scale, center, rho, l1, lower, upper, kinked, column_stiffness,
                                    rows, offset, equality),
                               terms);
}

void make_frozen(NewtonFrozenState* self, VectorIn linear, std::optional<MatrixIn> quadratic,
                 VectorIn at) {
    const std::int64_t order = length(linear);
    new (self)
        NewtonFrozenState(kept(linear, quadratic, at), in(linear),
                          checked(quadratic, order * order, "quadratic"), checked(at, order, "at"));
}

}  // namespace

void bind_newton_loop(nb::module_& m) {
    nb::class_<NewtonFrozenState>(m, "NewtonFrozen", "What rows outside a working set add.")
        .def("__init__", &make_frozen, "linear"_a, "quadratic"_a.none(), "at"_a);
    nb::class_<NewtonLoopState>(m, "NewtonLoop",
                                "The terms of the columns, and Newton's method with them.")
        .def("__init__", &make_loop, "scale"_a, "center"_a.none(), "rho"_a, "l1"_a, "lower"_a,
             "upper"_a, "kinked"_a, "column_stiffness"_a, "rows"_a, "offset"_a, "equality"_a,
             "constraint_stiffness"_a, "d"_a);
}
