#include "rectiline/newton/newton_run.hpp"

#include <nanobind/stl/tuple.h>

#include "newton/newton_rows.hpp"
#include <memory>
#include <tuple>

namespace {

using namespace rectiline::newton;

struct RunState {
    std::unique_ptr<NewtonRun> run;
    std::vector<nb::object> keep;
};

void make_run(RunState* self, nb::object loop, nb::object rows, nb::object frozen, VectorIn b,
              VectorIn column, VectorIn constraint, VectorIn proximal, double row_stiffness,
              double start, double factor, std::int64_t inner_steps, bool smooth,
              double reference) {
    NewtonLoop& inner = *nb::cast<NewtonLoopState&>(loop).loop;
    NewtonRows& set = *nb::cast<NewtonRowsState&>(rows).rows;
    const NewtonTerms& terms = inner.terms();
    require(set.order() == terms.order(), "rows and terms differ in columns");
    require(length(b) == terms.order() && length(proximal) == terms.order(),
            "b and proximal must have one entry per variable");
    require(length(column) == terms.n_kinked() && length(constraint) == terms.n_constraints(),
            "one multiplier per kinked column and per constraint");
    const FrozenTerms aside =
        frozen.is_none() ? FrozenTerms{} : nb::cast<const NewtonFrozenState&>(frozen).terms;
    const NewtonRunOptions options{
        {start, factor, inner_steps}, row_stiffness, in(proximal), smooth, reference};
    new (self) RunState{
        std::make_unique<NewtonRun>(inner, set, aside, options, in(b), in(column), in(constraint)),
        {loop, rows, frozen, nb::cast(proximal)}};
}

std::tuple<std::int64_t, std::int64_t, bool> solve(RunState& self, double target,
                                                   std::int64_t max_steps, double seconds) {
    const NewtonOutcome out = run_interruptibly(
        seconds, [&](auto& interrupt) { return self.run->solve(target, max_steps, interrupt); });
    return {out.steps, out.guards, out.failed};
}

double look(RunState& self) {
    return run_interruptibly(1e9, [&](auto& interrupt) { return self.run->look(interrupt); });
}

void estimate(RunState& self, double loss, double fenchel_young) {
    self.run->estimate({loss, fenchel_young});
    self.run->forget_reference();
}

NumpyVector polished(RunState& self) {
    NumpyVector out = new_vector(self.run->b().size());
    self.run->polish(in(out));
    return out;
}

NumpyVector constraint_multipliers(RunState& self) {
    NumpyVector out = new_vector(self.run->constraint().size());
    self.run->constraint_multipliers(in(out));
    return out;
}

}  // namespace

void bind_newton_run(nb::module_& m) {
    nb::class_<RunState>(m, "NewtonRun",
                         "The semismooth-Newton method of multipliers on one set of rows.")
        .def("__init__", &make_run, nb::arg("loop"), nb::arg("rows"), nb::arg("frozen").none(),
             nb::arg("b"), nb::arg("column"), nb::arg("constraint"), nb::arg("proximal"),
             nb::arg("row_stiffness"), nb::arg("start"), nb::arg("factor"), nb::arg("inner_steps"),
             nb::arg("smooth"), nb::arg("reference"))
        .def("solve", &solve, nb::arg("target"), nb::arg("max_steps"), nb::arg("seconds"),
             "Iterate until the estimated relative gap is small; returns (steps, guards, failed)")
        .def("look", &look, "The estimated relative gap where the run starts")
        .def("estimate", &estimate, nb::arg("loss"), nb::arg("fenchel_young"),
             "Take the sums over all rows, those outside the working set too")
        .def(
            "set_schedule",
            [](RunState& self, double start, double factor, std::int64_t inner_steps) {
                self.run->set_schedule({start, factor, inner_steps});
            },
            nb::arg("start"), nb::arg("factor"), nb::arg("inner_steps"))
        .def("polished", &polished,
             "b with kinked columns moved onto the kinks that they have reached")
        .def("move_to_polished", [](RunState& self) { self.run->move_to_polished(); })
        .def("constraint_multipliers", &constraint_multipliers, "Of the constraints at b")
        .def_prop_ro(
            "b", [](const RunState& self) { return copy_vector(self.run->b()); },
            nb::rv_policy::move)
        .def_prop_ro(
            "column", [](const RunState& self) { return copy_vector(self.run->column()); },
            nb::rv_policy::move)
        .def_prop_ro(
            "constraint", [](const RunState& self) { return copy_vector(self.run->constraint()); },
            nb::rv_policy::move)
        .def_prop_ro("relative_gap", [](const RunState& self) { return self.run->relative_gap(); })
        .def_prop_ro("objective", [](const RunState& self) { return self.run->objective(); })
        .def_prop_ro("growth", [](const RunState& self) { return self.run->growth(); });
}
