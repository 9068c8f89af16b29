#include "rectiline/rehline/rehline.hpp"

#include <nanobind/stl/optional.h>

#include "common.hpp"
#include <memory>

namespace {

using namespace rectiline::rehline;

// The loop together with everything its views look at.
struct RehlineState {
    std::unique_ptr<Rehline> loop;
    std::int64_t n, m;
    std::vector<nb::object> keep;
};

void make_state(RehlineState* self, nb::object X, nb::object rows, nb::object columns, nb::object A,
                VectorIn c, BytesIn equality, bool shuffle, bool accelerate, bool shrink,
                double intercept_step, std::uint64_t seed) {
    const Design& design = nb::cast<const Design&>(X);
    const Rows& row_functions = nb::cast<const Rows&>(rows);
    const Columns& column_functions = nb::cast<const Columns&>(columns);
    const Design& constraint_rows = nb::cast<const Design&>(A);
    const std::int64_t n = n_rows(design.view), m = n_rows(constraint_rows.view);
    require(row_functions.view.n == n, "X and the row functions differ in length");
    require(column_functions.view.d == n_columns(design.view), "X and the columns differ");
    require(length(c) == m && length(equality) == m,
            "c and equality must have one entry per constraint");
    LinearConstraints constraints{constraint_rows.view, in(c), in(equality)};
    RehlineOptions options{shuffle, accelerate, shrink, intercept_step, seed};
    new (self) RehlineState{nullptr, n, m, {X, rows, columns, A, nb::cast(c), nb::cast(equality)}};
    nb::gil_scoped_release release;
    self->loop = std::make_unique<Rehline>(design.view, row_functions.view, column_functions.view,
                                           constraints, options);
}

void restart(RehlineState& self, std::optional<VectorIn> sample, std::optional<VectorIn> constraint,
             double intercept) {
    require(!sample || length(*sample) == self.n, "the sample dual must have one entry per row");
    require(!constraint || length(*constraint) == self.m,
            "the constraint dual must have one entry per constraint");
    nb::gil_scoped_release release;
    self.loop->restart(in(sample), in(constraint), intercept);
}

RehlineProgress run(RehlineState& self, std::int64_t max_sweeps, double absolute, double relative,
                    double seconds) {
    return run_interruptibly(seconds, [&](auto& interrupt) {
        return self.loop->run(max_sweeps, absolute, relative, interrupt);
    });
}

std::int64_t screen(RehlineState& self, double gap) {
    nb::gil_scoped_release release;
    return self.loop->screen(gap);
}

NumpyVector sample_dual(const RehlineState& self) {
    NumpyVector g = new_vector(static_cast<std::size_t>(self.n));
    self.loop->sample_dual(in(g));
    return g;
}

}  // namespace

void bind_rehline(nb::module_& m) {
    nb::class_<RehlineProgress>(m, "RehlineProgress")
        .def_ro("sweeps", &RehlineProgress::sweeps)
        .def_ro("gap", &RehlineProgress::gap)
        .def_ro("objective", &RehlineProgress::objective)
        .def_ro("violation", &RehlineProgress::violation)
        .def_ro("n_active", &RehlineProgress::n_active)
        .def_ro("visits", &RehlineProgress::visits)
        .def_ro("reached", &RehlineProgress::reached)
        .def_ro("interrupted", &RehlineProgress::interrupted);
    nb::class_<RehlineState>(m, "Rehline", "Dual coordinate ascent, one exact step per sample.")
        .def("__init__", &make_state, nb::arg("X"), nb::arg("rows"), nb::arg("columns"),
             nb::arg("A"), nb::arg("c"), nb::arg("equality"), nb::arg("shuffle"),
             nb::arg("accelerate"), nb::arg("shrink"), nb::arg("intercept_step"), nb::arg("seed"))
        .def("restart", &restart, nb::arg("sample") = nb::none(),
             nb::arg("constraint") = nb::none(), nb::arg("intercept") = 0.0)
        .def("run", &run, nb::arg("max_sweeps"), nb::arg("absolute"), nb::arg("relative"),
             nb::arg("seconds"))
        .def("screen", &screen, nb::arg("gap"))
        .def(
            "take_all_rows_back", [](RehlineState& self) { self.loop->take_all_rows_back(); },
            "Visit all rows again, those set aside too")
        .def_prop_ro(
            "coef", [](const RehlineState& self) { return copy_vector(self.loop->coef()); },
            nb::rv_policy::move)
        .def_prop_ro("intercept", [](const RehlineState& self) { return self.loop->intercept(); })
        .def_prop_ro("sample_dual", &sample_dual, nb::rv_policy::move)
        .def_prop_ro(
            "constraint_dual",
            [](const RehlineState& self) { return copy_vector(self.loop->constraint_dual()); },
            nb::rv_policy::move);
}
