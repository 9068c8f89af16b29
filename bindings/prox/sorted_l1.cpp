#include "rectiline/prox/clustered_prox.hpp"

#include "common.hpp"

namespace {

NumpyVector prox(VectorIn v, VectorIn strengths) {
    require(v.shape(0) == strengths.shape(0), "v and strengths must have equal length");
    NumpyVector result = new_vector(v.shape(0));
    nb::gil_scoped_release release;
    rectiline::prox::SortedProx method({strengths.data(), strengths.data() + strengths.shape(0)});
    rectiline::prox::Clusters clusters;
    method.prox(in(v), 1.0, in(result), clusters);
    return result;
}

}  // namespace

void bind_sorted_l1(nb::module_& m) {
    m.def("sorted_l1_prox", &prox, nb::arg("v"), nb::arg("strengths"),
          "argmin_b |b - v|^2 / 2 + sum_k strengths_k |b|_(k), for non-increasing strengths");
}
