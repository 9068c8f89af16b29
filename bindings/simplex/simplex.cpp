#include "rectiline/simplex/simplex.hpp"

#include <nanobind/stl/string.h>

#include "common.hpp"
#include <limits>
#include <span>

namespace {

using rectiline::simplex::BoxedSimplex;
using rectiline::simplex::SimplexOutcome;
using Positions = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BytesOut = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void check_positions(const Positions& named, std::int64_t limit) {
    for (const std::int32_t one : in(named))
        require(one >= 0 && one < limit, "a position is out of range");
}

void add_columns(BoxedSimplex& self, VectorIn cost, VectorIn width, Positions rows,
                 MatrixIn values) {
    require(cost.shape(0) == width.shape(0) && cost.shape(0) == values.shape(1) &&
                rows.shape(0) == values.shape(0),
            "sizes of cost, width, rows and values do not fit");
    check_positions(rows, self.n_rows());
    self.add_columns(in(cost), in(width), in(rows), values.data());
}

void add_rows(BoxedSimplex& self, VectorIn low, VectorIn high, Positions columns, MatrixIn values) {
    require(low.shape(0) == high.shape(0) && low.shape(0) == values.shape(0) &&
                columns.shape(0) == values.shape(1),
            "sizes of low, high, columns and values do not fit");
    check_positions(columns, self.n_columns());
    self.add_rows(in(low), in(high), in(columns), values.data());
}

void set_row_bounds(BoxedSimplex& self, Positions rows, VectorIn low, VectorIn high) {
    require(rows.shape(0) == low.shape(0) && low.shape(0) == high.shape(0),
            "rows, low and high must have equal length");
    check_positions(rows, self.n_rows());
    self.set_row_bounds(in(rows), in(low), in(high));
}

void set_widths(BoxedSimplex& self, Positions columns, VectorIn width) {
    require(columns.shape(0) == width.shape(0), "columns and width must have equal length");
    check_positions(columns, self.n_columns());
    self.set_widths(in(columns), in(width));
}

std::string solve(BoxedSimplex& self, std::int64_t most_steps, double seconds, double most_work) {
    const SimplexOutcome outcome = run_interruptibly(
        seconds, [&](auto& interrupt) { return self.solve(most_steps, interrupt, most_work); });
    switch (outcome) {
        case SimplexOutcome::optimal:
            return "optimal";
        case SimplexOutcome::unbounded:
            return "infeasible";
        case SimplexOutcome::limit:
            return "limit";
        case SimplexOutcome::step_limit:
            return "step_limit";
        case SimplexOutcome::stalled:
            return "stalled";
        case SimplexOutcome::trouble:
            break;
    }
    return "trouble";
}

NumpyVector values(const BoxedSimplex& self) {
    NumpyVector out = new_vector(static_cast<std::size_t>(self.n_columns()));
    self.values(in(out));
    return out;
}

void set_basis(BoxedSimplex& self, BytesIn columns, BytesIn rows) {
    require(length(columns) == self.n_columns() && length(rows) == self.n_rows(),
            "the basis needs one entry per column and per row");
    self.set_basis(in(columns), in(rows));
}

void get_basis(const BoxedSimplex& self, BytesOut columns, BytesOut rows) {
    require(length(columns) == self.n_columns() && length(rows) == self.n_rows(),
            "the basis needs one entry per column and per row");
    self.basis(in(columns), in(rows));
}

}  // namespace

void bind_simplex(nb::module_& m) {
    nb::class_<BoxedSimplex>(m, "BoxedSimplex",
                             "max cost'v with low <= A v <= high, 0 <= v <= width; A dense.")
        .def(nb::init<>())
        .def("add_columns", &add_columns, nb::arg("cost"), nb::arg("width"), nb::arg("rows"),
             nb::arg("values"), "Entry values[k, u] is in row rows[k] of new column u")
        .def("add_rows", &add_rows, nb::arg("low"), nb::arg("high"), nb::arg("columns"),
             nb::arg("values"), "Entry values[r, k] is in column columns[k] of new row r")
        .def("set_row_bounds", &set_row_bounds, nb::arg("rows"), nb::arg("low"), nb::arg("high"))
        .def("set_widths", &set_widths, nb::arg("columns"), nb::arg("width"))
        .def("solve", &solve, nb::arg("most_steps"), nb::arg("seconds"),
             nb::arg("most_work") = std::numeric_limits<double>::infinity(),
             "Go on from the present basis: 'optimal', 'infeasible', 'limit' (of time or work), "
             "'step_limit', 'stalled' (feasible multipliers, not shown to be best) or 'trouble'")
        .def("forget_basis", &BoxedSimplex::forget_basis)
        .def("set_basis", &set_basis, nb::arg("columns"), nb::arg("rows"),
             "0: at its low end, 1: basic, 2: at its high end")
        .def("basis", &get_basis, nb::arg("columns"), nb::arg("rows"), "Fill in both arrays")
        .def("values", &values, "v")
        .def(
            "multipliers", [](const BoxedSimplex& self) { return copy_vector(self.multipliers()); },
            "One per row: how the optimum grows with the row's bounds")
        .def(
            "ray", [](const BoxedSimplex& self) { return copy_vector(self.ray()); },
            "After 'infeasible': multipliers that prove it")
        .def_prop_ro("n_steps", &BoxedSimplex::n_steps)
        .def_prop_ro("work", &BoxedSimplex::work, "Products so far");
}
