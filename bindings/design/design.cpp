#include "rectiline/design/gram.hpp"
#include "rectiline/design/products.hpp"

#include "common.hpp"
#include <numeric>

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
    return {view, kept(X)};
}

template <class T, class I>
Design sparse(Line<T> values, Line<I> indices, Line<I> pointers, std::int64_t n, std::int64_t d,
              bool by_rows) {
    checked(pointers, (by_rows ? n : d) + 1, "pointers");
    checked(indices, length(values), "indices");
    SparseView<T, I> view{values.data(), indices.data(), pointers.data(), n, d, by_rows};
    return {view, kept(values, indices, pointers)};
}

using Product = void (*)(const DesignView&, std::span<const double>, std::span<double>);

// A product with a vector that has one entry per column and one per row of the answer, or the other
// way round.
template <Product product, bool by_rows>
NumpyVector product_of(const Design& X, VectorIn v) {
    const auto given = checked(v, by_rows ? X.d() : X.n(), "the vector");
    return filled(by_rows ? X.n() : X.d(), [&](auto out) { product(X.view, given, out); });
}

auto both_products(const Design& X, VectorIn b, VectorIn g) {
    const auto coef = checked(b, X.d(), "b"), dual = checked(g, X.n(), "g");
    return all_filled([&](auto z, auto q) { multiply_both(X.view, coef, dual, z, q); }, X.n(),
                      X.d());
}

NumpyMatrix gram_of_rows(const Design& X, VectorIn weight, bool intercept) {
    const auto weights = checked(weight, X.n(), "weight");
    const std::int64_t size = X.d() + (intercept ? 1 : 0);
    NumpyMatrix gram = new_matrix(size, size);
    gil::Released released;
    std::vector<std::int64_t> rows(weights.size());
    std::iota(rows.begin(), rows.end(), std::int64_t{0});
    rectiline::support::Interrupt never;
    weighted_gram(X.view, rows, weights, intercept, in(gram), never);
    return gram;
}

auto moments_of(const Design& X) {
    const std::int64_t d = X.d();
    return all_filled([&](auto... out) { moments(X.view, {out...}); }, d, d, d, d, X.n());
}

std::pair<std::optional<NumpyVector>, NumpyVector> units_of(VectorIn mean, VectorIn square,
                                                            bool centred) {
    const auto squares = checked(square, length(mean), "square");
    bool any = false;
    const auto find = [&](auto shift, auto unit) {
        any = column_units(in(mean), squares, centred, shift, unit);
    };
    const auto [shift, unit] = all_filled(find, length(mean), length(mean));
    return {any ? std::optional(shift) : std::nullopt, unit};
}

template <class T, class I>
void bind_sparse(nb::class_<Design>& cls) {
    cls.def_static("sparse", &sparse<T, I>, "values"_a.noconvert(), "indices"_a.noconvert(),
                   "pointers"_a.noconvert(), "n"_a, "d"_a, "by_rows"_a);
}

}  // namespace

void bind_design(nb::module_& m) {
    nb::class_<Design> cls(m, "DesignView", "A view of a design matrix; copies nothing.");
    cls.def_static("dense", &dense<double>, "X"_a.noconvert())
        .def_static("dense", &dense<float>, "X"_a.noconvert());
    bind_sparse<double, std::int32_t>(cls);
    bind_sparse<double, std::int64_t>(cls);
    bind_sparse<float, std::int32_t>(cls);
    bind_sparse<float, std::int64_t>(cls);
    cls.def("dot", &product_of<multiply, true>, "b"_a, "X @ b")
        .def("tdot", &product_of<multiply_transposed, false>, "g"_a, "X.T @ g")
        .def("both", &both_products, "b"_a, "g"_a, "(X @ b, X.T @ g) in one pass where possible")
        .def("row_squares", &product_of<row_squares, true>, "scale"_a,
             "sum_j X[i, j]**2 * scale[j]")
        .def("column_squares", &product_of<column_squares, false>, "scale"_a,
             "sum_i scale[i] * X[i, j]**2")
        .def("column_sizes", &product_of<column_sizes, false>, "scale"_a,
             "sum_i scale[i] * |X[i, j]|")
        .def("gram", &gram_of_rows, "weight"_a, "intercept"_a,
             "X.T @ diag(weight) @ X, with a column of ones where there is an intercept; a sparse "
             "X has to be compressed by rows that are sorted")
        .def("moments", &moments_of,
             "Sums and squares of the columns, powers of two of about their size, and upper bounds "
             "on the norms of the columns and of the rows of X / scale");
    m.def("column_units", &units_of, "mean"_a, "square"_a, "centred"_a,
          "What to subtract from columns with these means and mean squares, None for nothing, and "
          "one over their deviations, or over the roots of their mean squares");
}
