#include "rectiline/newton/newton_run.hpp"
#include "rectiline/newton/smoothed_l1.hpp"

#include "common.hpp"

namespace {

using namespace rectiline::newton;

using TermsState = Held<NewtonTerms>;
using RowsState = Held<NewtonRows>;
using RunState = Held<NewtonRun>;
using PathState = Held<NewtonPath>;

const FrozenTerms kNothingFrozen;

// ---- terms --------------------------------------------------------------------------------------

void make_terms(TermsState* self, const Columns& columns, VectorIn unit,
                std::optional<VectorIn> center, bool intercept, MatrixIn rows, VectorIn offset,
                BytesIn equality, double argument_scale, double slope_width, double total_weight,
                bool smooth) {
    const std::int64_t d = columns.d(), order = d + intercept, m = length(rows);
    new (self) TermsState(kept(rows, offset, equality));
    const auto middle = checked(center, d, "center");
    self->center.assign(middle.begin(), middle.end());
    self->rows = checked(rows, m * order, "rows");
    self->offset = checked(offset, m, "offset");
    self->equality = checked(equality, m, "equality");
    self->argument_scale = argument_scale;
    self->row_stiffness = slope_width / argument_scale;
    self->stiffness = total_weight * slope_width / argument_scale;
    self->smooth = smooth;
    self->set_columns(columns.view, checked(unit, d, "unit"), intercept);
}

std::unique_ptr<TermsState> times_strength(const TermsState& self, double factor) {
    auto out = std::make_unique<TermsState>(self.keep);
    static_cast<NewtonTerms&>(*out) = self.times_strength(factor);
    return out;
}

template <void (NewtonTerms::*method)(std::span<const double>, std::span<double>) const>
NumpyVector converted(const TermsState& self, VectorIn vector) {
    const auto from = checked(vector, self.order(), "vector");
    return filled(self.order(), [&](auto out) { (self.*method)(from, out); });
}

NumpyVector column_multipliers(const TermsState& self, VectorIn b, VectorIn gradient) {
    const auto at = checked(b, self.order(), "b"), others = checked(gradient, self.order(), "g");
    return filled(self.n_kinked(), [&](auto out) { self.set_multipliers(at, others, out); });
}

void make_frozen(FrozenTerms* self, const TermsState& terms, VectorIn linear,
                 std::optional<MatrixIn> quadratic, VectorIn at) {
    const std::int64_t order = terms.order();
    const auto matrix = checked(quadratic, order * order, "quadratic");
    checked(linear, order, "linear"), checked(at, order, "at");
    new (self) FrozenTerms{vector_of(linear), {matrix.begin(), matrix.end()}, vector_of(at)};
    self->contract(terms);
}

// ---- rows ---------------------------------------------------------------------------------------

void make_rows(RowsState* self, const Design& X, const Rows& rows, bool intercept) {
    require(rows.n() == X.n(), "X and the row functions differ in length");
    new (self) RowsState(kept(X, rows), X.view, rows.view, intercept);
}

std::optional<std::pair<FrozenTerms, NumpyVector>> freeze(const RowsState& self,
                                                          const TermsState& terms, BytesIn keep,
                                                          VectorIn at, double seconds) {
    const auto stays = checked(keep, self.n(), "keep");
    checked(at, terms.order(), "at");
    NumpyVector dual = new_vector(self.n());
    auto frozen = run_interruptibly(
        seconds, [&](auto& interrupt) { return self.freeze(stays, in(dual), interrupt); });
    if (!frozen) return std::nullopt;
    frozen->at = vector_of(at);
    frozen->contract(terms);
    return std::pair(std::move(*frozen), dual);
}

// ---- the method of multipliers ------------------------------------------------------------------

void make_run(RunState* self, const TermsState& terms, RowsState& rows, const FrozenTerms* frozen,
              VectorIn b, VectorIn column, VectorIn constraint,
              std::tuple<double, double, std::int64_t, std::int64_t> schedule, double reference) {
    require(rows.order() == terms.order(), "rows and terms differ in columns");
    std::vector<nb::object> keep = kept(terms, rows);
    if (frozen) keep.push_back(nb::find(*frozen));
    const auto [start, factor, inner_steps, guards] = schedule;
    new (self) RunState(std::move(keep), terms, rows, frozen ? *frozen : kNothingFrozen,
                        NewtonSchedule{start, factor, inner_steps, guards}, reference,
                        checked(b, terms.order(), "b"), checked(column, terms.n_kinked(), "column"),
                        checked(constraint, terms.n_constraints(), "constraint"));
}

std::tuple<std::int64_t, bool> solve(RunState& self, double target, std::int64_t max_steps,
                                     double seconds) {
    const NewtonOutcome out = run_interruptibly(
        seconds, [&](auto& interrupt) { return self.solve(target, max_steps, interrupt); });
    return {out.steps, out.failed};
}

void estimate(RunState& self, double loss, double fenchel_young) {
    self.estimate({loss, fenchel_young});
    self.forget_reference();
}

// ---- paths of strengths -------------------------------------------------------------------------

void make_path(PathState* self, RowsState& rows, const TermsState& terms, double strength) {
    require(rows.order() == terms.order(), "rows and terms differ in columns");
    require(terms.n_constraints() == 0, "a path takes no constraint rows");
    require(strength > 0, "strength must be positive");
    new (self) PathState(kept(rows, terms), rows, terms, strength);
}

void place_path(PathState& self, VectorIn b, VectorIn g) {
    const auto coef = checked(b, self.order(), "b");
    const auto slopes = checked(g, self.n_rows(), "g");
    gil::Released released;
    self.place(coef, slopes);
}

std::tuple<std::int64_t, double, bool> move(PathState& self, double strength, double target,
                                            std::int64_t max_steps, double seconds) {
    require(strength > 0, "strength must be positive");
    const PathStep done = run_interruptibly(seconds, [&](auto& interrupt) {
        return self.move(strength, target, max_steps, interrupt);
    });
    return {done.steps, done.relative_gap, done.failed};
}

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

void bind_newton(nb::module_& m) {
    nb::class_<TermsState>(m, "NewtonTerms",
                           "The costs of the columns and the constraints, in scaled variables.")
        .def("__init__", &make_terms, "columns"_a, "unit"_a, "center"_a.none(), "intercept"_a,
             "rows"_a, "offset"_a, "equality"_a, "argument_scale"_a, "slope_width"_a,
             "total_weight"_a, "smooth"_a)
        .def("times_strength", &times_strength, "factor"_a,
             "The terms under a penalty so many times as strong")
        .def("expand", &converted<&NewtonTerms::expand>, "b"_a,
             "Scaled variables in the user's units, intercept last")
        .def("shrink", &converted<&NewtonTerms::shrink>, "user"_a, "The inverse of `expand`")
        .def("contract", &converted<&NewtonTerms::contract>, "gradient"_a,
             "A gradient in the user's variables as one in scaled variables")
        .def("column_multipliers", &column_multipliers, "b"_a, "gradient"_a,
             "What the kinked columns must pull with against the gradient of everything else")
        .def_prop_ro("n_kinked", &NewtonTerms::n_kinked);
    nb::class_<FrozenTerms>(m, "NewtonFrozen", "What rows outside a working set add.")
        .def("__init__", &make_frozen, "terms"_a, "linear"_a, "quadratic"_a.none(), "at"_a);
    nb::class_<RowsState>(m, "NewtonRows", "Per-row work of the semismooth Newton method.")
        .def("__init__", &make_rows, "X"_a, "rows"_a, "intercept"_a)
        .def("place", &given<RowsState, &NewtonRows::place, &NewtonRows::order>, "b"_a,
             "Set the arguments to those of b")
        .def("place_at", &given<RowsState, &NewtonRows::place_at, &NewtonRows::n>, "z"_a,
             "Set the arguments to those of predictions z")
        .def("set_multiplier", &given<RowsState, &NewtonRows::set_multiplier, &NewtonRows::n>,
             "g"_a, "Set the multipliers from slopes in the predictions")
        .def("dual", &filled_by<RowsState, &NewtonRows::dual, &NewtonRows::n>,
             "Slopes in the predictions")
        .def("arguments", &copied<RowsState, &NewtonRows::arguments>, "Arguments of the losses")
        .def("slack", &filled_by<RowsState, &NewtonRows::slack, &NewtonRows::n>,
             "Distance to the nearest knot")
        .def("freeze", &freeze, "terms"_a, "keep"_a, "at"_a, "seconds"_a,
             "What rows outside `keep` add around `at` on their pieces, and their slopes; None if "
             "the rows kept cannot balance them under an intercept, or after so many seconds")
        .def_prop_ro("n", &NewtonRows::n);
    nb::class_<RunState>(m, "NewtonRun",
                         "The semismooth-Newton method of multipliers on one set of rows.")
        .def("__init__", &make_run, "terms"_a, "rows"_a, "frozen"_a.none(), "b"_a, "column"_a,
             "constraint"_a, "schedule"_a, "reference"_a = 0.0)
        .def("solve", &solve, "target"_a, "max_steps"_a, "seconds"_a,
             "Iterate until the estimated relative gap is small; returns (steps, failed)")
        .def("estimate", &estimate, "loss"_a, "fenchel_young"_a,
             "Take the sums over all rows, those outside the working set too")
        .def("polished", &filled_by<RunState, &NewtonRun::polish, &NewtonLoop::order>,
             "b with kinked columns moved onto the kinks that they have reached")
        .def("move_to_polished", &NewtonRun::move_to_polished)
        .def("constraint_multipliers",
             &filled_by<RunState, &NewtonRun::constraint_multipliers, &NewtonLoop::n_constraints>,
             "Of the constraints at b")
        .def_prop_ro("b", &copied<RunState, &NewtonRun::b>, nb::rv_policy::automatic)
        .def_prop_ro("column", &copied<RunState, &NewtonRun::column>, nb::rv_policy::automatic)
        .def_prop_ro("relative_gap", &NewtonRun::relative_gap)
        .def_prop_ro("objective", &NewtonRun::objective)
        .def_prop_ro("growth", &NewtonRun::growth);
    nb::class_<PathState>(m, "NewtonPath",
                          "The semismooth Newton method along a list of strengths.")
        .def("__init__", &make_path, "rows"_a, "terms"_a, "strength"_a)
        .def("place", &place_path, "b"_a, "g"_a,
             "Start at coefficients (intercept last) and slopes in the predictions")
        .def("move", &move, "strength"_a, "target"_a, "max_steps"_a, "seconds"_a,
             "Move to a strength; returns (steps, estimated gap, failed)")
        .def("coefficients", &filled_by<PathState, &NewtonPath::coefficients, &NewtonLoop::order>,
             "The coefficients at hand, intercept last")
        .def("dual", &filled_by<PathState, &NewtonPath::dual, &NewtonLoop::n_rows>,
             "Slopes in the predictions");
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
