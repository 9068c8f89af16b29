#include "rectiline/design/design_block.hpp"
#include "rectiline/design/gram.hpp"
#include "rectiline/design/moments.hpp"
#include "rectiline/design/products.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include "common.hpp"
#include <numeric>
#include <tuple>

namespace {

using namespace rectiline::design;

template <class T>
using Dense = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using Line = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Design dense(Dense<T> X) {
    DenseView<T> view{X.data(), static_cast<std::int64_t>(X.shape(0)),
                      static_cast<std::int64_t>(X.shape(1)), X.stride(0), X.stride(1)};
    return {view, {nb::cast(X)}};
}

template <class T, class I>
Design sparse(Line<T> values, Line<I> indices, Line<I> pointers, std::int64_t n, std::int64_t d,
              bool by_rows) {
    require(pointers.shape(0) == static_cast<std::size_t>((by_rows ? n : d) + 1),
            "pointers must have one entry more than there are lines");
    require(values.shape(0) == indices.shape(0), "values and indices must have equal length");
    SparseView<T, I> view{values.data(), indices.data(), pointers.data(), n, d, by_rows};
    return {view, {nb::cast(values), nb::cast(indices), nb::cast(pointers)}};
}

std::size_t rows_of(const Design& X) {
    return static_cast<std::size_t>(n_rows(X.view));
}
std::size_t columns_of(const Design& X) {
    return static_cast<std::size_t>(n_columns(X.view));
}

NumpyVector product(const Design& X, VectorIn b) {
    require(b.shape(0) == columns_of(X), "the vector must have one entry per column");
    NumpyVector z = new_vector(rows_of(X));
    nb::gil_scoped_release release;
    multiply(X.view, in(b), in(z));
    return z;
}

NumpyVector transposed_product(const Design& X, VectorIn g) {
    require(g.shape(0) == rows_of(X), "the vector must have one entry per row");
    NumpyVector q = new_vector(columns_of(X));
    nb::gil_scoped_release release;
    multiply_transposed(X.view, in(g), in(q));
    return q;
}

std::pair<NumpyVector, NumpyVector> both_products(const Design& X, VectorIn b, VectorIn g) {
    require(b.shape(0) == columns_of(X) && g.shape(0) == rows_of(X),
            "the vectors must have one entry per column and per row");
    NumpyVector z = new_vector(rows_of(X)), q = new_vector(columns_of(X));
    {
        nb::gil_scoped_release release;
        multiply_both(X.view, in(b), in(g), in(z), in(q));
    }
    return {z, q};
}

using OptionalVector = std::optional<VectorIn>;
template <class T>
using BlockOut = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

// Fills `out`, whose rows must lie in one piece.
template <class T>
void copy_part(const Design& X, IndexIn rows, IndexIn columns, VectorIn factor, BlockOut<T> out,
               OptionalVector centre, OptionalVector row_factor) {
    const std::size_t n = rows.shape(0), d = columns.shape(0);
    const bool dense = std::holds_alternative<DenseView<double>>(X.view) ||
                       std::holds_alternative<DenseView<float>>(X.view);
    require(dense, "X must be dense");
    require(out.shape(0) == n && out.shape(1) == d && (out.stride(1) == 1 || d <= 1 || n == 0),
            "out must have a row for each of the rows, in one piece");
    require(factor.shape(0) == d && (!centre || centre->shape(0) == d),
            "factor and centre must have one entry per column");
    require(!row_factor || row_factor->shape(0) == n, "row_factor must have one entry per row");
    for (const std::int64_t i : in(rows))
        require(0 <= i && i < n_rows(X.view), "a row is out of range");
    for (const std::int64_t j : in(columns))
        require(0 <= j && j < n_columns(X.view), "a column is out of range");
    const BlockOf block{in(rows), in(columns), in(centre), in(factor), in(row_factor)};
    nb::gil_scoped_release release;
    copy_block(X.view, block, out.stride(0), out.data());
}

template <class T>
void take_rows(const Design& X, IndexIn rows, BlockOut<T> out) {
    require(std::holds_alternative<DenseView<T>>(X.view), "X must be dense, of the type of out");
    const std::size_t d = columns_of(X);
    require(out.shape(0) == rows.shape(0) && out.shape(1) == d,
            "out must have the shape of X[rows]");
    require(out.size() == 0 || d == 1 || out.stride(1) == 1, "out must lie in one piece");
    require(out.size() == 0 || out.stride(0) == static_cast<std::int64_t>(d),
            "out must lie in one piece");
    for (const std::int64_t i : in(rows))
        require(0 <= i && i < n_rows(X.view), "a row is out of range");
    nb::gil_scoped_release release;
    copy_rows(X.view, in(rows), out.data());
}

template <class T>
void bind_copy_part(nb::class_<Design>& cls) {
    cls.def("copy_part", &copy_part<T>, nb::arg("rows"), nb::arg("columns"), nb::arg("factor"),
            nb::arg("out").noconvert(), nb::arg("centre") = nb::none(),
            nb::arg("row_factor") = nb::none(),
            "out = (X[rows][:, columns] - centre) * factor * row_factor[:, None]");
    cls.def("take", &take_rows<T>, nb::arg("rows"), nb::arg("out").noconvert(), "out = X[rows]");
}

NumpyVector squares_by_row(const Design& X, VectorIn scale) {
    require(scale.shape(0) == columns_of(X), "scale must have one entry per column");
    NumpyVector r = new_vector(rows_of(X));
    nb::gil_scoped_release release;
    row_squares(X.view, in(scale), in(r));
    return r;
}

NumpyVector squares_by_column(const Design& X, VectorIn scale) {
    require(scale.shape(0) == rows_of(X), "scale must have one entry per row");
    NumpyVector s = new_vector(columns_of(X));
    nb::gil_scoped_release release;
    column_squares(X.view, in(scale), in(s));
    return s;
}

NumpyMatrix gram_of_rows(const Design& X, VectorIn weight, bool intercept) {
    require(weight.shape(0) == rows_of(X), "weight must have one entry per row");
    const std::size_t size = columns_of(X) + (intercept ? 1 : 0);
    NumpyMatrix gram = new_matrix(size, size);
    nb::gil_scoped_release release;
    std::vector<std::int64_t> rows(weight.shape(0));
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    rectiline::support::Interrupt never;
    weighted_gram(X.view, rows, in(weight), intercept, in(gram), never);
    return gram;
}

std::tuple<NumpyVector, NumpyVector, NumpyVector, NumpyVector, NumpyVector> moments_of(
    const Design& X) {
    const std::size_t d = columns_of(X);
    NumpyVector sum = new_vector(d), square = new_vector(d), scale = new_vector(d);
    NumpyVector column_norm = new_vector(d), row_norm = new_vector(rows_of(X));
    {
        nb::gil_scoped_release release;
        moments(X.view, {in(sum), in(square), in(scale), in(column_norm), in(row_norm)});
    }
    return {sum, square, scale, column_norm, row_norm};
}

std::pair<std::optional<NumpyVector>, NumpyVector> units_of(VectorIn mean, VectorIn square,
                                                            bool centred) {
    const std::size_t d = mean.shape(0);
    require(square.shape(0) == d, "mean and square must have equal length");
    NumpyVector shift = new_vector(d), unit = new_vector(d);
    const bool any = column_units(in(mean), in(square), centred, in(shift), in(unit));
    return {any ? std::optional(shift) : std::nullopt, unit};
}

template <class T, class I>
void bind_sparse(nb::class_<Design>& cls) {
    cls.def_static("sparse", &sparse<T, I>, nb::arg("values").noconvert(),
                   nb::arg("indices").noconvert(), nb::arg("pointers").noconvert(), nb::arg("n"),
                   nb::arg("d"), nb::arg("by_rows"));
}

}  // namespace

void bind_design(nb::module_& m) {
    nb::class_<Design> cls(m, "DesignView", "A view of a design matrix; copies nothing.");
    cls.def_static("dense", &dense<double>, nb::arg("X").noconvert())
        .def_static("dense", &dense<float>, nb::arg("X").noconvert());
    bind_copy_part<double>(cls);
    bind_copy_part<float>(cls);
    bind_sparse<double, std::int32_t>(cls);
    bind_sparse<double, std::int64_t>(cls);
    bind_sparse<float, std::int32_t>(cls);
    bind_sparse<float, std::int64_t>(cls);
    cls.def("dot", &product, nb::arg("b"), "X @ b")
        .def("tdot", &transposed_product, nb::arg("g"), "X.T @ g")
        .def("both", &both_products, nb::arg("b"), nb::arg("g"),
             "(X @ b, X.T @ g) in one pass where possible")
        .def("row_squares", &squares_by_row, nb::arg("scale"), "sum_j X[i, j]**2 * scale[j]")
        .def("column_squares", &squares_by_column, nb::arg("scale"), "sum_i scale[i] * X[i, j]**2")
        .def("gram", &gram_of_rows, nb::arg("weight"), nb::arg("intercept"),
             "X.T @ diag(weight) @ X, with a column of ones where there is an intercept; a sparse "
             "X has to be compressed by rows that are sorted")
        .def("moments", &moments_of,
             "Sums and squares of the columns, powers of two of about their size, and upper bounds "
             "on the norms of the columns and of the rows of X / scale; in one pass");
    m.def("column_units", &units_of, nb::arg("mean"), nb::arg("square"), nb::arg("centred"),
          "What to subtract from columns with these means and mean squares, None for nothing, and "
          "one over their deviations, or over the roots of their mean squares");
}
