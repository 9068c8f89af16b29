#include "rectiline/design/products.hpp"
#include "rectiline/proof/close_pair.hpp"
#include "rectiline/proof/column_bounds.hpp"
#include "rectiline/proof/products.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "common.hpp"
#include <span>
#include <tuple>

namespace {

namespace proof = rectiline::proof;
using rectiline::design::n_columns;
using rectiline::design::n_rows;

constexpr double kNoDeadline = 1e300;  // seconds: the thread's poll knows the time limit

// Norms of columns, scales of columns and norms of rows, see Design.norm_bounds.
using NormArrays = std::tuple<VectorIn, VectorIn, VectorIn>;

// hi, lo, error, size
using TwofoldArrays = std::tuple<NumpyVector, NumpyVector, NumpyVector, NumpyVector>;

TwofoldArrays new_twofold(std::size_t size) {
    return {new_vector(size), new_vector(size), new_vector(size), new_vector(size)};
}

proof::TwofoldVector view_of(TwofoldArrays& arrays) {
    auto& [hi, lo, error, size] = arrays;
    return {length(hi), hi.data(), lo.data(), error.data(), size.data()};
}

TwofoldArrays twofold_product(const Design& X, VectorIn b) {
    require(b.shape(0) == static_cast<std::size_t>(n_columns(X.view)),
            "the vector must have one entry per column");
    TwofoldArrays z = new_twofold(static_cast<std::size_t>(n_rows(X.view)));
    nb::gil_scoped_release release;
    proof::multiply(X.view, in(b), view_of(z));
    return z;
}

TwofoldArrays twofold_transposed_product(const Design& X, VectorIn g) {
    require(g.shape(0) == static_cast<std::size_t>(n_rows(X.view)),
            "the vector must have one entry per row");
    TwofoldArrays q = new_twofold(static_cast<std::size_t>(n_columns(X.view)));
    nb::gil_scoped_release release;
    proof::multiply_transposed(X.view, in(g), view_of(q));
    return q;
}

std::tuple<double, double, double, double> twofold_sum(VectorIn x) {
    nb::gil_scoped_release release;
    const proof::Twofold total = proof::sum(in(x));
    return {total.hi, total.lo, total.error, total.size};
}

void require_columns(const Columns& columns, std::size_t size) {
    require(size == static_cast<std::size_t>(columns.view.d),
            "the vector must have one entry per column");
}

std::tuple<double, double, double, double> column_bounds(const Columns& columns, VectorIn b,
                                                         VectorIn q, VectorIn error) {
    require_columns(columns, b.shape(0));
    require_columns(columns, q.shape(0));
    require_columns(columns, error.shape(0));
    const proof::ColumnBounds found = proof::column_bounds(columns.view, in(b), in(q), in(error));
    return {found.value, found.value_error, found.gap, found.gap_upper};
}

double dual_share(const Columns& columns, VectorIn q, VectorIn error) {
    require_columns(columns, q.shape(0));
    require_columns(columns, error.shape(0));
    return proof::dual_share(columns.view, in(q), in(error));
}

void require_samples(const Design& X, std::initializer_list<const VectorIn*> vectors) {
    for (const VectorIn* values : vectors)
        require(length(*values) == n_rows(X.view), "the vector must have one entry per row");
}

NumpyVector copy_of(VectorIn values) {
    NumpyVector out = new_vector(values.shape(0));
    std::copy_n(values.data(), values.shape(0), out.data());
    return out;
}

// Arguments with their radius, q with its error.
using MeasuredArrays = std::tuple<NumpyVector, NumpyVector, NumpyVector, NumpyVector>;

MeasuredArrays new_measured(std::size_t n, std::size_t d) {
    return {new_vector(n), new_vector(n), new_vector(d), new_vector(d)};
}

proof::PairProducts spans_of(MeasuredArrays& arrays) {
    auto& [argument, radius, q, error] = arrays;
    return {in(argument), in(radius), in(q), in(error)};
}

proof::DesignNorms norms_of(const Design& X, const NormArrays& norms) {
    const auto& [column, scale, row] = norms;
    require(length(column) == n_columns(X.view) && length(scale) == n_columns(X.view) &&
                length(row) == n_rows(X.view),
            "norms must be those of X");
    return {in(scale), in(row), in(column)};
}

MeasuredArrays measure(const Design& X, const Rows& rows, VectorIn b, double intercept, VectorIn g,
                       NormArrays norms, bool twofold,
                       std::optional<std::tuple<VectorIn, VectorIn, VectorIn>> shift,
                       std::optional<std::pair<VectorIn, VectorIn>> products) {
    require_samples(X, {&g});
    require_rows(rows, g.shape(0));
    require(length(b) == n_columns(X.view), "there must be one coefficient per column");
    proof::Shift shifted;
    if (shift) {
        const auto& [value, rest, error] = *shift;
        for (const VectorIn* one : {&value, &rest, &error})
            require(one->size() == b.size(), "a shift must have one entry per column");
        shifted = {in(value), in(rest), in(error)};
    }
    if (products) require_samples(X, {&products->first});
    require(!products || products->second.size() == b.size(), "X'g has one entry per column");
    MeasuredArrays found = new_measured(g.shape(0), b.shape(0));
    const proof::DesignNorms bounds = norms_of(X, norms);
    const proof::Candidate pair{in(b), intercept, in(g)};
    nb::gil_scoped_release release;
    if (twofold) {
        proof::measure_twofold(X.view, rows.view, pair, shifted, spans_of(found));
    } else if (products) {
        proof::measure_plain(rows.view, pair, in(products->first), in(products->second), bounds,
                             shifted, spans_of(found));
    } else {
        std::vector<double> z(g.size()), image(b.size());
        rectiline::design::multiply_both(X.view, in(b), in(g), z, image);
        proof::measure_plain(rows.view, pair, z, image, bounds, shifted, spans_of(found));
    }
    return found;
}

using MoveArrays = std::pair<NumpyIndices, NumpyVector>;

proof::Moves moves_of(const std::optional<std::pair<IndexIn, VectorIn>>& arrays, std::int64_t n) {
    if (!arrays) return {};
    const auto rows = in(arrays->first);
    const auto by = in(arrays->second);
    require(rows.size() == by.size(), "moves must have one entry per row that moves");
    for (const std::int64_t i : rows)
        require(0 <= i && i < n, "a row that moves is out of range");
    return {{rows.begin(), rows.end()}, {by.begin(), by.end()}};
}

using Terms = std::tuple<double, double, double, double>;

Terms tuple_of(const proof::RowTerms& terms) {
    return {terms.loss, terms.loss_error, terms.gap, terms.gap_upper};
}

Terms row_terms(const Rows& rows, VectorIn argument, VectorIn radius, VectorIn g, double share,
                std::optional<std::pair<IndexIn, VectorIn>> moves) {
    for (const VectorIn* values : {&argument, &radius, &g})
        require_rows(rows, values->shape(0));
    const proof::Moves listed = moves_of(moves, rows.view.n);
    nb::gil_scoped_release release;
    return tuple_of(proof::row_terms(rows.view, {in(argument), in(radius)}, in(g), listed, share));
}

// Normal equations that are solved by a function of Python's: (weight, right) -> x, or None.
class CalledSystem final : public proof::NormalSystem {
  public:
    CalledSystem(const proof::FreeColumns& Z, nb::callable solve) : Z_(Z), solve_(solve) {}
    bool change(std::span<const double> weight, std::span<const double> right,
                std::span<double> out) override {
        std::vector<double> x(right.size());
        {
            nb::gil_scoped_acquire gil;
            const nb::object found = solve_(copied(weight), copied(right));
            if (found.is_none()) return false;
            const auto values = nb::cast<VectorIn>(found);
            require(values.size() == x.size(), "solve must return one number per free column");
            std::copy_n(values.data(), x.size(), x.begin());
        }
        Z_.multiply(x, out);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] *= weight[i];
        return true;
    }

  private:
    static NumpyVector copied(std::span<const double> values) {
        NumpyVector out = new_vector(values.size());
        std::copy(values.begin(), values.end(), out.data());
        return out;
    }
    proof::FreeColumns Z_;
    nb::callable solve_;
};

std::pair<NumpyVector, double> balance_columns(const Design& X, bool intercept, VectorIn g,
                                               VectorIn low, VectorIn high, VectorIn column_norm,
                                               VectorIn target, VectorIn size,
                                               std::optional<nb::callable> solve) {
    const proof::FreeColumns free{X.view, intercept};
    require_samples(X, {&g, &low, &high});
    require(length(column_norm) == n_columns(X.view), "there must be one norm per column");
    require(length(target) == free.order() && length(size) == free.order(),
            "target and size must have one entry per free column");
    require(solve || X.view.index() < 2, "X must be dense");
    NumpyVector moved = copy_of(g);
    const auto balance = [&](proof::NormalSystem& system) {
        return proof::balance_columns(free, system, {in(low), in(high)}, in(column_norm),
                                      in(target), in(size), in(moved));
    };
    const double left =
        run_interruptibly(kNoDeadline, [&](rectiline::support::Interrupt& interrupt) {
            proof::DenseNormalSystem dense(free, interrupt);
            if (!solve) return balance(dense);
            CalledSystem called(free, *solve);
            return balance(called);
        });
    return {moved, left};
}

std::optional<MoveArrays> exact_moves(const Design& X, bool intercept, VectorIn g, VectorIn low,
                                      VectorIn high, VectorIn left) {
    const proof::FreeColumns free{X.view, intercept};
    require_samples(X, {&g, &low, &high});
    require(length(left) == free.order(), "left must have one entry per free column");
    require(X.view.index() < 2, "X must be dense");
    std::optional<proof::Moves> found;
    {
        nb::gil_scoped_release release;
        found = proof::exact_moves(free, {in(low), in(high)}, in(g), in(left));
    }
    if (!found) return std::nullopt;
    return MoveArrays{copy_vector(found->row), copy_vector(found->by)};
}

NumpyVector moved_sizes(const Design& X, std::pair<IndexIn, VectorIn> moves) {
    const proof::Moves listed = moves_of(moves, n_rows(X.view));
    NumpyVector error = new_vector(static_cast<std::size_t>(n_columns(X.view)));
    nb::gil_scoped_release release;
    std::fill_n(error.data(), error.size(), 0.0);
    proof::add_moved_sizes(X.view, listed, in(error));
    return error;
}

// Terms, the share of the multipliers, these, and what was measured.
using ClosedPair = std::tuple<Terms, double, NumpyVector, MeasuredArrays>;

std::optional<ClosedPair> close_pair(const Design& X, NormArrays norms, const Design& free,
                                     IndexIn free_columns, bool fit_intercept, const Rows& rows,
                                     const Columns& columns, VectorIn low, VectorIn high,
                                     VectorIn b, double intercept, VectorIn g, bool twofold,
                                     double least) {
    require_samples(X, {&g, &low, &high});
    require_columns(columns, b.shape(0));
    require(n_rows(X.view) == rows.view.n && n_columns(X.view) == columns.view.d,
            "X must have the rows and columns of the problem");
    require(free.view.index() < 2 && n_rows(free.view) == rows.view.n &&
                n_columns(free.view) == length(free_columns),
            "free must hold the free columns, dense");
    for (const std::int64_t j : in(free_columns))
        require(j >= 0 && j < n_columns(X.view), "a column is out of range");
    NumpyVector moved = copy_of(g);
    MeasuredArrays measured = new_measured(g.shape(0), b.shape(0));
    std::optional<proof::ClosedPair> found;
    {
        const proof::SmallProblem problem{
            X.view,    norms_of(X, norms), {free.view, fit_intercept}, in(free_columns),
            rows.view, columns.view,       {in(low), in(high)}};
        nb::gil_scoped_release release;
        found = proof::close_pair(problem, in(b), intercept, twofold, least, in(moved),
                                  spans_of(measured));
    }
    if (!found) return std::nullopt;
    return ClosedPair{tuple_of(found->terms), found->share, moved, measured};
}

}  // namespace

void bind_proof(nb::module_& m) {
    m.def("twofold_dot", &twofold_product, nb::arg("X"), nb::arg("b"),
          "X @ b as (hi, lo, error, size): within error of hi + lo; size is |X| @ |b|");
    m.def("twofold_tdot", &twofold_transposed_product, nb::arg("X"), nb::arg("g"),
          "X.T @ g as (hi, lo, error, size)");
    m.def("twofold_sum", &twofold_sum, nb::arg("x"), "sum(x) as (hi, lo, error, size)");
    m.def("measure", &measure, nb::arg("X"), nb::arg("rows"), nb::arg("b"), nb::arg("intercept"),
          nb::arg("g"), nb::arg("norms"), nb::arg("twofold") = false, nb::arg("shift") = nb::none(),
          nb::arg("products") = nb::none(),
          "Arguments of the rows' losses and q = shift - X.T @ g, each with how far rounding may "
          "have moved it: (argument, radius, q, error). A shift is (value, rest, error), known "
          "products are (X @ b, X.T @ g)");
    m.def("column_bounds", &column_bounds, nb::arg("columns"), nb::arg("b"), nb::arg("q"),
          nb::arg("error"),
          "The cost of the columns, its error, their gap and an upper bound on the exact one for "
          "every q within error");
    m.def("dual_share", &dual_share, nb::arg("columns"), nb::arg("q"), nb::arg("error"),
          "A share of q, and of every point within error, that lies in the dual range");
    m.def(
        "row_terms", &row_terms, nb::arg("rows"), nb::arg("argument"), nb::arg("radius"),
        nb::arg("g"), nb::arg("share") = 1.0, nb::arg("moves") = nb::none(),
        "loss, its error, the gap of the rows and an upper bound on the exact one, for the "
        "multipliers share * g; those of `moves` (rows, by) may be off by so much in their boxes");
    m.def("balance_columns", &balance_columns, nb::arg("X"), nb::arg("intercept"), nb::arg("g"),
          nb::arg("low"), nb::arg("high"), nb::arg("column_norm"), nb::arg("target"),
          nb::arg("size"), nb::arg("solve") = nb::none(),
          "g moved inside its boxes until X.T @ g is nearly target (with an intercept the sum of g "
          "as well), and the largest leftover. For sparse X `solve` has to solve the normal "
          "equations of given weights");
    m.def("exact_moves", &exact_moves, nb::arg("X"), nb::arg("intercept"), nb::arg("g"),
          nb::arg("low"), nb::arg("high"), nb::arg("left"),
          "Rows, and bounds on how far they have to move for an exact balance, where X.T @ g is at "
          "most left in size; None if none were found. Dense X");
    m.def("moved_sizes", &moved_sizes, nb::arg("X"), nb::arg("moves"),
          "What moves (rows, by) may change in X.T @ g");
    m.def("close_pair", &close_pair, nb::arg("X"), nb::arg("norms"), nb::arg("free"),
          nb::arg("free_columns"), nb::arg("fit_intercept"), nb::arg("rows"), nb::arg("columns"),
          nb::arg("low"), nb::arg("high"), nb::arg("b"), nb::arg("intercept"), nb::arg("g"),
          nb::arg("twofold"), nb::arg("least"),
          "row_terms of any finite g that is clipped, balanced, measured and shrunk into the dual "
          "range: (terms, share, g, measured), None if no exact balance was found or the share is "
          "not above `least`");
}
