#include "rectiline/newton/smoothed_l1.hpp"

#include "common.hpp"
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace {

using rectiline::newton::SmoothedL1;

struct SmoothedState {
    std::unique_ptr<SmoothedL1> method;
    std::int64_t n;
    std::vector<nb::object> keep;
};

void make(SmoothedState* self, nb::object rows, bool intercept) {
    const Rows& functions = nb::cast<const Rows&>(rows);
    require(functions.view.n <= std::numeric_limits<std::int32_t>::max(), "too many rows");
    new (self) SmoothedState{
        std::make_unique<SmoothedL1>(functions.view, intercept), functions.view.n, {rows}};
}

void add(SmoothedState& self, const Design& X, IndexIn columns, VectorIn l1) {
    require(rectiline::design::n_rows(X.view) == self.n,
            "X and the row functions differ in length");
    require(columns.shape(0) == l1.shape(0), "columns and l1 must have equal length");
    for (const std::int64_t j : in(columns))
        require(j >= 0 && j < rectiline::design::n_columns(X.view), "a column is out of range");
    nb::gil_scoped_release release;
    self.method->add(X.view, in(columns), in(l1));
}

void place(SmoothedState& self, VectorIn b, double intercept) {
    require(b.shape(0) == self.method->coefficients().size(), "b must have one entry per column");
    nb::gil_scoped_release release;
    self.method->place(in(b), intercept);
}

void sweep(SmoothedState& self, double mu, bool all, double seconds) {
    require(mu > 0, "mu must be positive");
    run_interruptibly(seconds, [&](auto& interrupt) {
        self.method->sweep(mu, all, interrupt);
        return 0;
    });
}

double step(SmoothedState& self, double mu, double seconds) {
    require(mu > 0, "mu must be positive");
    return run_interruptibly(seconds,
                             [&](auto& interrupt) { return self.method->step(mu, interrupt); });
}

NumpyVector coefficients(const SmoothedState& self) {
    const auto b = self.method->coefficients();
    NumpyVector out = new_vector(b.size());
    std::copy(b.begin(), b.end(), out.data());
    return out;
}

NumpyVector predictions(const SmoothedState& self) {
    NumpyVector z = new_vector(static_cast<std::size_t>(self.n));
    self.method->predictions(in(z));
    return z;
}

NumpyVector dual(SmoothedState& self, double mu) {
    require(mu > 0, "mu must be positive");
    NumpyVector g = new_vector(static_cast<std::size_t>(self.n));
    self.method->dual(mu, in(g));
    return g;
}

}  // namespace

void bind_smoothed_l1(nb::module_& m) {
    nb::class_<SmoothedState>(m, "SmoothedL1", "Proximal Newton steps on a smoothed loss under L1.")
        .def("__init__", &make, nb::arg("rows"), nb::arg("intercept"))
        .def("add", &add, nb::arg("X"), nb::arg("columns"), nb::arg("l1"),
             "Add columns of X with their strengths, at coefficients of zero")
        .def("place", &place, nb::arg("b"), nb::arg("intercept"),
             "Start at coefficients of the columns that are there")
        .def("sweep", &sweep, nb::arg("mu"), nb::arg("all"), nb::arg("seconds"),
             "Descend along all coordinates, or those that are not zero, within trust regions")
        .def("step", &step, nb::arg("mu"), nb::arg("seconds"),
             "Take a Newton step; returns by how much optimality failed before it, in strengths, "
             "or a negative number if no step descends")
        .def("coefficients", &coefficients, "Those of the columns, in the order they were added")
        .def_prop_ro("intercept",
                     [](const SmoothedState& self) { return self.method->intercept(); })
        .def("predictions", &predictions, "X b + b0")
        .def("dual", &dual, nb::arg("mu"), "Slopes of the smoothed rows in the predictions");
}
