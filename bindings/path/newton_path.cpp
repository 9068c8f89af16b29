#include "rectiline/path/newton_path.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "newton/newton_rows.hpp"
#include <algorithm>
#include <memory>
#include <optional>
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
    require(set.order() == terms.order, "rows and terms differ in columns");
    require(terms.n_constraints == 0, "a path takes no constraint rows");
    require(strength > 0, "strength must be positive");
    new (self) PathState{
        std::make_unique<NewtonPath>(set, terms, strength,
                                     NewtonUnits{row_stiffness, stiffness, argument_scale, smooth}),
        {rows, loop}};
}

const double* checked(const PathState& self, const std::optional<VectorIn>& z) {
    if (!z) return nullptr;
    require(static_cast<std::int64_t>(z->shape(0)) == self.path->rows().n(),
            "z must have one entry per row");
    return z->data();
}

void place(PathState& self, VectorIn b, VectorIn g, std::optional<VectorIn> z) {
    require(static_cast<std::int64_t>(b.shape(0)) == self.path->rows().order(),
            "b must have one entry per column (and the intercept)");
    require(static_cast<std::int64_t>(g.shape(0)) == self.path->rows().n(),
            "g must have one entry per row");
    const double* predictions = checked(self, z);
    nb::gil_scoped_release release;
    self.path->place(b.data(), g.data(), predictions);
}

std::int64_t focus(PathState& self, VectorIn low, VectorIn high, std::optional<VectorIn> z,
                   double most) {
    const auto n = static_cast<std::size_t>(self.path->rows().n());
    require(low.shape(0) == n && high.shape(0) == n, "low and high must have one entry per row");
    const double* predictions = checked(self, z);
    nb::gil_scoped_release release;
    return self.path->focus(low.data(), high.data(), predictions, most);
}

void widen(PathState& self) {
    nb::gil_scoped_release release;
    self.path->widen();
}

std::tuple<std::int64_t, double, bool, bool> move(PathState& self, double strength, double target,
                                                  std::int64_t max_steps, double seconds) {
    require(strength > 0, "strength must be positive");
    PythonInterrupt interrupt(seconds);
    PathStep done;
    {
        nb::gil_scoped_release release;
        done = self.path->move(strength, target, max_steps, interrupt.handle());
    }
    interrupt.rethrow();
    return {done.steps, done.relative_gap, done.failed, done.strayed};
}

NumpyVector coefficients(PathState& self) {
    NumpyVector out = new_vector(static_cast<std::size_t>(self.path->rows().order()));
    self.path->coefficients(out.data());
    return out;
}

NumpyVector dual(const PathState& self) {
    NumpyVector out = new_vector(static_cast<std::size_t>(self.path->rows().n()));
    self.path->dual(out.data());
    return out;
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> copied(const std::vector<T>& values) {
    T* data = new T[std::max<std::size_t>(values.size(), 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    std::copy(values.begin(), values.end(), data);
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {values.size()}, owner);
}

using NumpyIndex = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;

std::tuple<NumpyIndex, NumpyVector, NumpyVector> exceptions(PathState& self) {
    const NewtonPath::Exceptions* found;
    {
        nb::gil_scoped_release release;
        found = &self.path->exceptions();
    }
    return {copied(found->row), copied(found->g), copied(found->slopes)};
}

void dual_into(const PathState& self, VectorOut g) {
    require(static_cast<std::int64_t>(g.shape(0)) == self.path->rows().n(),
            "g must have one entry per row");
    nb::gil_scoped_release release;
    self.path->dual(g.data());
}

}  // namespace

void bind_newton_path(nb::module_& m) {
    nb::class_<PathState>(m, "NewtonPath",
                          "The semismooth Newton method along a list of strengths.")
        .def("__init__", &make_path, nb::arg("rows"), nb::arg("loop"), nb::arg("strength"),
             nb::arg("row_stiffness"), nb::arg("stiffness"), nb::arg("argument_scale"),
             nb::arg("smooth"))
        .def(
            "place", &place, nb::arg("b"), nb::arg("g"), nb::arg("z").none() = nb::none(),
            "Start at coefficients (intercept last), slopes in the predictions, and predictions if "
            "known")
        .def("focus", &focus, nb::arg("low"), nb::arg("high"), nb::arg("z").none(), nb::arg("most"),
             "Freeze the rows that meet no knot while predictions stay within [low, high]; the "
             "share "
             "that is left, or 0 and nothing is frozen if it exceeds `most`")
        .def("widen", &widen, "Let all rows take part again")
        .def("move", &move, nb::arg("strength"), nb::arg("target"), nb::arg("max_steps"),
             nb::arg("seconds"),
             "Move to a strength; returns (steps, estimated gap, failed, strayed)")
        .def("coefficients", &coefficients, "The coefficients at hand, intercept last")
        .def("dual", &dual, "Slopes in the predictions")
        .def("exceptions", &exceptions,
             "Rows that take part and have another multiplier than the slope at their prediction, "
             "and "
             "these; if they are many, only some of them, and the slopes of all rows")
        .def(
            "frozen_slopes",
            [](const PathState& self) { return copied(self.path->frozen_slopes()); },
            "Slopes of the losses of the frozen rows, NaN for the others; empty if all take part")
        .def("dual_into", &dual_into, nb::arg("g").noconvert(),
             "Slopes in the predictions, in place");
}
