#include "rectiline/prox/clustered_prox.hpp"
#include "rectiline/prox/group_linf.hpp"

#include "common.hpp"

namespace {

using namespace rectiline::prox;

// Plain arrays and no object of its own: penalties live in modules until the very end.
Groups groups_of(const IndexIn& columns, const IndexIn& starts, std::int64_t width) {
    require_groups(columns, starts, width);
    return {in(columns), in(starts)};
}

template <void (*reduce)(const Groups&, std::span<const double>, std::span<double>)>
NumpyVector per_group(IndexIn columns, IndexIn starts, VectorIn values) {
    const Groups groups = groups_of(columns, starts, length(values));
    return filled(groups.count(), [&](auto out) { reduce(groups, in(values), out); });
}

double fenchel_young(IndexIn columns, IndexIn starts, double strength, VectorIn coef, VectorIn q) {
    const Groups groups = groups_of(columns, starts, length(coef));
    return group_fenchel_young(groups, strength, in(coef), checked(q, length(coef), "q"));
}

NumpyVector prox(IndexIn columns, IndexIn starts, double radius, VectorIn v) {
    const Groups groups = groups_of(columns, starts, length(v));
    NumpyVector out = copy_vector(in(v));
    group_prox(groups, radius, in(out));
    return out;
}

NumpyMatrix sums_with_signs(const Design& X, IndexIn columns, IndexIn starts, VectorIn signs) {
    const Groups groups = groups_of(columns, starts, X.d());
    NumpyMatrix out = new_matrix(groups.count(), X.n());
    signed_sums(X.view, groups, checked(signs, length(columns), "signs"), in(out));
    return out;
}

NumpyVector sorted_prox(VectorIn v, VectorIn strengths) {
    checked(strengths, length(v), "strengths");
    return filled(length(v), [&](auto out) {
        Clusters clusters;
        SortedProx(vector_of(strengths)).prox(in(v), 1.0, out, clusters);
    });
}

}  // namespace

void bind_prox(nb::module_& m) {
    m.def("sorted_l1_prox", &sorted_prox, "v"_a, "strengths"_a,
          "argmin_b |b - v|^2 / 2 + sum_k strengths_k |b|_(k), for non-increasing strengths");
    m.def("group_totals", &per_group<group_totals>, "columns"_a, "starts"_a, "values"_a,
          "Sum of |values| over each group; group g is columns[starts[g]:starts[g + 1]]");
    m.def("group_largest", &per_group<group_largest>, "columns"_a, "starts"_a, "values"_a,
          "Largest |values| of each group");
    m.def("group_fenchel_young", &fenchel_young, "columns"_a, "starts"_a, "strength"_a, "coef"_a,
          "q"_a, "strength * sum of largest |coef| - q'coef, as a sum of terms >= 0");
    m.def("group_prox", &prox, "columns"_a, "starts"_a, "radius"_a, "v"_a,
          "argmin_b |b - v|^2 / 2 + radius * sum of largest |b|");
    m.def("signed_sums", &sums_with_signs, "X"_a, "columns"_a, "starts"_a, "signs"_a,
          "One line per group: its columns of X times their signs; X dense");
}
