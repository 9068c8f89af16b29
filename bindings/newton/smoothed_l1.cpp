#include "rectiline/newton/smoothed_l1.hpp"

#include "common.hpp"

namespace {

using rectiline::newton::SmoothedL1;

using SmoothedState = Held<SmoothedL1>;

void make(SmoothedState* self, const Rows& rows, bool intercept) {
    require(rows.n() <= std::numeric_limits<std::int32_t>::max(), "too many rows");
    new (self) SmoothedState(kept(rows), rows.view, intercept);
}

void add(SmoothedState& self, VectorIn values, PositionsIn indices, IndexIn pointers, VectorIn l1) {
    const auto ends = checked(pointers, length(l1) + 1, "pointers");
    require(std::is_sorted(ends.begin(), ends.end()) && ends.front() == 0,
            "pointers must not fall");
    const auto entries = checked(values, ends.back(), "values");
    const auto at = checked_indices(indices, self.n(), "indices");
    require(at.size() == entries.size(), "values and indices differ in length");
    gil::Released released;
    self.add(entries, at, ends, in(l1));
}

void place(SmoothedState& self, VectorIn b, double intercept) {
    const auto at = checked(b, std::ssize(self.coefficients()), "b");
    gil::Released released;
    self.place(at, intercept);
}

void sweep(SmoothedState& self, double mu, bool all, double seconds) {
    require(mu > 0, "mu must be positive");
    run_interruptibly(seconds, [&](auto& interrupt) {
        self.sweep(mu, all, interrupt);
        return 0;
    });
}

double step(SmoothedState& self, double mu, double seconds) {
    require(mu > 0, "mu must be positive");
    return run_interruptibly(seconds, [&](auto& interrupt) { return self.step(mu, interrupt); });
}

NumpyVector dual(SmoothedState& self, double mu) {
    require(mu > 0, "mu must be positive");
    return filled(self.n(), [&](auto g) { self.dual(mu, g); });
}

}  // namespace

void bind_smoothed_l1(nb::module_& m) {
    nb::class_<SmoothedState>(m, "SmoothedL1", "Proximal Newton steps on a smoothed loss under L1.")
        .def("__init__", &make, "rows"_a, "intercept"_a)
        .def("add", &add, "values"_a, "indices"_a, "pointers"_a, "l1"_a,
             "Add compressed columns of X with their strengths, at coefficients of zero")
        .def("place", &place, "b"_a, "intercept"_a,
             "Start at coefficients of the columns that are there")
        .def("sweep", &sweep, "mu"_a, "all"_a, "seconds"_a,
             "Descend along all coordinates, or those that are not zero, within trust regions")
        .def("step", &step, "mu"_a, "seconds"_a,
             "Take a Newton step; returns by how much optimality failed before it, in strengths, "
             "or a negative number if no step descends")
        .def("coefficients", &copied<SmoothedState, &SmoothedL1::coefficients>,
             "Those of the columns, in the order they were added")
        .def_prop_ro("intercept", &SmoothedL1::intercept)
        .def("predictions", &filled_by<SmoothedState, &SmoothedL1::predictions, &SmoothedL1::n>,
             "X b + b0")
        .def("dual", &dual, "mu"_a, "Slopes of the smoothed rows in the predictions");
}
