#include "rectiline/interior/unit_interior.hpp"

#include <nanobind/stl/shared_ptr.h>

#include "common.hpp"

namespace {

using namespace rectiline::interior;
using rectiline::sparse::CompressedRows;
using rectiline::sparse::NormalEquations;
using rectiline::support::Interrupt;

// A system of Python: an object with `size`, `dot`, `tdot`, `factorise` and `solve`.
class PythonSystem final : public NormalSystem<double> {
  public:
    explicit PythonSystem(nb::object system) : system_(std::move(system)) {}

    std::int64_t n_rows() const override { return nb::cast<std::int64_t>(system_.attr("size")); }
    void multiply(std::span<const double> x, std::span<double> rows) override {
        take(system_.attr("dot")(copy_vector(x)), rows);
    }
    void multiply_transposed(std::span<const double> rows, std::span<double> x) override {
        take(system_.attr("tdot")(copy_vector(rows)), x);
    }
    bool factorise(std::span<const double> weight, Interrupt&) override {
        return nb::cast<bool>(system_.attr("factorise")(copy_vector(weight)));
    }
    bool solve(std::span<double> v, std::span<const double> r, std::span<double> s) override {
        const auto both =
            nb::cast<nb::tuple>(system_.attr("solve")(copy_vector(v), copy_vector(r)));
        take(both[0], v);
        const bool finds_duals = !both[1].is_none();
        if (finds_duals) take(both[1], s);
        return finds_duals;
    }

  private:
    static void take(nb::handle found, std::span<double> out) {
        const auto values = nb::cast<VectorIn>(found);
        require(values.shape(0) == out.size(), "a vector of the system has the wrong size");
        std::copy(values.data(), values.data() + out.size(), out.begin());
    }
    nb::object system_;
};

CompressedRows rows_of(IndexIn begin, IndexIn columns, VectorIn values, std::int64_t width) {
    CompressedRows rows{vector_of(begin), vector_of(columns), vector_of(values)};
    require(rows.n_rows() >= 0 && rows.begin.front() == 0 &&
                rows.begin.back() == std::ssize(rows.columns) &&
                rows.columns.size() == rows.values.size(),
            "begin, columns and values do not fit");
    for (std::int64_t r = 0; r < rows.n_rows(); ++r) {
        require(rows.begin[r] <= rows.begin[r + 1], "begin must not fall");
        for (std::int64_t e = rows.begin[r]; e < rows.begin[r + 1]; ++e)
            require(rows.columns[e] >= 0 && rows.columns[e] < width &&
                        (e == rows.begin[r] || rows.columns[e - 1] < rows.columns[e]),
                    "columns of a row must increase and be in range");
    }
    return rows;
}

void check(const UnitProgram& program, std::int64_t n_rows) {
    const std::size_t units = program.row.size(), width = program.rho.size();
    for (const auto* values : {&program.shift, &program.low, &program.high, &program.soft,
                               &program.least, &program.room})
        require(values->size() == units, "sizes of the units do not fit");
    require(program.linear.size() == width && program.price.size() == width,
            "rho, linear and price must have one entry per column");
    for (const std::int64_t r : program.row)
        require(r >= 0 && r < n_rows, "a unit names a row that is not there");
    for (const std::int64_t k : program.price)
        require(k >= -1 && k < program.n_units(), "a price names a unit that is not there");
}

UnitProgram program(IndexIn row, MatrixIn units, VectorIn rho, VectorIn linear, IndexIn price,
                    double constant, double reference, bool is_nonnegative) {
    require(units.shape(0) == 6, "units must be shift, low, high, soft, least and room");
    const std::size_t count = units.shape(1);
    const auto line = [&](std::size_t k) {
        return std::vector(units.data() + k * count, units.data() + (k + 1) * count);
    };
    return {vector_of(row), line(0),   line(1),        line(2),           line(3),
            line(4),        line(5),   vector_of(rho), vector_of(linear), vector_of(price),
            constant,       reference, is_nonnegative};
}

template <class Real>
void make(UnitInterior<Real>* self, UnitProgram program, IndexIn begin, IndexIn columns,
          VectorIn values, bool by_rows, double proximal) {
    CompressedRows rows = rows_of(begin, columns, values, program.width());
    check(program, rows.n_rows());
    for (const double rho : program.rho)
        require(!by_rows || rho > 0, "by rows every rho must be positive");
    auto system = std::make_unique<DenseSystem<Real>>(program, std::move(rows), by_rows, proximal);
    new (self) UnitInterior<Real>(std::move(program), std::move(system));
}

void make_with(UnitInterior<double>* self, UnitProgram program, nb::object system) {
    auto own = std::make_unique<PythonSystem>(std::move(system));
    check(program, own->n_rows());
    new (self) UnitInterior<double>(std::move(program), std::move(own));
}

void make_sparse(UnitInterior<double>* self, UnitProgram program,
                 std::shared_ptr<NormalEquations> equations, double proximal) {
    require(equations->width() == program.width(), "the equations must have the program's columns");
    check(program, equations->rows().n_rows());
    auto system = std::make_unique<SparseSystem>(program, std::move(equations), proximal);
    new (self) UnitInterior<double>(std::move(program), std::move(system));
}

std::shared_ptr<NormalEquations> equations(IndexIn begin, IndexIn columns, VectorIn values,
                                           std::int64_t width, bool keeps_long_rows) {
    CompressedRows rows = rows_of(begin, columns, values, width);
    require(rows.n_rows() + width < (std::int64_t{1} << 31), "too many rows and columns");
    return std::make_shared<NormalEquations>(std::move(rows), width, keeps_long_rows);
}

bool factorise(NormalEquations& self, VectorIn weight, VectorIn diagonal, double seconds) {
    const auto weights = checked(weight, self.rows().n_rows(), "weight");
    const auto added = checked(diagonal, self.width(), "diagonal");
    return run_interruptibly(
        seconds, [&](auto& interrupt) { return self.factorise(weights, added, interrupt); });
}

NumpyVector solve(const NormalEquations& self, VectorIn v) {
    require(self.is_analysed() && !self.has_kept_rows(), "a factor without kept rows comes first");
    NumpyVector x = copy_vector(checked(v, self.width(), "v"));
    self.solve(in(x), {}, {});
    return x;
}

template <class Real>
void resume(UnitInterior<Real>& self, VectorIn x, VectorIn y, MatrixIn sides) {
    const std::int64_t units = self.program().n_units();
    self.pair().resume(checked(x, self.program().width(), "x"), checked(y, units, "y"),
                       checked(sides, 4 * units, "sides"));
}

// Systems of Python need the GIL, and stop by exceptions of their own.
template <class Real>
bool step(UnitInterior<Real>& self, double seconds, bool needs_python) {
    if (!needs_python)
        return run_interruptibly(seconds, [&](auto& interrupt) { return self.step(interrupt); });
    Interrupt interrupt;
    return self.step(interrupt);
}

template <class Real>
auto point(const UnitInterior<Real>& self) {
    return all_filled([&](auto x, auto y) { self.pair().point(x, y); }, self.program().width(),
                      self.program().n_units());
}

template <class Real>
NumpyMatrix sides(const UnitInterior<Real>& self) {
    NumpyMatrix out = new_matrix(4, self.program().n_units());
    self.pair().sides(in(out));
    return out;
}

using Evaluated = std::tuple<double, double, double, double, double>;

Evaluated evaluated(const Verdict& verdict) {
    return {verdict.relative_gap, verdict.violation, verdict.mean_product, verdict.residual,
            verdict.size};
}

template <class Real>
void bind(nb::module_& m, const char* name, const char* doc) {
    using Method = UnitInterior<Real>;
    nb::class_<Method> bound(m, name, doc);
    bound
        .def("__init__", &make<Real>, "program"_a, "begin"_a, "columns"_a, "values"_a, "by_rows"_a,
             "proximal"_a)
        .def("resume", &resume<Real>, "x"_a, "y"_a, "sides"_a, "Go on from a state")
        .def("step", &step<Real>, "seconds"_a, "needs_python"_a,
             "Take a step; False where there is none")
        .def(
            "verdict", [](const Method& self) { return evaluated(self.verdict()); },
            "relative gap, violation, mean product, residual and size of the objective")
        .def(
            "evaluate",
            [](Method& self, VectorIn x) {
                return evaluated(self.evaluate(checked(x, self.program().width(), "x")));
            },
            "x"_a, "`verdict` of the present y with another x")
        .def_prop_ro("step_length", &Method::step_length)
        .def("point", &point<Real>, "x and y")
        .def("sides", &sides<Real>, "Rooms and multipliers, of lower and of upper ends");
    if constexpr (std::is_same_v<Real, double>)
        bound.def("__init__", &make_with, "program"_a, "system"_a)
            .def("__init__", &make_sparse, "program"_a, "equations"_a, "proximal"_a);
}

}  // namespace

void bind_unit_interior(nb::module_& m) {
    nb::class_<NormalEquations>(m, "NormalEquations",
                                "R'WR + D of sparse rows R, and its sparse factor.")
        .def(nb::new_(&equations), "begin"_a, "columns"_a, "values"_a, "width"_a,
             "keeps_long_rows"_a)
        .def(
            "analyse",
            [](NormalEquations& self, double most_entries, double seconds) {
                return run_interruptibly(seconds, [&](auto& interrupt) {
                    return self.analyse(most_entries, interrupt);
                });
            },
            "most_entries"_a, "seconds"_a,
            "Find order and structure; False when time is up or the factor has more entries")
        .def(
            "adopt",
            [](NormalEquations& self, const NormalEquations& other) {
                require(other.is_analysed() && self.width() == other.width() &&
                            !self.has_kept_rows() && !other.has_kept_rows(),
                        "other equations must have the same columns, and be analysed");
                self.adopt(other);
            },
            "other"_a, "Take over order and structure of rows that join as many columns")
        .def("factorise", &factorise, "weight"_a, "diagonal"_a, "seconds"_a,
             "False where there is no factor, or when time is up")
        .def("solve", &solve, "v"_a, "x with (R'WR + D) x = v")
        .def(
            "set_values",
            [](NormalEquations& self, VectorIn values) {
                self.set_values(checked(values, std::ssize(self.rows().values), "values"));
            },
            "values"_a, "Other values of the same entries")
        .def_prop_ro("entries", [](const NormalEquations& self) { return self.factor().entries(); })
        .def_prop_ro("growth", [](const NormalEquations& self) { return self.factor().growth(); })
        .def_prop_ro("most_terms",
                     [](const NormalEquations& self) { return self.factor().most_terms(); });
    nb::class_<UnitProgram>(m, "UnitProgram",
                            "min sum rho/2 x^2 + linear'x + sum of units; a unit is max over "
                            "low <= y <= high of y (row x + shift) - soft y^2/2.")
        .def(nb::new_(&program), "row"_a, "units"_a, "rho"_a, "linear"_a, "price"_a, "constant"_a,
             "reference"_a, "is_nonnegative"_a);
    bind<double>(m, "UnitInterior", "An interior point method in doubles.");
    bind<Number>(m, "TwofoldInterior", "`UnitInterior` in numbers of 32 digits.");
}
