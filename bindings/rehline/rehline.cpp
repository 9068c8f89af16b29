#include "rectiline/rehline/rehline.hpp"

#include "common.hpp"

namespace {

using namespace rectiline::rehline;

using RehlineState = Held<Rehline>;

void make_state(RehlineState* self, const Design& X, const Rows& rows, const Columns& columns,
                const Design& A, VectorIn c, BytesIn equality, bool shuffle, bool accelerate,
                bool shrink, double intercept_step, std::uint64_t seed) {
    require(rows.n() == X.n(), "X and the row functions differ in length");
    require(columns.d() == X.d(), "X and the columns differ");
    const LinearConstraints constraints{A.view, checked(c, A.n(), "c"),
                                        checked(equality, A.n(), "equality")};
    const RehlineOptions options{shuffle, accelerate, shrink, intercept_step, seed};
    std::vector<nb::object> keep = kept(X, rows, columns, A, c, equality);
    gil::Released released;
    new (self) RehlineState(std::move(keep), X.view, rows.view, columns.view, constraints, options);
}

void restart(RehlineState& self, std::optional<VectorIn> sample, std::optional<VectorIn> constraint,
             double intercept) {
    const auto rows = checked(sample, self.n(), "sample");
    const auto constraints = checked(constraint, std::ssize(self.constraint_dual()), "constraint");
    gil::Released released;
    self.restart(rows, constraints, intercept);
}

RehlineProgress run(RehlineState& self, std::int64_t max_sweeps, double absolute, double relative,
                    double seconds) {
    return run_interruptibly(seconds, [&](auto& interrupt) {
        return self.run(max_sweeps, absolute, relative, interrupt);
    });
}

}  // namespace

void bind_rehline(nb::module_& m) {
    nb::class_<RehlineProgress>(m, "RehlineProgress")
        .def_ro("sweeps", &RehlineProgress::sweeps)
        .def_ro("gap", &RehlineProgress::gap)
        .def_ro("objective", &RehlineProgress::objective)
        .def_ro("n_active", &RehlineProgress::n_active)
        .def_ro("visits", &RehlineProgress::visits)
        .def_ro("reached", &RehlineProgress::reached)
        .def_ro("interrupted", &RehlineProgress::interrupted);
    nb::class_<RehlineState>(m, "Rehline", "Dual coordinate ascent, one exact step per sample.")
        .def("__init__", &make_state, "X"_a, "rows"_a, "columns"_a, "A"_a, "c"_a, "equality"_a,
             "shuffle"_a, "accelerate"_a, "shrink"_a, "intercept_step"_a, "seed"_a)
        .def("restart", &restart, "sample"_a = nb::none(), "constraint"_a = nb::none(),
             "intercept"_a = 0.0)
        .def("run", &run, "max_sweeps"_a, "absolute"_a, "relative"_a, "seconds"_a)
        .def("screen", &Rehline::screen, "gap"_a, nb::call_guard<gil::Released>())
        .def("take_all_rows_back", &Rehline::take_all_rows_back,
             "Visit all rows again, those set aside too")
        .def_prop_ro("coef", &copied<RehlineState, &Rehline::coef>, nb::rv_policy::automatic)
        .def_prop_ro("intercept", &Rehline::intercept)
        .def_prop_ro("sample_dual", &filled_by<RehlineState, &Rehline::sample_dual, &Rehline::n>,
                     nb::rv_policy::automatic)
        .def_prop_ro("constraint_dual", &copied<RehlineState, &Rehline::constraint_dual>,
                     nb::rv_policy::automatic);
}
