#include "rectiline/rehline/rehline_units.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "common.hpp"
#include <algorithm>
#include <memory>
#include <tuple>

namespace {

using namespace rectiline::rehline;

// relu_u, relu_v (L each), rehu_s, rehu_t, rehu_tau (H each), constant
using UnitArrays = std::tuple<VectorIn, VectorIn, VectorIn, VectorIn, VectorIn, double>;

// The loop together with everything its views look at.
struct UnitsState {
    std::unique_ptr<RehlineUnits> loop;
    std::int64_t n, m;
    std::vector<nb::object> keep;
};

void make_state(UnitsState* self, nb::object X, nb::object rows,
                const std::vector<UnitArrays>& units, nb::object columns, nb::object A, VectorIn c,
                BytesIn equality, bool shuffle, bool shrink, std::uint64_t seed) {
    const Design& design = nb::cast<const Design&>(X);
    const Rows& row_functions = nb::cast<const Rows&>(rows);
    const Columns& column_functions = nb::cast<const Columns&>(columns);
    const Design& constraint_rows = nb::cast<const Design&>(A);
    const std::int64_t n = n_rows(design.view), m = n_rows(constraint_rows.view);
    require(row_functions.view.n == n, "X and the row functions differ in length");
    require(units.size() == row_functions.curves.size(), "units must be given for each loss");
    require(column_functions.view.d == n_columns(design.view), "X and the columns differ");
    require(length(c) == m && length(equality) == m,
            "c and equality must have one entry per constraint");
    std::vector<LossUnits> losses;
    for (const auto& [u, v, s, t, tau, constant] : units) {
        require(u.shape(0) == v.shape(0), "relu_u and relu_v differ in length");
        require(s.shape(0) == t.shape(0) && s.shape(0) == tau.shape(0),
                "rehu_s, rehu_t and rehu_tau differ in length");
        losses.push_back({in(u), in(v), in(s), in(t), in(tau), constant});
    }
    LinearConstraints constraints{constraint_rows.view, in(c), in(equality)};
    new (self) UnitsState{nullptr, n, m, {X, rows, columns, A, nb::cast(c), nb::cast(equality)}};
    nb::gil_scoped_release release;
    self->loop = std::make_unique<RehlineUnits>(design.view, row_functions.view, losses,
                                                column_functions.view, constraints,
                                                RehlineUnitsOptions{shuffle, shrink, seed});
}

bool fits(const std::optional<MatrixIn>& dual, const UnitFamily& family, std::int64_t n) {
    return !dual ||
           (length(*dual) == family.most && static_cast<std::int64_t>(dual->shape(1)) == n);
}

void restart(UnitsState& self, std::optional<MatrixIn> relu, std::optional<MatrixIn> rehu,
             std::optional<VectorIn> constraint) {
    require(fits(relu, self.loop->relus(), self.n) && fits(rehu, self.loop->rehus(), self.n),
            "the unit duals must have one row per unit and one column per sample");
    require(!constraint || length(*constraint) == self.m,
            "the constraint dual must have one entry per constraint");
    nb::gil_scoped_release release;
    self.loop->restart(in(relu), in(rehu), in(constraint));
}

RehlineProgress run(UnitsState& self, std::int64_t max_sweeps, double absolute, double relative,
                    double seconds) {
    return run_interruptibly(seconds, [&](auto& interrupt) {
        return self.loop->run(max_sweeps, absolute, relative, interrupt);
    });
}

NumpyVector sample_dual(const UnitsState& self) {
    NumpyVector g = new_vector(static_cast<std::size_t>(self.n));
    self.loop->sample_dual(in(g));
    return g;
}

NumpyMatrix unit_dual(const UnitFamily& family, std::int64_t n) {
    NumpyMatrix out =
        new_matrix(static_cast<std::size_t>(family.most), static_cast<std::size_t>(n));
    std::copy(family.dual.begin(), family.dual.end(), out.data());
    return out;
}

}  // namespace

void bind_rehline_units(nb::module_& m) {
    nb::class_<UnitsState>(m, "RehlineUnits", "Dual coordinate ascent, one unit at a time.")
        .def("__init__", &make_state, nb::arg("X"), nb::arg("rows"), nb::arg("units"),
             nb::arg("columns"), nb::arg("A"), nb::arg("c"), nb::arg("equality"),
             nb::arg("shuffle"), nb::arg("shrink"), nb::arg("seed"))
        .def("restart", &restart, nb::arg("relu") = nb::none(), nb::arg("rehu") = nb::none(),
             nb::arg("constraint") = nb::none())
        .def("run", &run, nb::arg("max_sweeps"), nb::arg("absolute"), nb::arg("relative"),
             nb::arg("seconds"))
        .def_prop_ro(
            "coef", [](const UnitsState& self) { return copy_vector(self.loop->coef()); },
            nb::rv_policy::move)
        .def_prop_ro("intercept", [](const UnitsState&) { return 0.0; })
        .def_prop_ro("sample_dual", &sample_dual, nb::rv_policy::move)
        .def_prop_ro(
            "constraint_dual",
            [](const UnitsState& self) { return copy_vector(self.loop->constraint_dual()); },
            nb::rv_policy::move)
        .def_prop_ro(
            "relu_dual",
            [](const UnitsState& self) { return unit_dual(self.loop->relus(), self.n); },
            nb::rv_policy::move, "One row per ReLU of the loss, one column per sample")
        .def_prop_ro(
            "rehu_dual",
            [](const UnitsState& self) { return unit_dual(self.loop->rehus(), self.n); },
            nb::rv_policy::move, "One row per ReHU of the loss, one column per sample");
}
