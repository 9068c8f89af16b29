#include "rectiline/prox/proximal_multipliers.hpp"

#include <nanobind/stl/pair.h>

#include "common.hpp"
#include <utility>

namespace {

using rectiline::prox::ProximalMultipliers;
using rectiline::prox::ProximalUnits;

template <class Array>
auto values(const Array& array) {
    return std::vector(array.data(), array.data() + array.shape(0));
}

// The method together with the matrix it looks at.
struct Method {
    ProximalMultipliers core;
    nb::object keep;
};

void make(Method* self, IndexIn row, VectorIn sign, VectorIn low, VectorIn high, VectorIn lift,
          VectorIn bend, std::int64_t n_rows, std::int64_t n_ones, double one_scale) {
    const std::size_t count = row.shape(0);
    require(sign.shape(0) == count && low.shape(0) == count && high.shape(0) == count &&
                lift.shape(0) == count && bend.shape(0) == count,
            "the vectors of the units must have equal length");
    require(0 <= n_ones && n_ones <= n_rows, "n_ones must lie between 0 and n_rows");
    for (const std::int64_t i : in(row))
        require(i >= 0 && i < n_rows, "a row is out of range");
    new (self) Method{ProximalMultipliers(ProximalUnits{values(row), values(sign), values(low),
                                                        values(high), values(lift), values(bend)},
                                          n_rows, n_ones, one_scale),
                      nb::none()};
}

void set_columns(Method& self, nb::object X,
                 std::unique_ptr<rectiline::prox::ClusteredProx> penalty) {
    const Design& design = nb::cast<const Design&>(X);
    const bool by_columns = std::visit(
        [](const auto& view) {
            if constexpr (requires { view.by_rows; })
                return !view.by_rows;
            else
                return true;
        },
        design.view);
    require(by_columns, "a sparse X must be stored by columns");
    require(rectiline::design::n_rows(design.view) == self.core.n_rows() &&
                rectiline::design::n_columns(design.view) == penalty->size(),
            "X must have a row per row of the units and a column per coefficient");
    self.core.set_columns(design.view, std::move(penalty));
    self.keep = X;
}

void set_sorted(Method& self, nb::object X, VectorIn strengths) {
    set_columns(self, X, std::make_unique<rectiline::prox::SortedProx>(values(strengths)));
}

void set_groups(Method& self, nb::object X, IndexIn columns, IndexIn starts, double strength,
                double l1) {
    const std::int64_t d = rectiline::design::n_columns(nb::cast<const Design&>(X).view);
    require_groups(columns, starts, d);
    set_columns(self, X,
                std::make_unique<rectiline::prox::GroupProx>(d, values(columns), values(starts),
                                                             strength, l1));
}

void set_separable(Method& self, nb::object X, VectorIn l1, VectorIn lower, VectorIn upper) {
    require(l1.shape(0) == lower.shape(0) && l1.shape(0) == upper.shape(0),
            "l1, lower and upper must have equal length");
    set_columns(
        self, X,
        std::make_unique<rectiline::prox::SeparableProx>(values(l1), values(lower), values(upper)));
}

std::pair<std::int64_t, double> advance(Method& self, VectorOut dual, VectorOut b, double b0,
                                        double step, double room, double tolerance,
                                        std::int64_t most, double seconds) {
    require(length(dual) == self.core.n_units() && length(b) == self.core.n_columns(),
            "dual needs an entry per unit and b one per column");
    const std::int64_t taken = run_interruptibly(seconds, [&](auto& interrupt) {
        return self.core.advance(in(dual), in(b), b0, {step, room, tolerance, most}, interrupt);
    });
    return {taken, b0};
}

}  // namespace

void bind_proximal_multipliers(nb::module_& m) {
    nb::class_<Method>(m, "ProximalMultipliers",
                       "Steps of the proximal method of multipliers on units and columns.")
        .def("__init__", &make, nb::arg("row"), nb::arg("sign"), nb::arg("low"), nb::arg("high"),
             nb::arg("lift"), nb::arg("bend"), nb::arg("n_rows"), nb::arg("n_ones"),
             nb::arg("one_scale"))
        .def("set_sorted", &set_sorted, nb::arg("X"), nb::arg("strengths"))
        .def("set_groups", &set_groups, nb::arg("X"), nb::arg("columns"), nb::arg("starts"),
             nb::arg("strength"), nb::arg("l1"))
        .def("set_separable", &set_separable, nb::arg("X"), nb::arg("l1"), nb::arg("lower"),
             nb::arg("upper"))
        .def("advance", &advance, nb::arg("dual"), nb::arg("b"), nb::arg("b0"), nb::arg("step"),
             nb::arg("room"), nb::arg("tolerance"), nb::arg("most"), nb::arg("seconds"),
             "One outer step, in place on dual and b: (Newton steps, b0)")
        .def_prop_ro(
            "work", [](const Method& self) { return self.core.work(); },
            "Products of all Newton steps so far, about");
}
