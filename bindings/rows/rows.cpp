#include "rectiline/rows/certificate.hpp"
#include "rectiline/rows/row_blocks.hpp"
#include "rectiline/rows/slope_ranges.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "common.hpp"
#include <tuple>

namespace {

using namespace rectiline::rows;

// knots, values, left, right (K each), curvature (K + 1)
using CurveArrays = std::tuple<VectorIn, VectorIn, VectorIn, VectorIn, VectorIn>;

void make_rows(Rows* self, const std::vector<CurveArrays>& curves, VectorIn direction,
               VectorIn offset, VectorIn weight, std::optional<BytesIn> index) {
    const std::size_t n = direction.shape(0);
    require(offset.shape(0) == n && weight.shape(0) == n,
            "direction, offset and weight must have equal length");
    require(!curves.empty(), "at least one curve is needed");
    require(!index || index->shape(0) == n, "curve_index must have one entry per row");
    new (self) Rows();
    for (const auto& [knots, values, left, right, curvature] : curves) {
        const std::size_t K = knots.shape(0);
        require(K > 0 && values.shape(0) == K && left.shape(0) == K && right.shape(0) == K &&
                    curvature.shape(0) == K + 1,
                "a curve has K knots, values and slopes, and K + 1 curvatures");
        self->curves.push_back(Curve{static_cast<std::int64_t>(K), knots.data(), values.data(),
                                     left.data(), right.data(), curvature.data()});
        for (const VectorIn& part : {knots, values, left, right, curvature})
            self->keep.push_back(nb::cast(part));
    }
    if (index)
        for (std::size_t i = 0; i < n; ++i)
            require(index->data()[i] < self->curves.size(), "curve_index is out of range");
    self->keep.push_back(nb::cast(direction));
    self->keep.push_back(nb::cast(offset));
    self->keep.push_back(nb::cast(weight));
    if (index) self->keep.push_back(nb::cast(*index));
    self->view = RowFunctions{static_cast<std::int64_t>(n),
                              self->curves.data(),
                              index ? index->data() : nullptr,
                              direction.data(),
                              offset.data(),
                              weight.data()};
}

void require_rows(const Rows& rows, std::size_t size) {
    require(size == static_cast<std::size_t>(rows.view.n),
            "the vector must have one entry per row");
}

std::pair<double, double> sums(const Rows& rows, VectorIn z, VectorIn g) {
    require_rows(rows, z.shape(0));
    require_rows(rows, g.shape(0));
    RowSums out;
    {
        nb::gil_scoped_release release;
        out = row_sums(rows.view, z.data(), g.data());
    }
    return {out.loss, out.fenchel_young};
}

double loss(const Rows& rows, VectorIn z) {
    require_rows(rows, z.shape(0));
    nb::gil_scoped_release release;
    return loss_sum(rows.view, z.data());
}

NumpyVector slopes(const Rows& rows, VectorIn z) {
    require_rows(rows, z.shape(0));
    NumpyVector g = new_vector(z.shape(0));
    nb::gil_scoped_release release;
    slopes_at(rows.view, z.data(), g.data());
    return g;
}

void clip(const Rows& rows, VectorOut g) {
    require_rows(rows, g.shape(0));
    nb::gil_scoped_release release;
    clip_dual(rows.view, g.data());
}

double balance(const Rows& rows, VectorOut g) {
    require_rows(rows, g.shape(0));
    nb::gil_scoped_release release;
    return balance_dual(rows.view, g.data()).sum;
}

using IndexIn = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MatrixOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Repairs every row of G; returns the sum and the size of each (zeros unless they are balanced).
std::pair<NumpyVector, NumpyVector> repair_many(const Rows& rows, MatrixOut G, bool balanced) {
    require_rows(rows, G.shape(1));
    const std::size_t count = G.shape(0);
    NumpyVector totals = new_vector(count), sizes = new_vector(count);
    {
        nb::gil_scoped_release release;
        const RowBlocks blocks = RowBlocks::with_weight(rows.view);
        for (std::size_t k = 0; k < count; ++k) {
            const Balance found =
                repair_dual(rows.view, blocks, balanced, G.data() + k * G.shape(1));
            totals.data()[k] = found.sum, sizes.data()[k] = found.size;
        }
    }
    return {totals, sizes};
}

// repair_many and sums_of_many, pair by pair; with `from_slopes` G is first set to slopes at Z.
std::tuple<NumpyVector, NumpyVector, NumpyVector, NumpyVector> judged(const Rows& rows, MatrixIn Z,
                                                                      MatrixOut G, bool from_slopes,
                                                                      bool balanced) {
    require_rows(rows, Z.shape(1));
    require_rows(rows, G.shape(1));
    require(Z.shape(0) == G.shape(0), "there must be as many predictions as multipliers");
    const std::size_t count = Z.shape(0);
    NumpyVector losses = new_vector(count), gaps = new_vector(count);
    NumpyVector totals = new_vector(count), sizes = new_vector(count);
    {
        nb::gil_scoped_release release;
        std::vector<Judgement> found(count);
        judge_many(rows.view, static_cast<std::int64_t>(count), Z.data(), G.data(), from_slopes,
                   balanced, found.data());
        for (std::size_t k = 0; k < count; ++k) {
            losses.data()[k] = found[k].sums.loss, gaps.data()[k] = found[k].sums.fenchel_young;
            totals.data()[k] = found[k].balance.sum, sizes.data()[k] = found[k].balance.size;
        }
    }
    return {losses, gaps, totals, sizes};
}

// (loss, Fenchel-Young gap) for every row of Z and G.
std::pair<NumpyVector, NumpyVector> sums_of_many(const Rows& rows, MatrixIn Z, MatrixIn G) {
    require_rows(rows, Z.shape(1));
    require_rows(rows, G.shape(1));
    require(Z.shape(0) == G.shape(0), "there must be as many predictions as multipliers");
    const std::size_t count = Z.shape(0);
    NumpyVector losses = new_vector(count), gaps = new_vector(count);
    {
        nb::gil_scoped_release release;
        std::vector<RowSums> sums(count);
        row_sums_of_many(rows.view, static_cast<std::int64_t>(count), Z.data(), G.data(),
                         sums.data());
        for (std::size_t k = 0; k < count; ++k)
            losses.data()[k] = sums[k].loss, gaps.data()[k] = sums[k].fenchel_young;
    }
    return {losses, gaps};
}

// Slopes of every row's cost, for every row of Z.
NumpyMatrix slopes_of_many(const Rows& rows, MatrixIn Z) {
    require_rows(rows, Z.shape(1));
    const std::size_t count = Z.shape(0), n = Z.shape(1);
    NumpyMatrix G = new_matrix(count, n);
    nb::gil_scoped_release release;
    for (std::size_t k = 0; k < count; ++k)
        slopes_at(rows.view, Z.data() + k * n, G.data() + k * n);
    return G;
}

std::tuple<double, double, double, double> sums_of_slopes(const Rows& rows, double z) {
    nb::gil_scoped_release release;
    const SlopeSums sums = slope_sums(rows.view, z);
    return {sums.low, sums.low_size, sums.high, sums.high_size};
}

std::pair<NumpyVector, NumpyVector> ranges_of_slopes(const Rows& rows, double z) {
    const std::size_t n = static_cast<std::size_t>(rows.view.n);
    NumpyVector low = new_vector(n), high = new_vector(n);
    {
        nb::gil_scoped_release release;
        slope_ranges(rows.view, z, low.data(), high.data());
    }
    return {low, high};
}

double bend_near(const Rows& rows, double z) {
    nb::gil_scoped_release release;
    return nearest_bend(rows.view, z);
}

bool is_any_inside(const Rows& rows, VectorIn g, double margin, std::optional<IndexIn> index) {
    if (!index) {
        require_rows(rows, g.shape(0));
        nb::gil_scoped_release release;
        return any_inside(rows.view, nullptr, rows.view.n, g.data(), margin);
    }
    require(index->shape(0) == g.shape(0), "index and g must have equal length");
    const auto count = static_cast<std::int64_t>(g.shape(0));
    for (std::int64_t k = 0; k < count; ++k)
        require(0 <= index->data()[k] && index->data()[k] < rows.view.n, "index is out of range");
    nb::gil_scoped_release release;
    return any_inside(rows.view, index->data(), count, g.data(), margin);
}

void make_columns(Columns* self, VectorIn rho, VectorIn l1, VectorIn lower, VectorIn upper) {
    const std::size_t d = rho.shape(0);
    require(l1.shape(0) == d && lower.shape(0) == d && upper.shape(0) == d,
            "rho, l1, lower and upper must have equal length");
    bool plain = true;
    for (std::size_t j = 0; j < d && plain; ++j)
        plain = rho.data()[j] == rho.data()[0] && l1.data()[j] == 0 &&
                std::isinf(lower.data()[j]) && std::isinf(upper.data()[j]);
    new (self) Columns{
        {static_cast<std::int64_t>(d), rho.data(), l1.data(), lower.data(), upper.data(), plain},
        {nb::cast(rho), nb::cast(l1), nb::cast(lower), nb::cast(upper)}};
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<Rows>(m, "RowFunctions",
                     "Row i costs weight[i] * phi(direction[i] * z[i] + offset[i]).")
        .def("__init__", &make_rows, nb::arg("curves"), nb::arg("direction"), nb::arg("offset"),
             nb::arg("weight"), nb::arg("curve_index") = nb::none())
        .def("sums", &sums, nb::arg("z"), nb::arg("g"), "(loss, Fenchel-Young gap) over all rows")
        .def("loss", &loss, nb::arg("z"), "Sum of the losses, compensated")
        .def("slopes", &slopes, nb::arg("z"), "A slope of each row's cost at z")
        .def("clip", &clip, nb::arg("g").noconvert(), "Clip g into its boxes, in place")
        .def("balance", &balance, nb::arg("g").noconvert(),
             "Move g into its boxes and to sum 0, in place; returns what is left of the sum")
        .def("repair_many", &repair_many, nb::arg("G").noconvert(), nb::arg("balanced"),
             "Clip, and balance if asked, every row of G in place; returns what is left of each "
             "sum and the sum of the sizes of its terms")
        .def("sums_of_many", &sums_of_many, nb::arg("Z"), nb::arg("G"),
             "sums of every pair of rows of Z and G")
        .def("judge_many", &judged, nb::arg("Z"), nb::arg("G").noconvert(), nb::arg("from_slopes"),
             nb::arg("balanced"),
             "repair_many and sums_of_many in one pass; returns losses, gaps, totals, sizes")
        .def("slopes_of_many", &slopes_of_many, nb::arg("Z"), "slopes at every row of Z")
        .def("slope_sums", &sums_of_slopes, nb::arg("z"),
             "At the prediction z of every row: sum and size of the left derivatives, and of the "
             "right ones")
        .def("slope_ranges", &ranges_of_slopes, nb::arg("z"),
             "The left and the right derivative of each row's cost at the prediction z")
        .def("nearest_bend", &bend_near, nb::arg("z"),
             "The prediction nearest to z at which some row is at a knot")
        .def("any_inside", &is_any_inside, nb::arg("g"), nb::arg("margin"),
             nb::arg("index").none() = nb::none(),
             "Whether some row, or one of those at `index`, has its g inside its box by more than "
             "this share of its width");
    nb::class_<Columns>(m, "ColumnFunctions",
                        "Column j costs rho[j]/2 b^2 + l1[j] |b| on [lower[j], upper[j]].")
        .def("__init__", &make_columns, nb::arg("rho"), nb::arg("l1"), nb::arg("lower"),
             nb::arg("upper"));
}
