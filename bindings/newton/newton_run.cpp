#include "rectiline/newton/newton_run.hpp"

#include "newton/newton_rows.hpp"

namespace {

using namespace rectiline::newton;

using RunState = Held<NewtonRun>;

void make_run(RunState* self, NewtonLoopState& loop, NewtonRowsState& rows,
              const NewtonFrozenState* frozen, VectorIn b, VectorIn column, VectorIn constraint,
              VectorIn proximal, double row_stiffness, double start, double factor,
              std::int64_t inner_steps, bool smooth, double reference) {
    const NewtonTerms& terms = loop.terms();
    const std::int64_t order = terms.order();
    require(rows.rows->order() == order, "rows and terms differ in columns");
    const NewtonRunOptions options{{start, factor, inner_steps},
                                   row_stiffness,
                                   checked(proximal, order, "proximal"),
                                   smooth,
                                   reference};
    std::vector<nb::object> keep = kept(loop, rows, proximal);
    if (frozen) keep.push_back(nb::find(*frozen));
    new (self)
        RunState(std::move(keep), loop, *rows.rows, frozen ? FrozenTerms(*frozen) : FrozenTerms{},
                 options, checked(b, order, "b"), checked(column, terms.n_kinked(), "column"),
                 checked(constraint, terms.n_constraints(), "constraint"));
}

std::tuple<std::int64_t, std::int64_t, bool> solve(RunState& self, double target,
                                                   std::int64_t max_steps, double seconds) {
    const NewtonOutcome out = run_interruptibly(
        seconds, [&](auto& interrupt) { return self.solve(target, max_steps, interrupt); });
    return {out.steps, out.guards, out.failed};
}

double look(RunState& self) {
    return run_interruptibly(1e9, [&](auto& interrupt) { return self.look(interrupt); });
}

void estimate(RunState& self, double loss, double fenchel_young) {
    self.estimate({loss, fenchel_young});
    self.forget_reference();
}

NumpyVector polished(RunState& self) {
    return filled(std::ssize(self.b()), [&](auto out) { self.polish(out); });
}

NumpyVector constraint_multipliers(RunState& self) {
    return filled(std::ssize(self.constraint()),
                  [&](auto out) { self.constraint_multipliers(out); });
}

}  // namespace

void bind_newton_run(nb::module_& m) {
    nb::class_<RunState>(m, "NewtonRun",
                         "The semismooth-Newton method of multipliers on one set of rows.")
        .def("__init__", &make_run, "loop"_a, "rows"_a, "frozen"_a.none(), "b"_a, "column"_a,
             "constraint"_a, "proximal"_a, "row_stiffness"_a, "start"_a, "factor"_a,
             "inner_steps"_a, "smooth"_a, "reference"_a)
        .def("solve", &solve, "target"_a, "max_steps"_a, "seconds"_a,
             "Iterate until the estimated relative gap is small; returns (steps, guards, failed)")
        .def("look", &look, "The estimated relative gap where the run starts")
        .def("estimate", &estimate, "loss"_a, "fenchel_young"_a,
             "Take the sums over all rows, those outside the working set too")
        .def(
            "set_schedule",
            [](RunState& self, double start, double factor, std::int64_t inner_steps) {
                self.set_schedule({start, factor, inner_steps});
            },
            "start"_a, "factor"_a, "inner_steps"_a)
        .def("polished", &polished,
             "b with kinked columns moved onto the kinks that they have reached")
        .def("move_to_polished", &NewtonRun::move_to_polished)
        .def("constraint_multipliers", &constraint_multipliers, "Of the constraints at b")
        .def_prop_ro("b", &copied<RunState, &NewtonRun::b>, nb::rv_policy::automatic)
        .def_prop_ro("column", &copied<RunState, &NewtonRun::column>, nb::rv_policy::automatic)
        .def_prop_ro("constraint", &copied<RunState, &NewtonRun::constraint>,
                     nb::rv_policy::automatic)
        .def_prop_ro("relative_gap", &NewtonRun::relative_gap)
        .def_prop_ro("objective", &NewtonRun::objective)
        .def_prop_ro("growth", &NewtonRun::growth);
}
