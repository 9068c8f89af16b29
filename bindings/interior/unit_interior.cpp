#include "rectiline/interior/unit_interior.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "common.hpp"
#include <tuple>
#include <utility>

namespace {

using rectiline::interior::Number;
using rectiline::interior::UnitInterior;
using rectiline::interior::UnitProgram;

template <class Array>
auto copied(const Array& array) {
    return std::vector(array.data(), array.data() + array.shape(0));
}

void check(const UnitProgram& program) {
    const auto size = [](const auto& one) { return static_cast<std::int64_t>(one.size()); };
    require(program.n_rows() >= 0 && program.begin.front() == 0 &&
                program.begin.back() == size(program.columns) &&
                size(program.columns) == size(program.values),
            "begin, columns and values do not fit");
    for (std::int64_t r = 0; r < program.n_rows(); ++r) {
        require(program.begin[r] <= program.begin[r + 1], "begin must not fall");
        for (std::int64_t e = program.begin[r]; e < program.begin[r + 1]; ++e)
            require(program.columns[e] >= 0 && program.columns[e] < program.width() &&
                        (e == program.begin[r] || program.columns[e - 1] < program.columns[e]),
                    "columns of a row must increase and be in range");
    }
    const std::int64_t units = program.n_units();
    require(size(program.shift) == units && size(program.low) == units &&
                size(program.high) == units && size(program.soft) == units &&
                size(program.linear) == program.width(),
            "sizes of the units or of rho and linear do not fit");
    for (const std::int64_t r : program.row)
        require(r >= 0 && r < program.n_rows(), "a unit names a row that is not there");
}

template <class Real>
void make(UnitInterior<Real>* self, IndexIn begin, IndexIn columns, VectorIn values, IndexIn row,
          VectorIn shift, VectorIn low, VectorIn high, VectorIn soft, VectorIn rho, VectorIn linear,
          bool by_rows) {
    require(begin.shape(0) > 0, "begin must not be empty");
    UnitProgram program{copied(begin), copied(columns), copied(values), copied(row),
                        copied(shift), copied(low),     copied(high),   copied(soft),
                        copied(rho),   copied(linear)};
    check(program);
    for (const double rho : program.rho)
        require(!by_rows || rho > 0, "by rows every rho must be positive");
    new (self) UnitInterior<Real>(std::move(program), by_rows);
}

template <class Real>
bool step(UnitInterior<Real>& self, double seconds) {
    return run_interruptibly(seconds, [&](auto& interrupt) { return self.step(interrupt); });
}

template <class Real>
std::pair<NumpyVector, NumpyVector> point(const UnitInterior<Real>& self) {
    NumpyVector x = new_vector(static_cast<std::size_t>(self.program().width()));
    NumpyVector y = new_vector(static_cast<std::size_t>(self.program().n_units()));
    self.point(in(x), in(y));
    return {x, y};
}

template <class Real>
std::tuple<double, double, double, double> quality(const UnitInterior<Real>& self) {
    const auto found = self.quality();
    return {found.products, found.residual, found.violation, found.objective};
}

template <class Real>
void bind(nb::module_& m, const char* name, const char* doc) {
    using Method = UnitInterior<Real>;
    nb::class_<Method>(m, name, doc)
        .def("__init__", &make<Real>, nb::arg("begin"), nb::arg("columns"), nb::arg("values"),
             nb::arg("row"), nb::arg("shift"), nb::arg("low"), nb::arg("high"), nb::arg("soft"),
             nb::arg("rho"), nb::arg("linear"), nb::arg("by_rows") = false)
        .def("step", &step<Real>, nb::arg("seconds"), "Take a step; False where there is none")
        .def("point", &point<Real>, "x and y")
        .def("quality", &quality<Real>, "products, residual, violation, objective");
}

}  // namespace

void bind_unit_interior(nb::module_& m) {
    bind<double>(m, "UnitInterior",
                 "min sum rho/2 x^2 + linear'x + sum of units; a unit is max over low <= y <= high "
                 "of y (row x + shift) - soft y^2/2.");
    bind<Number>(m, "TwofoldInterior", "`UnitInterior` in numbers of 32 digits.");
}
