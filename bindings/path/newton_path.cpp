#include "rectiline/path/newton_path.hpp"

#include "newton/newton_rows.hpp"

namespace {

using namespace rectiline::path;

using PathState = Held<NewtonPath>;

void make_path(PathState* self, NewtonRowsState& rows, const NewtonLoopState& loop, double strength,
               double row_stiffness, double stiffness, double argument_scale, bool smooth) {
    require(rows.rows->order() == loop.terms().order(), "rows and terms differ in columns");
    require(loop.terms().n_constraints() == 0, "a path takes no constraint rows");
    require(strength > 0, "strength must be positive");
    const NewtonUnits units{row_stiffness, stiffness, argument_scale, smooth};
    new (self) PathState(kept(rows, loop), *rows.rows, loop.terms(), strength, units);
}

void place(PathState& self, VectorIn b, VectorIn g) {
    const auto coef = checked(b, self.rows().order(), "b");
    const auto slopes = checked(g, self.rows().n(), "g");
    gil::Released released;
    self.place(coef, slopes);
}

std::tuple<std::int64_t, double, bool> move(PathState& self, double strength, double target,
                                            std::int64_t max_steps, double seconds) {
    require(strength > 0, "strength must be positive");
    const PathStep done = run_interruptibly(seconds, [&](auto& interrupt) {
        return self.move(strength, target, max_steps, interrupt);
    });
    return {done.steps, done.relative_gap, done.failed};
}

NumpyVector coefficients(PathState& self) {
    return filled(self.rows().order(), [&](auto out) { self.coefficients(out); });
}

NumpyVector dual(const PathState& self) {
    return filled(self.rows().n(), [&](auto out) { self.dual(out); });
}

}  // namespace

void bind_newton_path(nb::module_& m) {
    nb::class_<PathState>(m, "NewtonPath",
                          "The semismooth Newton method along a list of strengths.")
        .def("__init__", &make_path, "rows"_a, "loop"_a, "strength"_a, "row_stiffness"_a,
             "stiffness"_a, "argument_scale"_a, "smooth"_a)
        .def("place", &place, "b"_a, "g"_a,
             "Start at coefficients (intercept last) and slopes in the predictions")
        .def("move", &move, "strength"_a, "target"_a, "max_steps"_a, "seconds"_a,
             "Move to a strength; returns (steps, estimated gap, failed)")
        .def("coefficients", &coefficients, "The coefficients at hand, intercept last")
        .def("dual", &dual, "Slopes in the predictions");
}
