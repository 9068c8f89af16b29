#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "newton/newton_rows.hpp"
#include <memory>

namespace {

using namespace rectiline::newton;
using NewtonState = NewtonRowsState;

NumpyMatrix new_matrix(std::size_t order) {
    double* data = new double[order * order > 0 ? order * order : 1]();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return NumpyMatrix(data, {order, order}, owner);
}

std::size_t order_of(const NewtonState& self) {
    return static_cast<std::size_t>(self.rows->order());
}
std::size_t n_of(const NewtonState& self) {
    return static_cast<std::size_t>(self.rows->n());
}

void make_state(NewtonState* self, nb::object X, nb::object rows, bool intercept) {
    const Design& design = nb::cast<const Design&>(X);
    const Rows& functions = nb::cast<const Rows&>(rows);
    require(functions.view.n == n_rows(design.view), "X and the row functions differ in length");
    new (self) NewtonState{std::make_unique<NewtonRows>(design.view, functions.view, intercept),
                           {X, rows}};
}

std::unique_ptr<NewtonState> subset(const NewtonState& self, IndexIn index, double weight_factor) {
    for (const std::int64_t i : in(index))
        require(i >= 0 && i < self.rows->n(), "index out of range");
    auto out = std::make_unique<NewtonState>();
    out->keep = self.keep;
    nb::gil_scoped_release release;
    out->rows = self.rows->subset(in(index), weight_factor);
    return out;
}

void place(NewtonState& self, VectorIn b) {
    require(b.shape(0) == order_of(self), "b must have one entry per column (and the intercept)");
    nb::gil_scoped_release release;
    self.rows->place(in(b));
}

void place_at(NewtonState& self, VectorIn z) {
    require(z.shape(0) == n_of(self), "z must have one entry per row");
    self.rows->place_at(in(z));
}

void set_multiplier(NewtonState& self, std::optional<VectorIn> g) {
    require(!g || g->shape(0) == n_of(self), "g must have one entry per row");
    self.rows->set_multiplier(in(g));
}

template <void (NewtonRows::*method)(std::span<double>) const>
NumpyVector per_row(const NewtonState& self) {
    NumpyVector out = new_vector(n_of(self));
    (self.rows.get()->*method)(in(out));
    return out;
}

using Parts = std::tuple<NumpyVector, std::optional<NumpyMatrix>, NumpyVector>;

std::optional<Parts> freeze(NewtonState& self, BytesIn keep, double reserve, double seconds) {
    require(keep.shape(0) == n_of(self), "keep must have one entry per row");
    NumpyVector linear = new_vector(order_of(self));
    NumpyMatrix quadratic = new_matrix(order_of(self));
    NumpyVector dual = new_vector(n_of(self));
    const Frozen frozen = run_interruptibly(seconds, [&](auto& interrupt) {
        const std::vector<double> kept(keep.data(), keep.data() + keep.shape(0));
        return self.rows->freeze(kept, reserve, in(linear), in(quadratic), in(dual), interrupt);
    });
    if (!frozen.balanced) return std::nullopt;
    return Parts{linear, frozen.curved ? std::optional<NumpyMatrix>(quadratic) : std::nullopt,
                 dual};
}

}  // namespace

void bind_newton(nb::module_& m) {
    nb::class_<NewtonState>(m, "NewtonRows", "Per-row work of the semismooth Newton method.")
        .def("__init__", &make_state, nb::arg("X"), nb::arg("rows"), nb::arg("intercept"))
        .def("subset", &subset, nb::arg("index"), nb::arg("weight_factor") = 1.0,
             "The given rows, copied side by side")
        .def("place", &place, nb::arg("b"), "Set the arguments to those of b")
        .def("place_at", &place_at, nb::arg("z"), "Set the arguments to those of predictions z")
        .def("set_multiplier", &set_multiplier, nb::arg("g").none() = nb::none(),
             "Set the multipliers from slopes in the predictions")
        .def("dual", &per_row<&NewtonRows::dual>, "Slopes in the predictions")
        .def(
            "arguments",
            [](const NewtonState& self) { return copy_vector(self.rows->arguments()); },
            "Arguments of the losses")
        .def("slack", &per_row<&NewtonRows::slack>, "Distance to the nearest knot")
        .def(
            "freeze", &freeze, nb::arg("keep"), nb::arg("reserve"), nb::arg("seconds"),
            "(linear, quadratic or None, dual): what rows outside `keep` add on their pieces, and "
            "their slopes; None if the rows kept cannot balance them under an intercept, up to the "
            "share `reserve` of what they can, or after so many seconds")
        .def_prop_ro("n", [](const NewtonState& self) { return self.rows->n(); });
}
