#include "rectiline/newton_loop.hpp"

#include "rectiline/dense_algebra.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "common.hpp"
#include "newton_rows.hpp"
#include <cstring>
#include <optional>
#include <tuple>

namespace {

using namespace rectiline;
using IndexIn = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct LoopState {
    std::unique_ptr<NewtonLoop> loop;
    std::vector<nb::object> keep;
};

// What rows outside a working set add, with the arrays that hold it.
struct FrozenState {
    FrozenTerms terms;
    std::vector<nb::object> keep;
};

void make_loop(LoopState* self, VectorIn scale, std::optional<VectorIn> center, VectorIn rho,
               VectorIn l1, VectorIn lower, VectorIn upper, IndexIn kinked,
               VectorIn column_stiffness, MatrixIn rows, VectorIn offset, BytesIn equality,
               double constraint_stiffness, std::int64_t d) {
    const std::size_t order = scale.shape(0), m = rows.shape(0);
    require(d >= 0 && static_cast<std::size_t>(d) <= order, "d must not exceed the variables");
    require(!center || static_cast<std::int64_t>(center->shape(0)) == d,
            "center must have one entry per column");
    for (const VectorIn* values : {&rho, &l1, &lower, &upper})
        require(values->shape(0) == order, "column terms must have one entry per variable");
    require(column_stiffness.shape(0) == kinked.shape(0), "one stiffness per kinked column");
    require(rows.shape(1) == order && offset.shape(0) == m && equality.shape(0) == m,
            "constraint rows, offsets and kinds differ in size");
    for (std::size_t k = 0; k < kinked.shape(0); ++k)
        require(kinked.data()[k] >= 0 && static_cast<std::size_t>(kinked.data()[k]) < order,
                "kinked column out of range");
    NewtonTerms terms{d,
                      static_cast<std::int64_t>(order),
                      scale.data(),
                      center ? center->data() : nullptr,
                      rho.data(),
                      l1.data(),
                      lower.data(),
                      upper.data(),
                      static_cast<std::int64_t>(kinked.shape(0)),
                      kinked.data(),
                      column_stiffness.data(),
                      static_cast<std::int64_t>(m),
                      rows.data(),
                      offset.data(),
                      equality.data(),
                      constraint_stiffness};
    std::vector<nb::object> keep{nb::cast(scale),   nb::cast(rho),    nb::cast(l1),
                                 nb::cast(lower),   nb::cast(upper),  nb::cast(kinked),
                                 nb::cast(rows),    nb::cast(offset), nb::cast(column_stiffness),
                                 nb::cast(equality)};
    if (center) keep.push_back(nb::cast(*center));
    new (self) LoopState{std::make_unique<NewtonLoop>(terms), std::move(keep)};
}

void make_frozen(FrozenState* self, VectorIn linear, std::optional<MatrixIn> quadratic,
                 VectorIn at) {
    const std::size_t order = linear.shape(0);
    require(at.shape(0) == order, "`at` must have one entry per variable");
    require(!quadratic || (quadratic->shape(0) == order && quadratic->shape(1) == order),
            "the quadratic part must be square, of the order of the variables");
    std::vector<nb::object> keep{nb::cast(linear), nb::cast(at)};
    if (quadratic) keep.push_back(nb::cast(*quadratic));
    new (self) FrozenState{{linear.data(), quadratic ? quadratic->data() : nullptr, at.data()},
                           std::move(keep)};
}

NewtonPoint make_point(const LoopState& self, VectorOut b, VectorIn around, VectorIn column,
                       VectorIn constraint, VectorIn proximal, double growth, double S) {
    const NewtonTerms& terms = self.loop->terms();
    const std::size_t order = static_cast<std::size_t>(terms.order);
    require(b.shape(0) == order && around.shape(0) == order && proximal.shape(0) == order,
            "b, around and proximal must have one entry per variable");
    require(static_cast<std::int64_t>(column.shape(0)) == terms.n_kinked &&
                static_cast<std::int64_t>(constraint.shape(0)) == terms.n_constraints,
            "one multiplier per kinked column and per constraint");
    return {b.data(), around.data(), column.data(), constraint.data(), proximal.data(), growth, S};
}

FrozenTerms frozen_terms(const FrozenState* frozen) {
    return frozen ? frozen->terms : FrozenTerms{};
}

std::tuple<std::int64_t, bool, bool> minimise(LoopState& self, NewtonRowsState& rows,
                                              const FrozenState* frozen, VectorOut b,
                                              VectorIn around, VectorIn column, VectorIn constraint,
                                              VectorIn proximal, double growth, double S,
                                              std::int64_t max_steps, double share, double gap,
                                              double seconds) {
    const NewtonPoint at = make_point(self, b, around, column, constraint, proximal, growth, S);
    require(rows.rows->order() == self.loop->terms().order, "rows and terms differ in columns");
    PythonInterrupt interrupt(seconds);
    NewtonProgress done;
    {
        nb::gil_scoped_release release;
        done = self.loop->minimise(*rows.rows, frozen_terms(frozen), at, {max_steps, share, gap},
                                   interrupt.handle());
    }
    interrupt.rethrow();
    return {done.steps, done.failed, done.interrupted};
}

std::tuple<double, double, double> estimate(LoopState& self, NewtonRowsState& rows,
                                            const FrozenState* frozen, VectorOut b, VectorIn around,
                                            VectorIn column, VectorIn constraint, VectorIn proximal,
                                            double growth, double S, double loss,
                                            double fenchel_young) {
    const NewtonPoint at = make_point(self, b, around, column, constraint, proximal, growth, S);
    require(rows.rows->order() == self.loop->terms().order, "rows and terms differ in columns");
    nb::gil_scoped_release release;
    const NewtonEstimate out =
        self.loop->estimate(*rows.rows, frozen_terms(frozen), at, {loss, fenchel_young});
    return {out.gap, out.column_gap, out.objective};
}

std::tuple<NumpyVector, NumpyVector> slopes(const LoopState& self, VectorOut b, VectorIn around,
                                            VectorIn column, VectorIn constraint, VectorIn proximal,
                                            double growth, double S) {
    const NewtonPoint at = make_point(self, b, around, column, constraint, proximal, growth, S);
    NumpyVector new_column = new_vector(column.shape(0));
    NumpyVector new_constraint = new_vector(constraint.shape(0));
    self.loop->slopes(at, new_column.data(), new_constraint.data());
    return {new_column, new_constraint};
}

NumpyVector polish(const LoopState& self, VectorOut b, VectorIn around, VectorIn column,
                   VectorIn constraint, VectorIn proximal, double growth, double S) {
    const NewtonPoint at = make_point(self, b, around, column, constraint, proximal, growth, S);
    NumpyVector out = new_vector(b.shape(0));
    self.loop->polish(at, out.data());
    return out;
}

void* routine(nb::capsule capsule) {
    return PyCapsule_GetPointer(capsule.ptr(), PyCapsule_GetName(capsule.ptr()));
}

void use_routines(nb::capsule potrf, nb::capsule potrs, nb::capsule syrk) {
    use_dense_routines({reinterpret_cast<DenseRoutines::Factor>(routine(potrf)),
                        reinterpret_cast<DenseRoutines::Solve>(routine(potrs)),
                        reinterpret_cast<DenseRoutines::Square>(routine(syrk))});
}

}  // namespace

void bind_newton_loop(nb::module_& m) {
    m.def("use_dense_routines", &use_routines, nb::arg("potrf"), nb::arg("potrs"), nb::arg("syrk"),
          "Take Fortran routines with 32-bit integers for dense factors and products.");
    nb::class_<FrozenState>(m, "NewtonFrozen", "What rows outside a working set add.")
        .def("__init__", &make_frozen, nb::arg("linear"), nb::arg("quadratic").none(),
             nb::arg("at"));
    nb::class_<LoopState>(m, "NewtonLoop",
                          "Inner minimisation of the semismooth Newton method of multipliers.")
        .def("__init__", &make_loop, nb::arg("scale"), nb::arg("center").none(), nb::arg("rho"),
             nb::arg("l1"), nb::arg("lower"), nb::arg("upper"), nb::arg("kinked"),
             nb::arg("column_stiffness"), nb::arg("rows"), nb::arg("offset"), nb::arg("equality"),
             nb::arg("constraint_stiffness"), nb::arg("d"))
        .def("minimise", &minimise, nb::arg("rows"), nb::arg("frozen").none(), nb::arg("b"),
             nb::arg("around"), nb::arg("column"), nb::arg("constraint"), nb::arg("proximal"),
             nb::arg("growth"), nb::arg("S"), nb::arg("max_steps"), nb::arg("share"),
             nb::arg("gap"), nb::arg("seconds"),
             "Minimise over b, in place; returns (steps, failed, interrupted)")
        .def("estimate", &estimate, nb::arg("rows"), nb::arg("frozen").none(), nb::arg("b"),
             nb::arg("around"), nb::arg("column"), nb::arg("constraint"), nb::arg("proximal"),
             nb::arg("growth"), nb::arg("S"), nb::arg("loss"), nb::arg("fenchel_young"),
             "(gap, the columns' part of it, objective) of the pair at hand")
        .def("slopes", &slopes, nb::arg("b"), nb::arg("around"), nb::arg("column"),
             nb::arg("constraint"), nb::arg("proximal"), nb::arg("growth"), nb::arg("S"),
             "The multipliers of kinked columns and constraints at b")
        .def("polish", &polish, nb::arg("b"), nb::arg("around"), nb::arg("column"),
             nb::arg("constraint"), nb::arg("proximal"), nb::arg("growth"), nb::arg("S"),
             "b with kinked columns moved onto the kinks that they have reached");
}
