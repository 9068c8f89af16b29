#include "rectiline/prox/clustered_prox.hpp"

#include "common.hpp"

namespace {

using namespace rectiline::prox;

// Plain arrays and no object of its own: penalties live in modules until the very end.
Groups groups_of(const IndexIn& columns, const IndexIn& starts, std::int64_t width) {
    require_groups(columns, starts, width);
    return {in(columns), in(starts)};
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
    m.def("group_prox", &prox, "columns"_a, "starts"_a, "radius"_a, "v"_a,
          "argmin_b |b - v|^2 / 2 + radius * sum of largest |b|");
    m.def("signed_sums", &sums_with_signs, "X"_a, "columns"_a, "starts"_a, "signs"_a,
          "One line per group: its columns of X times their signs; X dense");
}
