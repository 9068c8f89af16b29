#include "rectiline/proof/measure.hpp"
#include "rectiline/proof/terms.hpp"

#include "common.hpp"

namespace {

namespace proof = rectiline::proof;
using rectiline::design::DenseView;
using rectiline::design::DesignView;

using FourNumbers = std::tuple<double, double, double, double>;
using FourVectors = std::tuple<NumpyVector, NumpyVector, NumpyVector, NumpyVector>;

// Norms of columns, scales of columns and norms of rows, see Design.norm_bounds.
using NormArrays = std::tuple<VectorIn, VectorIn, VectorIn>;

// A product of `size` entries in twofold arithmetic: its parts, errors and sizes.
template <auto product>
auto twofold(const Design& X, std::span<const double> factor, std::int64_t size) {
    const auto find = [&](auto hi, auto lo, auto error, auto sizes) {
        product(X.view, factor, {size, hi.data(), lo.data(), error.data(), sizes.data()});
    };
    return all_filled(find, size, size, size, size);
}

auto twofold_dot(const Design& X, VectorIn b) {
    return twofold<proof::multiply>(X, checked(b, X.d(), "b"), X.n());
}

auto twofold_tdot(const Design& X, VectorIn g) {
    return twofold<proof::multiply_transposed>(X, checked(g, X.n(), "g"), X.d());
}

FourNumbers twofold_sum(VectorIn x) {
    gil::Released released;
    const proof::Twofold total = proof::sum(in(x));
    return {total.hi, total.lo, total.error, total.size};
}

FourNumbers numbers(const proof::BoundedTerms& terms) {
    return {terms.value, terms.value_error, terms.gap, terms.gap_upper};
}

FourNumbers column_bounds(const Columns& columns, VectorIn b, VectorIn q, VectorIn error) {
    return numbers(proof::column_bounds(columns.view, checked(b, columns.d(), "b"),
                                        checked(q, columns.d(), "q"),
                                        checked(error, columns.d(), "error")));
}

double dual_share(const Columns& columns, VectorIn q, VectorIn error) {
    return proof::dual_share(columns.view, checked(q, columns.d(), "q"),
                             checked(error, columns.d(), "error"));
}

proof::DesignNorms norms_of(const Design& X, const NormArrays& norms) {
    const auto& [column, scale, row] = norms;
    return {checked(scale, X.d(), "scale"), checked(row, X.n(), "norms of rows"),
            checked(column, X.d(), "norms of columns")};
}

auto measure(const Design& X, const Rows& rows, VectorIn b, double intercept, VectorIn g,
             NormArrays norms, std::optional<std::tuple<VectorIn, VectorIn, VectorIn>> shift,
             std::optional<std::pair<VectorIn, VectorIn>> products) {
    require(X.n() == rows.n(), "X must have the rows of the problem");
    const proof::Candidate pair{checked(b, X.d(), "b"), intercept, checked(g, X.n(), "g")};
    const proof::DesignNorms bounds = norms_of(X, norms);
    proof::Shift shifted;
    if (shift) {
        const auto& [value, rest, error] = *shift;
        shifted = {checked(value, X.d(), "shift"), checked(rest, X.d(), "shift"),
                   checked(error, X.d(), "shift")};
    }
    if (products) {
        checked(products->first, X.n(), "X b");
        checked(products->second, X.d(), "X'g");
    }
    const auto find = [&](auto... out) {
        if (products)
            proof::measure_plain(rows.view, pair, in(products->first), in(products->second), bounds,
                                 shifted, {out...});
        else
            proof::measure_twofold(X.view, rows.view, pair, shifted, {out...});
    };
    return all_filled(find, X.n(), X.n(), X.d(), X.d());
}

using MovesIn = std::optional<std::pair<IndexIn, VectorIn>>;

FourNumbers row_terms(const Rows& rows, VectorIn argument, VectorIn radius, VectorIn g,
                      double share, MovesIn moves) {
    const proof::Arguments at{checked(argument, rows.n(), "argument"),
                              checked(radius, rows.n(), "radius")};
    const auto dual = checked(g, rows.n(), "g");
    proof::Moves listed;
    if (moves) {
        checked_indices(moves->first, rows.n(), "moves");
        checked(moves->second, length(moves->first), "moves");
        listed = {vector_of(moves->first), vector_of(moves->second)};
    }
    gil::Released released;
    return numbers(proof::row_terms(rows.view, at, dual, listed, share));
}

// Normal equations that are solved by a function of Python's: (weight, right) -> x, or None.
proof::SolveNormal called_solver(const proof::FreeColumns& Z, const nb::object& solve) {
    return [&](std::span<const double> weight, std::span<const double> right, auto out) {
        std::vector<double> x;
        {
            gil::Acquired acquired;
            const nb::object found = solve(copy_vector(weight), copy_vector(right));
            if (found.is_none()) return false;
            x = vector_of(nb::cast<VectorIn>(found));
        }
        require(x.size() == right.size(), "solve must return one number per free column");
        Z.multiply(x, out);
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] *= weight[i];
        return true;
    };
}

std::pair<NumpyVector, double> balance_columns(const Design& free, bool intercept, VectorIn g,
                                               VectorIn low, VectorIn high, VectorIn column_norm,
                                               VectorIn target, VectorIn size,
                                               std::optional<nb::object> solve) {
    const proof::FreeColumns Z{free.view, intercept};
    require(solve || free.is_dense(), "free columns must be dense");
    const proof::DualBoxes boxes{checked(low, free.n(), "low"), checked(high, free.n(), "high")};
    const auto norms = checked(column_norm, free.d(), "column_norm");
    const auto aim = checked(target, Z.order(), "target"), sizes = checked(size, Z.order(), "size");
    NumpyVector moved = copy_vector(checked(g, free.n(), "g"));
    const double left = run_interruptibly(kNoDeadline, [&](rectiline::support::Interrupt& stop) {
        const auto solver = solve ? called_solver(Z, *solve) : proof::dense_solver(Z, stop);
        return proof::balance_columns(Z, solver, boxes, norms, aim, sizes, in(moved));
    });
    return {moved, left};
}

// Dense free columns of a problem of n rows; none where `free` is missing.
DesignView free_view(const Design* free, std::int64_t n) {
    if (!free) return DenseView<double>{nullptr, n, 0, 0, 1};
    require(free->is_dense() && free->n() == n, "free columns must be dense, with the rows of X");
    return free->view;
}

std::optional<std::tuple<NumpyIndices, NumpyVector, NumpyVector>> exact_moves(
    const Design& X, const Design* free, bool intercept, VectorIn g, VectorIn low, VectorIn high,
    VectorIn left) {
    const DesignView view = free_view(free, X.n());
    const proof::FreeColumns Z{view, intercept};
    const proof::DualBoxes boxes{checked(low, X.n(), "low"), checked(high, X.n(), "high")};
    const auto dual = checked(g, X.n(), "g"), sizes = checked(left, Z.order(), "left");
    NumpyVector error = new_vector(X.d());
    std::optional<proof::Moves> found;
    {
        gil::Released released;
        found = proof::exact_moves(Z, boxes, dual, sizes);
        std::fill_n(error.data(), error.size(), 0.0);
        if (found) proof::add_moved_sizes(X.view, *found, in(error));
    }
    if (!found) return std::nullopt;
    return std::tuple(copy_vector(found->row), copy_vector(found->by), error);
}

std::optional<std::tuple<FourNumbers, double, NumpyVector, FourVectors>> close_pair(
    const Design& X, NormArrays norms, const Design* free, IndexIn free_columns, bool fit_intercept,
    const Rows& rows, const Columns& columns, VectorIn b, double intercept, VectorIn g,
    bool twofold) {
    require(X.n() == rows.n() && X.d() == columns.d(), "X must have the rows and columns");
    const DesignView view = free_view(free, X.n());
    const auto places = checked_indices(free_columns, X.d(), "free_columns");
    require(rectiline::design::n_columns(view) == length(free_columns),
            "free must hold the free columns");
    const proof::SmallProblem problem{X.view, norms_of(X, norms), {view, fit_intercept},
                                      places, rows.view,          columns.view};
    const auto coef = checked(b, X.d(), "b");
    NumpyVector moved = copy_vector(checked(g, X.n(), "g"));
    std::optional<proof::ClosedPair> found;
    const auto close = [&](auto... out) {
        found = proof::close_pair(problem, coef, intercept, twofold, in(moved), {out...});
    };
    const FourVectors measured = all_filled(close, X.n(), X.n(), X.d(), X.d());
    if (!found) return std::nullopt;
    return std::tuple(numbers(found->terms), found->share, moved, measured);
}

}  // namespace

void bind_proof(nb::module_& m) {
    m.def("twofold_dot", &twofold_dot, "X"_a, "b"_a,
          "X @ b as (hi, lo, error, size): within error of hi + lo; size is |X| @ |b|");
    m.def("twofold_tdot", &twofold_tdot, "X"_a, "g"_a, "X.T @ g as (hi, lo, error, size)");
    m.def("twofold_sum", &twofold_sum, "x"_a, "sum(x) as (hi, lo, error, size)");
    m.def("measure", &measure, "X"_a, "rows"_a, "b"_a, "intercept"_a, "g"_a, "norms"_a, "shift"_a,
          "products"_a,
          "Arguments of the rows' losses and q = shift - X.T @ g, each with how far rounding may "
          "have moved it: (argument, radius, q, error). A shift is (value, rest, error). Products "
          "(X @ b, X.T @ g) in plain doubles; twofold arithmetic where there are none");
    m.def("column_bounds", &column_bounds, "columns"_a, "b"_a, "q"_a, "error"_a,
          "The cost of the columns, its error, their gap and an upper bound on the exact one for "
          "every q within error");
    m.def("dual_share", &dual_share, "columns"_a, "q"_a, "error"_a,
          "A share of q, and of every point within error, that lies in the dual range");
    m.def(
        "row_terms", &row_terms, "rows"_a, "argument"_a, "radius"_a, "g"_a, "share"_a = 1.0,
        "moves"_a = nb::none(),
        "loss, its error, the gap of the rows and an upper bound on the exact one, for the "
        "multipliers share * g; those of `moves` (rows, by) may be off by so much in their boxes");
    m.def("balance_columns", &balance_columns, "free"_a, "intercept"_a, "g"_a, "low"_a, "high"_a,
          "column_norm"_a, "target"_a, "size"_a, "solve"_a = nb::none(),
          "g moved inside its boxes until free.T @ g is nearly target (with an intercept the sum "
          "of g as well), and the largest leftover. For sparse columns `solve` has to solve the "
          "normal equations of given weights");
    m.def("exact_moves", &exact_moves, "X"_a, "free"_a.none(), "intercept"_a, "g"_a, "low"_a,
          "high"_a, "left"_a,
          "Rows, bounds on how far they have to move for an exact balance where free.T @ g is at "
          "most left in size, and what that may change in X.T @ g; None if none were found. Free "
          "columns are dense, or None for the intercept alone");
    m.def("close_pair", &close_pair, "X"_a, "norms"_a, "free"_a.none(), "free_columns"_a,
          "fit_intercept"_a, "rows"_a, "columns"_a, "b"_a, "intercept"_a, "g"_a, "twofold"_a,
          "row_terms of any finite g that is clipped, balanced, measured and shrunk into the dual "
          "range: (terms, share, g, measured), None if no exact balance was found");
}
