#include "rectiline/proof/close_rows.hpp"
#include "rectiline/proof/column_bounds.hpp"
#include "rectiline/proof/products.hpp"
#include "rectiline/proof/row_bounds.hpp"

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

std::pair<NumpyVector, NumpyVector> plain_arguments(const Rows& rows, VectorIn z, double intercept,
                                                    VectorIn b, VectorIn scale, VectorIn row_norm) {
    require_rows(rows, z.shape(0));
    require_rows(rows, row_norm.shape(0));
    require(b.shape(0) == scale.shape(0), "b and scale must have equal length");
    NumpyVector argument = new_vector(z.shape(0)), radius = new_vector(z.shape(0));
    {
        nb::gil_scoped_release release;
        proof::plain_arguments(rows.view, in(z), intercept, in(b), {in(scale), in(row_norm)},
                               in(argument), in(radius));
    }
    return {argument, radius};
}

std::pair<NumpyVector, NumpyVector> plain_slopes(VectorIn g, VectorIn image, VectorIn column_norm) {
    require(image.shape(0) == column_norm.shape(0), "image and column_norm must have equal length");
    NumpyVector q = new_vector(image.shape(0)), error = new_vector(image.shape(0));
    {
        nb::gil_scoped_release release;
        proof::plain_slopes(in(g), in(image), in(column_norm), in(q), in(error));
    }
    return {q, error};
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

std::pair<NumpyVector, NumpyVector> twofold_arguments(const Rows& rows, TwofoldArrays z,
                                                      double intercept) {
    const std::size_t n = static_cast<std::size_t>(rows.view.n);
    require_rows(rows, std::get<0>(z).shape(0));
    require_rows(rows, std::get<1>(z).shape(0));
    require_rows(rows, std::get<2>(z).shape(0));
    NumpyVector argument = new_vector(n), radius = new_vector(n);
    {
        nb::gil_scoped_release release;
        proof::twofold_arguments(rows.view, view_of(z), intercept, in(argument), in(radius));
    }
    return {argument, radius};
}

std::tuple<double, double, double, double> row_bounds(const Rows& rows, VectorIn argument,
                                                      VectorIn radius, VectorIn g, double share,
                                                      std::optional<VectorIn> move) {
    require_rows(rows, argument.shape(0));
    require_rows(rows, radius.shape(0));
    require_rows(rows, g.shape(0));
    if (move) require_rows(rows, move->shape(0));
    nb::gil_scoped_release release;
    const proof::RowBounds found =
        proof::row_bounds(rows.view, in(argument), in(radius), in(g), in(move), share);
    return {found.loss, found.loss_error, found.gap, found.gap_upper};
}

double row_growth(const Rows& rows, std::int64_t i, double argument, double radius, double g,
                  double move, double share) {
    require(0 <= i && i < rows.view.n, "the row is out of range");
    return proof::row_growth(rows.view, i, argument, radius, g, move, share);
}

std::int64_t row_inside(const Rows& rows, VectorIn g, double margin) {
    require_rows(rows, g.shape(0));
    nb::gil_scoped_release release;
    return proof::row_inside(rows.view, in(g), margin);
}

// loss, its error, gap, upper bound, growth, share, q and its error
using ClosedRows =
    std::tuple<double, double, double, double, double, double, NumpyVector, NumpyVector>;

NumpyVector copy_of(VectorIn values) {
    NumpyVector out = new_vector(values.shape(0));
    std::copy_n(values.data(), values.shape(0), out.data());
    return out;
}

// The columns of X that `columns` names, and one of ones; the few that plain loops can take.
proof::FreeColumns free_columns(const Design& X, const IndexIn& columns, bool intercept) {
    const proof::FreeColumns free{X.view, in(columns), intercept};
    require(free.order() <= proof::kMostFree, "there are too many free columns");
    require(columns.shape(0) == 0 || X.view.index() < 2, "X must be dense");
    for (const std::int64_t j : free.columns)
        require(j >= 0 && j < n_columns(X.view), "a column is out of range");
    return free;
}

void require_samples(const Design& X, std::initializer_list<const VectorIn*> vectors) {
    for (const VectorIn* values : vectors)
        require(length(*values) == n_rows(X.view), "the vector must have one entry per row");
}

std::pair<NumpyVector, double> balance_columns(const Design& X, IndexIn columns, bool intercept,
                                               VectorIn g, VectorIn low, VectorIn high,
                                               VectorIn column_norm, VectorIn target,
                                               VectorIn size) {
    const proof::FreeColumns free = free_columns(X, columns, intercept);
    require_samples(X, {&g, &low, &high});
    require(length(column_norm) == n_columns(X.view), "there must be one norm per column");
    require(length(target) == free.order() && length(size) == free.order(),
            "target and size must have one entry per free column");
    NumpyVector moved = copy_of(g);
    double left = 0;
    {
        nb::gil_scoped_release release;
        left = proof::balance_columns(free, {in(low), in(high)}, in(column_norm), in(target),
                                      in(size), in(moved));
    }
    return {moved, left};
}

std::optional<NumpyVector> balancing_move(const Design& X, IndexIn columns, bool intercept,
                                          VectorIn g, VectorIn low, VectorIn high, VectorIn left) {
    const proof::FreeColumns free = free_columns(X, columns, intercept);
    require_samples(X, {&g, &low, &high});
    require(length(left) == free.order(), "left must have one entry per free column");
    NumpyVector move = new_vector(g.shape(0));
    nb::gil_scoped_release release;
    if (!proof::balancing_move(free, {in(low), in(high)}, in(g), in(left), in(move)))
        return std::nullopt;
    return move;
}

std::optional<ClosedRows> arrays_of(const std::optional<proof::ClosedRows>& found, NumpyVector q,
                                    NumpyVector error) {
    if (!found) return std::nullopt;
    const auto& [loss, loss_error, gap, upper] = found->bounds;
    return ClosedRows{loss, loss_error, gap, upper, found->growth, found->share, q, error};
}

void require_problem(const Design& X, const Rows& rows, const Columns& columns) {
    require(n_rows(X.view) == rows.view.n && n_columns(X.view) == columns.view.d,
            "X must have the rows and columns of the problem");
}

std::optional<ClosedRows> close_rows(const Design& X, const Rows& rows, const Columns& columns,
                                     IndexIn free, bool intercept, VectorIn argument,
                                     VectorIn radius, VectorIn g, VectorIn low, VectorIn high,
                                     double total, VectorIn q, VectorIn error, VectorIn column_norm,
                                     double least) {
    require_samples(X, {&argument, &radius, &g, &low, &high});
    require_columns(columns, q.shape(0));
    require_columns(columns, error.shape(0));
    require_columns(columns, column_norm.shape(0));
    require_problem(X, rows, columns);
    const proof::FreeColumns balanced = free_columns(X, free, intercept);
    NumpyVector moved = copy_of(q), wider = copy_of(error);
    std::optional<proof::ClosedRows> found;
    {
        nb::gil_scoped_release release;
        found = proof::close_rows(balanced, rows.view, columns.view, {in(argument), in(radius)},
                                  {in(g), {in(low), in(high)}, total}, in(column_norm), least,
                                  in(moved), in(wider));
    }
    return arrays_of(found, moved, wider);
}

// What close_rows returns, the repaired multipliers, and the arguments with their radius.
using ClosedPair = std::tuple<ClosedRows, NumpyVector, NumpyVector, NumpyVector>;

std::optional<ClosedPair> close_pair(const Design& X, const Rows& rows, const Columns& columns,
                                     IndexIn free, bool fit_intercept, VectorIn b, double intercept,
                                     VectorIn g, VectorIn low, VectorIn high, VectorIn scale,
                                     VectorIn row_norm, VectorIn column_norm, bool twofold,
                                     double least) {
    require_samples(X, {&g, &low, &high, &row_norm});
    for (const VectorIn* values : {&b, &scale, &column_norm})
        require_columns(columns, values->shape(0));
    require_problem(X, rows, columns);
    const proof::FreeColumns balanced = free_columns(X, free, fit_intercept);
    const std::size_t n = g.shape(0), d = b.shape(0);
    NumpyVector moved = copy_of(g), argument = new_vector(n), radius = new_vector(n);
    NumpyVector q = new_vector(d), error = new_vector(d);
    std::optional<proof::ClosedRows> found;
    {
        nb::gil_scoped_release release;
        found = proof::close_pair(balanced, rows.view, columns.view, in(b), intercept,
                                  {in(scale), in(row_norm), in(column_norm)}, {in(low), in(high)},
                                  twofold, least, in(moved),
                                  {in(argument), in(radius), in(q), in(error)});
    }
    const std::optional<ClosedRows> closed = arrays_of(found, q, error);
    if (!closed) return std::nullopt;
    return ClosedPair{*closed, moved, argument, radius};
}

}  // namespace

void bind_proof(nb::module_& m) {
    m.def("twofold_dot", &twofold_product, nb::arg("X"), nb::arg("b"),
          "X @ b as (hi, lo, error, size): within error of hi + lo; size is |X| @ |b|");
    m.def("twofold_tdot", &twofold_transposed_product, nb::arg("X"), nb::arg("g"),
          "X.T @ g as (hi, lo, error, size)");
    m.def("twofold_sum", &twofold_sum, nb::arg("x"), "sum(x) as (hi, lo, error, size)");
    m.def("plain_arguments", &plain_arguments, nb::arg("rows"), nb::arg("z"), nb::arg("intercept"),
          nb::arg("b"), nb::arg("scale"), nb::arg("row_norm"),
          "Arguments of the rows' losses at the predictions z = X b, and how far rounding may have "
          "moved them; with Design.norm_bounds");
    m.def("plain_slopes", &plain_slopes, nb::arg("g"), nb::arg("image"), nb::arg("column_norm"),
          "-image for image = X.T @ g, and how far rounding may have moved it");
    m.def("column_bounds", &column_bounds, nb::arg("columns"), nb::arg("b"), nb::arg("q"),
          nb::arg("error"),
          "The cost of the columns, its error, their gap and an upper bound on the exact one for "
          "every q within error");
    m.def("dual_share", &dual_share, nb::arg("columns"), nb::arg("q"), nb::arg("error"),
          "A share of q, and of every point within error, that lies in the dual range");
    m.def("twofold_arguments", &twofold_arguments, nb::arg("rows"), nb::arg("z"),
          nb::arg("intercept"), "plain_arguments for predictions from twofold_dot");
    m.def("row_bounds", &row_bounds, nb::arg("rows"), nb::arg("argument"), nb::arg("radius"),
          nb::arg("g"), nb::arg("share") = 1.0, nb::arg("move") = nb::none(),
          "loss, its error, the gap of the rows and an upper bound on the exact one, for the "
          "multipliers share * g; with `move` they may be off by so much inside their boxes");
    m.def("row_growth", &row_growth, nb::arg("rows"), nb::arg("i"), nb::arg("argument"),
          nb::arg("radius"), nb::arg("g"), nb::arg("move"), nb::arg("share") = 1.0,
          "The most that the Fenchel-Young term of row i grows if its multiplier moves by up to "
          "move");
    m.attr("MOST_FREE") = proof::kMostFree;
    m.def("balance_columns", &balance_columns, nb::arg("X"), nb::arg("columns"),
          nb::arg("intercept"), nb::arg("g"), nb::arg("low"), nb::arg("high"),
          nb::arg("column_norm"), nb::arg("target"), nb::arg("size"),
          "g moved inside its boxes until X[:, columns].T @ g is nearly target (with an intercept "
          "the sum of g as well), and the largest leftover; dense X, at most MOST_FREE columns");
    m.def("balancing_move", &balancing_move, nb::arg("X"), nb::arg("columns"), nb::arg("intercept"),
          nb::arg("g"), nb::arg("low"), nb::arg("high"), nb::arg("left"),
          "A bound on how far each multiplier has to move for an exact balance, where "
          "X[:, columns].T @ g is at most left in size; None if none was found");
    m.def("close_rows", &close_rows, nb::arg("X"), nb::arg("rows"), nb::arg("columns"),
          nb::arg("free"), nb::arg("intercept"), nb::arg("argument"), nb::arg("radius"),
          nb::arg("g"), nb::arg("low"), nb::arg("high"), nb::arg("total"), nb::arg("q"),
          nb::arg("error"), nb::arg("column_norm"), nb::arg("least"),
          "row_bounds of the share of g that is in the dual range, with what an exact balance of "
          "the intercept may add, that share, and q and its error for it; None if no exact balance "
          "was found, or the share is not above `least`");
    m.def("close_pair", &close_pair, nb::arg("X"), nb::arg("rows"), nb::arg("columns"),
          nb::arg("free"), nb::arg("fit_intercept"), nb::arg("b"), nb::arg("intercept"),
          nb::arg("g"), nb::arg("low"), nb::arg("high"), nb::arg("scale"), nb::arg("row_norm"),
          nb::arg("column_norm"), nb::arg("twofold"), nb::arg("least"),
          "close_rows for a pair, whose products are computed, twofold if asked, after g has been "
          "moved into its boxes and balanced; also returns g and the arguments with their radius");
    m.def("row_inside", &row_inside, nb::arg("rows"), nb::arg("g"), nb::arg("margin"),
          "The first row whose multiplier lies inside its box by more than margin, or -1");
}
