#include "newton/newton_rows.hpp"

namespace {

using namespace rectiline::newton;
using NewtonState = NewtonRowsState;

void make_state(NewtonState* self, const Design& X, const Rows& rows, bool intercept) {
    require(rows.n() == X.n(), "X and the row functions differ in length");
    new (self)
        NewtonState{std::make_unique<NewtonRows>(X.view, rows.view, intercept), kept(X, rows)};
}

std::unique_ptr<NewtonState> subset(const NewtonState& self, IndexIn index, double weight_factor) {
    const auto chosen = checked_indices(index, self.rows->n(), "index");
    auto out = std::make_unique<NewtonState>(NewtonState{nullptr, self.keep});
    gil::Released released;
    out->rows = self.rows->subset(chosen, weight_factor);
    return out;
}

void place(NewtonState& self, VectorIn b) {
    const auto at = checked(b, self.rows->order(), "b");
    gil::Released released;
    self.rows->place(at);
}

void place_at(NewtonState& self, VectorIn z) {
    self.rows->place_at(checked(z, self.rows->n(), "z"));
}

void set_multiplier(NewtonState& self, std::optional<VectorIn> g) {
    self.rows->set_multiplier(checked(g, self.rows->n(), "g"));
}

template <void (NewtonRows::*method)(std::span<double>) const>
NumpyVector per_row(const NewtonState& self) {
    return filled(self.rows->n(), [&](auto out) { (self.rows.get()->*method)(out); });
}

using Parts = std::tuple<NumpyVector, std::optional<NumpyMatrix>, NumpyVector>;

std::optional<Parts> freeze(NewtonState& self, BytesIn keep, double reserve, double seconds) {
    const auto stays = checked(keep, self.rows->n(), "keep");
    const std::int64_t order = self.rows->order();
    NumpyVector linear = new_vector(order), dual = new_vector(self.rows->n());
    NumpyMatrix quadratic = new_matrix(order, order);
    std::fill_n(quadratic.data(), quadratic.size(), 0.0);
    const Frozen frozen = run_interruptibly(seconds, [&](auto& interrupt) {
        const std::vector<double> kept(stays.begin(), stays.end());
        return self.rows->freeze(kept, reserve, in(linear), in(quadratic), in(dual), interrupt);
    });
    if (!frozen.balanced) return std::nullopt;
    return Parts{linear, frozen.curved ? std::optional<NumpyMatrix>(quadratic) : std::nullopt,
                 dual};
}

}  // namespace

void bind_newton(nb::module_& m) {
    nb::class_<NewtonState>(m, "NewtonRows", "Per-row work of the semismooth Newton method.")
        .def("__init__", &make_state, "X"_a, "rows"_a, "intercept"_a)
        .def("subset", &subset, "index"_a, "weight_factor"_a = 1.0,
             "The given rows, copied side by side")
        .def("place", &place, "b"_a, "Set the arguments to those of b")
        .def("place_at", &place_at, "z"_a, "Set the arguments to those of predictions z")
        .def("set_multiplier", &set_multiplier, "g"_a.none() = nb::none(),
             "Set the multipliers from slopes in the predictions")
        .def("dual", &per_row<&NewtonRows::dual>, "Slopes in the predictions")
        .def(
            "arguments",
            [](const NewtonState& self) { return copy_vector(self.rows->arguments()); },
            "Arguments of the losses")
        .def("slack", &per_row<&NewtonRows::slack>, "Distance to the nearest knot")
        .def(
            "freeze", &freeze, "keep"_a, "reserve"_a, "seconds"_a,
            "(linear, quadratic or None, dual): what rows outside `keep` add on their pieces, and "
            "their slopes; None if the rows kept cannot balance them under an intercept, up to the "
            "share `reserve` of what they can, or after so many seconds")
        .def_prop_ro("n", [](const NewtonState& self) { return self.rows->n(); });
}
