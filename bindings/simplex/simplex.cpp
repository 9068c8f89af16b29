#include "rectiline/simplex/simplex.hpp"

#include "common.hpp"

namespace {

using rectiline::simplex::BoxedSimplex;
using rectiline::simplex::SimplexOutcome;
void add_columns(BoxedSimplex& self, VectorIn cost, VectorIn width, PositionsIn rows,
                 MatrixIn values) {
    checked(values, length(rows) * length(cost), "values");
    self.add_columns(in(cost), checked(width, length(cost), "width"),
                     checked_indices(rows, self.n_rows(), "rows"), values.data());
}

void add_rows(BoxedSimplex& self, VectorIn low, VectorIn high, PositionsIn columns,
              MatrixIn values) {
    checked(values, length(low) * length(columns), "values");
    self.add_rows(in(low), checked(high, length(low), "high"),
                  checked_indices(columns, self.n_columns(), "columns"), values.data());
}

void set_row_bounds(BoxedSimplex& self, PositionsIn rows, VectorIn low, VectorIn high) {
    self.set_row_bounds(checked_indices(rows, self.n_rows(), "rows"),
                        checked(low, length(rows), "low"), checked(high, length(rows), "high"));
}

void set_widths(BoxedSimplex& self, PositionsIn columns, VectorIn width) {
    self.set_widths(checked_indices(columns, self.n_columns(), "columns"),
                    checked(width, length(columns), "width"));
}

const char* solve(BoxedSimplex& self, std::int64_t most_steps, double seconds, double most_work) {
    const SimplexOutcome outcome = run_interruptibly(
        seconds, [&](auto& interrupt) { return self.solve(most_steps, interrupt, most_work); });
    constexpr const char* kWords[] = {"optimal",    "infeasible", "limit",
                                      "step_limit", "stalled",    "trouble"};
    return kWords[static_cast<int>(outcome)];  // in the order of the outcomes
}

void set_basis(BoxedSimplex& self, BytesIn columns, BytesIn rows) {
    self.set_basis(checked(columns, self.n_columns(), "columns"),
                   checked(rows, self.n_rows(), "rows"));
}

void get_basis(const BoxedSimplex& self, BytesOut columns, BytesOut rows) {
    self.basis(checked(columns, self.n_columns(), "columns"), checked(rows, self.n_rows(), "rows"));
}

}  // namespace

void bind_simplex(nb::module_& m) {
    nb::class_<BoxedSimplex>(m, "BoxedSimplex",
                             "max cost'v with low <= A v <= high, 0 <= v <= width; A dense.")
        .def(nb::init<>())
        .def("add_columns", &add_columns, "cost"_a, "width"_a, "rows"_a, "values"_a,
             "Entry values[k, u] is in row rows[k] of new column u")
        .def("add_rows", &add_rows, "low"_a, "high"_a, "columns"_a, "values"_a,
             "Entry values[r, k] is in column columns[k] of new row r")
        .def("set_row_bounds", &set_row_bounds, "rows"_a, "low"_a, "high"_a)
        .def("set_widths", &set_widths, "columns"_a, "width"_a)
        .def("solve", &solve, "most_steps"_a, "seconds"_a,
             "most_work"_a = std::numeric_limits<double>::infinity(),
             "Go on from the present basis: 'optimal', 'infeasible', 'limit' (of time or work), "
             "'step_limit', 'stalled' (feasible multipliers, not shown to be best) or 'trouble'")
        .def("forget_basis", &BoxedSimplex::forget_basis)
        .def("set_basis", &set_basis, "columns"_a, "rows"_a,
             "0: at its low end, 1: basic, 2: at its high end")
        .def("basis", &get_basis, "columns"_a, "rows"_a, "Fill in both arrays")
        .def("values",
             &filled_by<const BoxedSimplex, &BoxedSimplex::values, &BoxedSimplex::n_columns>, "v")
        .def("multipliers", &copied<BoxedSimplex, &BoxedSimplex::multipliers>,
             "One per row: how the optimum grows with the row's bounds")
        .def_prop_ro("n_steps", &BoxedSimplex::n_steps)
        .def_prop_ro("work", &BoxedSimplex::work, "Products so far");
}
