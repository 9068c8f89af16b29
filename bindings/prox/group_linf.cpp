#include "rectiline/prox/group_linf.hpp"

#include "common.hpp"
#include <algorithm>

namespace {

using rectiline::prox::Groups;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Plain arrays and no object of its own: penalties live in modules until the very end.
Groups checked(const Indices& columns, const Indices& starts, std::size_t width) {
    const std::int64_t size = static_cast<std::int64_t>(columns.shape(0));
    const std::int64_t count = static_cast<std::int64_t>(starts.shape(0)) - 1;
    require(count >= 0 && starts.data()[0] == 0 && starts.data()[count] == size,
            "starts must run from 0 to the number of columns");
    bool rising = true;
    for (std::int64_t g = 0; g < count; ++g)
        rising &= starts.data()[g] <= starts.data()[g + 1];
    require(rising, "starts must not fall");
    std::int64_t least = 0, most = -1;
    for (std::int64_t k = 0; k < size; ++k) {
        least = std::min(least, columns.data()[k]);
        most = std::max(most, columns.data()[k]);
    }
    require(least >= 0 && most < static_cast<std::int64_t>(width), "a column is out of range");
    return {{columns.data(), columns.shape(0)}, {starts.data(), starts.shape(0)}};
}

NumpyVector totals(Indices columns, Indices starts, VectorIn values) {
    const Groups groups = checked(columns, starts, values.shape(0));
    NumpyVector out = new_vector(static_cast<std::size_t>(groups.count()));
    rectiline::prox::group_totals(groups, values.data(), out.data());
    return out;
}

NumpyVector largest(Indices columns, Indices starts, VectorIn values) {
    const Groups groups = checked(columns, starts, values.shape(0));
    NumpyVector out = new_vector(static_cast<std::size_t>(groups.count()));
    rectiline::prox::group_largest(groups, values.data(), out.data());
    return out;
}

double fenchel_young(Indices columns, Indices starts, double strength, VectorIn coef, VectorIn q) {
    require(coef.shape(0) == q.shape(0), "coef and q must have equal length");
    const Groups groups = checked(columns, starts, coef.shape(0));
    return rectiline::prox::group_fenchel_young(groups, strength, coef.data(), q.data());
}

NumpyVector prox(Indices columns, Indices starts, double radius, VectorIn v) {
    const Groups groups = checked(columns, starts, v.shape(0));
    NumpyVector out = new_vector(v.shape(0));
    std::copy(v.data(), v.data() + v.shape(0), out.data());
    rectiline::prox::group_prox(groups, radius, out.data());
    return out;
}

NumpyMatrix signed_sums(const Design& X, Indices columns, Indices starts, VectorIn signs) {
    const std::size_t n = static_cast<std::size_t>(rectiline::design::n_rows(X.view));
    const Groups groups =
        checked(columns, starts, static_cast<std::size_t>(rectiline::design::n_columns(X.view)));
    require(signs.shape(0) == columns.shape(0), "signs must have one entry per column");
    const std::size_t count = static_cast<std::size_t>(groups.count());
    double* data = new double[n * count > 0 ? n * count : 1];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    rectiline::prox::signed_sums(X.view, groups, signs.data(), data);
    return NumpyMatrix(data, {count, n}, owner);
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
