#include "rectiline/path/judge_slopes.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "common.hpp"
#include <algorithm>
#include <tuple>
#include <vector>

namespace {

using namespace rectiline::path;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IndexIn = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using NumpyMatrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

void check_few(IndexIn first, IndexIn row, std::size_t count, std::int64_t n) {
    require(first.shape(0) == count + 1, "first must have an entry more than B has rows");
    const std::int64_t *start = first.data(), *places = row.data();
    require(start[0] == 0 && start[count] == static_cast<std::int64_t>(row.shape(0)) &&
                std::is_sorted(start, start + count + 1),
            "first must grow from 0 to the number of rows listed");
    for (std::size_t k = 0; k < count; ++k)
        for (std::int64_t e = start[k]; e < start[k + 1]; ++e)
            require(0 <= places[e] && places[e] < n && (e == start[k] || places[e - 1] < places[e]),
                    "rows must be in range and grow");
}

// losses, gaps, totals, sizes, Q
std::tuple<NumpyVector, NumpyVector, NumpyVector, NumpyVector, NumpyMatrix> judged(
    const Design& X, const Rows& rows, MatrixIn B, VectorIn shift, IndexIn reference,
    const std::vector<VectorIn>& S, IndexIn first, IndexIn row, VectorOut g, bool balanced) {
    const std::size_t count = B.shape(0), d = static_cast<std::size_t>(n_columns(X.view));
    require(rows.view.n == n_rows(X.view), "X and rows differ in rows");
    require(B.shape(1) == d, "B must have one entry per column");
    require(shift.shape(0) == count && reference.shape(0) == count,
            "there must be one shift and one reference per row of B");
    for (const VectorIn& one : S)
        require(one.shape(0) == static_cast<std::size_t>(rows.view.n),
                "vectors in S must have one entry per row");
    std::vector<const double*> slopes(count, nullptr);
    for (std::size_t k = 0; k < count; ++k) {
        const std::int64_t place = reference.data()[k];
        require(place < static_cast<std::int64_t>(S.size()),
                "reference must be a place in S, or negative");
        if (place >= 0) slopes[k] = S[static_cast<std::size_t>(place)].data();
    }
    require(row.shape(0) == g.shape(0), "row and g must have equal length");
    check_few(first, row, count, rows.view.n);
    NumpyVector losses = new_vector(count), gaps = new_vector(count);
    NumpyVector totals = new_vector(count), sizes = new_vector(count);
    double* data = new double[std::max<std::size_t>(count * d, 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    {
        nb::gil_scoped_release release;
        std::vector<SlopeSums> sums(count);
        judge_slopes(X.view, rows.view,
                     {static_cast<std::int64_t>(count), B.data(), shift.data(), slopes.data()},
                     {first.data(), row.data(), g.data()}, balanced, sums.data(), data);
        for (std::size_t k = 0; k < count; ++k) {
            losses.data()[k] = sums[k].loss, gaps.data()[k] = sums[k].fenchel_young;
            totals.data()[k] = sums[k].total, sizes.data()[k] = sums[k].size;
        }
    }
    return {losses, gaps, totals, sizes, NumpyMatrix(data, {count, d}, owner)};
}

}  // namespace

void bind_judge_slopes(nb::module_& m) {
    m.def("judge_slopes", &judged, nb::arg("X"), nb::arg("rows"), nb::arg("B"), nb::arg("shift"),
          nb::arg("reference"), nb::arg("S"), nb::arg("first"), nb::arg("row"),
          nb::arg("g").noconvert(), nb::arg("balanced"),
          "Sums for certificates of pairs whose multipliers are slopes: those in a vector of S, or "
          "at their own predictions (reference -1), but g at some rows, which is clipped and "
          "balanced in place; returns (losses, gaps, totals, sizes, X' times the multipliers)");
}
