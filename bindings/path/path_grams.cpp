#include "rectiline/path/path_grams.hpp"

#include "rectiline/path/path_ranges.hpp"

#include <nanobind/stl/pair.h>

#include "common.hpp"

namespace {

using namespace rectiline::path;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using NumpyStack = nb::ndarray<nb::numpy, double, nb::ndim<3>>;

NumpyStack grams(const Design& X, const Rows& rows, VectorIn weight, MatrixIn Z, bool intercept,
                 int n_threads) {
    require(rows.view.n == n_rows(X.view), "X and rows differ in rows");
    require(static_cast<std::int64_t>(Z.shape(1)) == rows.view.n, "Z must have one column per row");
    require(static_cast<std::int64_t>(weight.shape(0)) == rows.view.n, "one weight per row");
    const std::size_t order = static_cast<std::size_t>(n_columns(X.view)) + (intercept ? 1 : 0);
    const std::size_t count = Z.shape(0);
    double* data = new double[std::max<std::size_t>(count * order * order, 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    {
        nb::gil_scoped_release release;
        path_grams(X.view, rows.view, weight.data(), Z.data(), static_cast<std::int64_t>(count),
                   intercept, data, n_threads);
    }
    return NumpyStack(data, {count, order, order}, owner);
}

std::pair<NumpyVector, NumpyVector> ranges(VectorIn there, VectorIn least, VectorIn most,
                                           VectorIn here, double margin) {
    const std::size_t n = there.shape(0);
    require(least.shape(0) == n && most.shape(0) == n && here.shape(0) == n,
            "all vectors must have one entry per row");
    NumpyVector low = new_vector(n), high = new_vector(n);
    {
        nb::gil_scoped_release release;
        path_ranges({there.data(), least.data(), most.data()}, static_cast<std::int64_t>(n),
                    here.data(), margin, low.data(), high.data());
    }
    return {low, high};
}

}  // namespace

void bind_path_grams(nb::module_& m) {
    m.def("path_grams", &grams, nb::arg("X"), nb::arg("rows"), nb::arg("weight"), nb::arg("Z"),
          nb::arg("intercept"), nb::arg("n_threads"),
          "For every row of predictions in Z, the Gram matrix of the rows of X (by rows) weighted "
          "by `weight` times the curvature of their loss there");
    m.def("path_ranges", &ranges, nb::arg("there"), nb::arg("least"), nb::arg("most"),
          nb::arg("here"), nb::arg("margin"),
          "Ends of the predictions of a path, now `here`, beside a known one, which is `there` now "
          "and lies between `least` and `most` from now on");
}
