#include "rectiline/prox/group_linf.hpp"

#include "common.hpp"
#include <algorithm>

namespace {

using rectiline::prox::Groups;

// Plain arrays and no object of its own: penalties live in modules until the very end.
Groups checked(const IndexIn& columns, const IndexIn& starts, std::size_t width) {
    require_groups(columns, starts, static_cast<std::int64_t>(width));
    return {in(columns), in(starts)};
}

NumpyVector totals(IndexIn columns, IndexIn starts, VectorIn values) {
    const Groups groups = checked(columns, starts, values.shape(0));
    NumpyVector out = new_vector(static_cast<std::size_t>(groups.count()));
    rectiline::prox::group_totals(groups, in(values), in(out));
    return out;
}

NumpyVector largest(IndexIn columns, IndexIn starts, VectorIn values) {
    const Groups groups = checked(columns, starts, values.shape(0));
    NumpyVector out = new_vector(static_cast<std::size_t>(groups.count()));
    rectiline::prox::group_largest(groups, in(values), in(out));
    return out;
}

double fenchel_young(IndexIn columns, IndexIn starts, double strength, VectorIn coef, VectorIn q) {
    require(coef.shape(0) == q.shape(0), "coef and q must have equal length");
    const Groups groups = checked(columns, starts, coef.shape(0));
    return rectiline::prox::group_fenchel_young(groups, strength, in(coef), in(q));
}

NumpyVector prox(IndexIn columns, IndexIn starts, double radius, VectorIn v) {
    const Groups groups = checked(columns, starts, v.shape(0));
    NumpyVector out = new_vector(v.shape(0));
    std::copy(v.data(), v.data() + v.shape(0), out.data());
    rectiline::prox::group_prox(groups, radius, in(out));
    return out;
}

NumpyMatrix signed_sums(const Design& X, IndexIn columns, IndexIn starts, VectorIn signs) {
    const std::size_t n = static_cast<std::size_t>(rectiline::design::n_rows(X.view));
    const Groups groups =
        checked(columns, starts, static_cast<std::size_t>(rectiline::design::n_columns(X.view)));
    require(signs.shape(0) == columns.shape(0), "signs must have one entry per column");
    NumpyMatrix out = new_matrix(static_cast<std::size_t>(groups.count()), n);
    rectiline::prox::signed_sums(X.view, groups, in(signs), in(out));
    return out;
}

}  // namespace

void bind_group_linf(nb::module_& m) {
    m.def("group_totals", &totals, nb::arg("columns"), nb::arg("starts"), nb::arg("values"),
          "Sum of |values| over each group; group g is columns[starts[g]:starts[g + 1]]");
    m.def("group_largest", &largest, nb::arg("columns"), nb::arg("starts"), nb::arg("values"),
          "Largest |values| of each group");
    m.def("group_fenchel_young", &fenchel_young, nb::arg("columns"), nb::arg("starts"),
          nb::arg("strength"), nb::arg("coef"), nb::arg("q"),
          "strength * sum of largest |coef| - q'coef, as a sum of terms >= 0");
    m.def("group_prox", &prox, nb::arg("columns"), nb::arg("starts"), nb::arg("radius"),
          nb::arg("v"), "argmin_b |b - v|^2 / 2 + radius * sum of largest |b|");
    m.def("signed_sums", &signed_sums, nb::arg("X"), nb::arg("columns"), nb::arg("starts"),
          nb::arg("signs"), "One line per group: its columns of X times their signs; X dense");
}
