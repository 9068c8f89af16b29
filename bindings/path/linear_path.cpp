#include "rectiline/path/linear_path.hpp"

#include <nanobind/stl/tuple.h>

#include "newton/newton_rows.hpp"
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace rectiline::path;

struct LinearPathState {
    std::unique_ptr<LinearPath> path;
    std::vector<nb::object> keep;
};

void make_path(LinearPathState* self, nb::object X, nb::object functions, nb::object loop,
               double strength, int n_threads) {
    const Design& design = nb::cast<const Design&>(X);
    const Rows& rows = nb::cast<const Rows&>(functions);
    const NewtonTerms& terms = nb::cast<const NewtonLoopState&>(loop).loop->terms();
    require(n_columns(design.view) == terms.d && n_rows(design.view) == rows.view.n,
            "design, rows and terms differ in size");
    require(terms.n_constraints == 0, "a path takes no constraint rows");
    require(strength > 0, "strength must be positive");
    require(KinkedRows::accepts(rows.view), "rows must have one kink each and no curvature");
    for (std::int64_t j = 0; j < terms.d; ++j)
        require(terms.rho[0] > 0 ? terms.rho[j] > 0 : terms.rho[j] == 0 && terms.l1[j] > 0,
                "all columns must have a ridge term, or all of them an l1 term");
    bool any = false;
    for (std::int64_t i = 0; i < rows.view.n; ++i)
        any = any || rows.view.weight[i] > 0;
    require(any, "no row has weight");
    std::unique_ptr<LinearPath> path;
    {
        nb::gil_scoped_release release;
        path = std::make_unique<LinearPath>(design.view, rows.view, terms, strength, n_threads);
    }
    new (self) LinearPathState{std::move(path), {X, functions, loop}};
}

void place(LinearPathState& self, VectorIn b) {
    require(static_cast<std::int64_t>(b.shape(0)) == self.path->rows().order(),
            "b must have one entry per column (and the intercept)");
    self.path->place(b.data());
}

std::tuple<std::int64_t, double, bool, bool> move(LinearPathState& self, double strength,
                                                  double target, std::int64_t max_steps,
                                                  double seconds) {
    require(strength > 0, "strength must be positive");
    PythonInterrupt interrupt(seconds);
    LinearStep done;
    {
        nb::gil_scoped_release release;
        done = self.path->move(strength, target, max_steps, interrupt.handle());
    }
    interrupt.rethrow();
    return {done.steps, done.relative_gap, done.failed, false};
}

NumpyVector coefficients(const LinearPathState& self) {
    NumpyVector out = new_vector(static_cast<std::size_t>(self.path->rows().order()));
    self.path->coefficients(out.data());
    return out;
}

NumpyVector dual(const LinearPathState& self) {
    NumpyVector out = new_vector(static_cast<std::size_t>(self.path->rows().n_given()));
    self.path->dual(out.data());
    return out;
}

}  // namespace

void bind_linear_path(nb::module_& m) {
    nb::class_<LinearPathState>(m, "LinearPath",
                                "Linear programs along a list of strengths of an L1 penalty.")
        .def("__init__", &make_path, nb::arg("design"), nb::arg("rows"), nb::arg("loop"),
             nb::arg("strength"), nb::arg("n_threads") = 0)
        .def("place", &place, nb::arg("b"), "Start at coefficients, intercept last")
        .def("move", &move, nb::arg("strength"), nb::arg("target"), nb::arg("max_steps"),
             nb::arg("seconds"),
             "Move to a strength; returns (steps, estimated gap, failed, strayed)")
        .def("coefficients", &coefficients, "The coefficients at hand, intercept last")
        .def("dual", &dual, "Slopes in the predictions");
}
