#include "rectiline/path/newton_path.hpp"

#include <nanobind/stl/tuple.h>

#include "newton/newton_rows.hpp"
#include <memory>
#include <tuple>

namespace {

using namespace rectiline::path;

struct PathState {
    std::unique_ptr<NewtonPath> path;
    std::vector<nb::object> keep;
};

void make_path(PathState* self, nb::object rows, nb::object loop, double strength,
               double row_stiffness, double stiffness, double argument_scale, bool smooth) {
    NewtonRows& set = *nb::cast<NewtonRowsState&>(rows).rows;
    const NewtonTerms& terms = nb::cast<const NewtonLoopState&>(loop).loop->terms();
    require(set.order() == terms.order(), "rows and terms differ in columns");
    require(terms.n_constraints() == 0, "a path takes no constraint rows");
    require(strength > 0, "strength must be positive");
    new (self) PathState{
        std::make_unique<NewtonPath>(set, terms, strength,
                                     NewtonUnits{row_stiffness, stiffness, argument_scale, smooth}),
        {rows, loop}};
}

void place(PathState& self, VectorIn b, VectorIn g) {
    require(length(b) == self.path->rows().order(),
            "b must have one entry per column (and the intercept)");
    require(length(g) == self.path->rows().n(), "g must have one entry per row");
    nb::gil_scoped_release release;
    self.path->place(in(b), in(g));
}

std::tuple<std::int64_t, double, bool> move(PathState& self, double strength, double target,
                                            std::int64_t max_steps, double seconds) {
    require(strength > 0, "strength must be positive");
    const PathStep done = run_interruptibly(seconds, [&](auto& interrupt) {
        return self.path->move(strength, target, max_steps, interrupt);
    });
    return {done.steps, done.relative_gap, done.failed};
}

NumpyVector coefficients(PathState& self) {
    NumpyVector out = new_vector(static_cast<std::size_t>(self.path->rows().order()));
    self.path->coefficients(in(out));
    return out;
}

NumpyVector dual(const PathState& self) {
    NumpyVector out = new_vector(static_cast<std::size_t>(self.path->rows().n()));
    self.path->dual(in(out));
    return out;
}

}  // namespace

void bind_newton_path(nb::module_& m) {
    nb::class_<PathState>(m, "NewtonPath",
                          "The semismooth Newton method along a list of strengths.")
        .def("__init__", &make_path, nb::arg("rows"), nb::arg("loop"), nb::arg("strength"),
             nb::arg("row_stiffness"), nb::arg("stiffness"), nb::arg("argument_scale"),
             nb::arg("smooth"))
        .def("place", &place, nb::arg("b"), nb::arg("g"),
             "Start at coefficients (intercept last) and slopes in the predictions")
        .def("move", &move, nb::arg("strength"), nb::arg("target"), nb::arg("max_steps"),
             nb::arg("seconds"), "Move to a strength; returns (steps, estimated gap, failed)")
        .def("coefficients", &coefficients, "The coefficients at hand, intercept last")
        .def("dual", &dual, "Slopes in the predictions");
}
