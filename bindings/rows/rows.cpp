#include "rectiline/rows/certificate.hpp"
#include "rectiline/rows/labels.hpp"
#include "rectiline/rows/scales.hpp"
#include "rectiline/rows/slope_ranges.hpp"
#include "rectiline/rows/states.hpp"

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

std::pair<double, double> sums(const Rows& rows, VectorIn z, VectorIn g) {
    require_rows(rows, z.shape(0));
    require_rows(rows, g.shape(0));
    nb::gil_scoped_release release;
    const RowSums out = row_sums(rows.view, in(z), in(g));
    return {out.loss, out.fenchel_young};
}

double loss(const Rows& rows, VectorIn z) {
    require_rows(rows, z.shape(0));
    nb::gil_scoped_release release;
    return loss_sum(rows.view, in(z));
}

NumpyVector slopes(const Rows& rows, VectorIn z) {
    require_rows(rows, z.shape(0));
    NumpyVector g = new_vector(z.shape(0));
    nb::gil_scoped_release release;
    slopes_at(rows.view, in(z), in(g));
    return g;
}

using StateArrays =
    std::tuple<NumpyVector, NumpyVector, NumpyVector, nb::ndarray<nb::numpy, bool, nb::ndim<1>>>;

StateArrays states(const Rows& rows, VectorIn z, VectorIn g, std::int64_t most) {
    require_rows(rows, z.shape(0));
    require_rows(rows, g.shape(0));
    require(most >= 0, "most must not be negative");
    const std::size_t n = z.shape(0);
    StateArrays found{new_vector(n), new_vector(n), new_vector(n), new_array<bool>(n)};
    auto& [moved, bend, target, held] = found;
    {
        nb::gil_scoped_release release;
        row_states(rows.view, in(z), in(g), most, {in(moved), in(bend), in(target), in(held)});
    }
    return found;
}

void clip(const Rows& rows, VectorOut g) {
    require_rows(rows, g.shape(0));
    nb::gil_scoped_release release;
    clip_dual(rows.view, in(g));
}

double balance(const Rows& rows, VectorOut g) {
    require_rows(rows, g.shape(0));
    nb::gil_scoped_release release;
    return balance_dual(rows.view, in(g)).sum;
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
        slope_ranges(rows.view, z, in(low), in(high));
    }
    return {low, high};
}

std::pair<NumpyVector, NumpyVector> boxes(const Rows& rows, const std::vector<double>& least,
                                          const std::vector<double>& most) {
    require(least.size() == rows.curves.size() && most.size() == rows.curves.size(),
            "least and most must have one entry per curve");
    const std::size_t n = static_cast<std::size_t>(rows.view.n);
    NumpyVector low = new_vector(n), high = new_vector(n);
    {
        nb::gil_scoped_release release;
        slope_boxes(rows.view, least, most, in(low), in(high));
    }
    return {low, high};
}

double spread(const Rows& rows, bool about_median) {
    nb::gil_scoped_release release;
    return offset_spread(rows.view, about_median);
}

double bend_near(const Rows& rows, double z) {
    nb::gil_scoped_release release;
    return nearest_bend(rows.view, z);
}

bool is_any_inside(const Rows& rows, VectorIn g, double margin, std::optional<IndexIn> index) {
    if (!index) {
        require_rows(rows, g.shape(0));
        nb::gil_scoped_release release;
        return any_inside(rows.view, in(g), margin);
    }
    require(index->shape(0) == g.shape(0), "index and g must have equal length");
    for (const std::int64_t i : in(*index))
        require(0 <= i && i < rows.view.n, "index is out of range");
    nb::gil_scoped_release release;
    return any_inside(rows.view, in(*index), in(g), margin);
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

std::tuple<bool, bool, bool> kinds_of_columns(const Columns& columns) {
    const auto& view = columns.view;
    bool strongly_convex = true, has_l1 = false, has_bounds = false;
    for (std::int64_t j = 0; j < view.d; ++j) {
        const auto column = view[j];
        strongly_convex = strongly_convex && column.rho > 0;
        has_l1 = has_l1 || column.l1 > 0;
        has_bounds = has_bounds || column.is_bounded();
    }
    return {strongly_convex, has_l1, has_bounds};
}

std::pair<NumpyVector, NumpyVector> dual_range(const Columns& columns) {
    const auto& view = columns.view;
    NumpyVector low = new_vector(static_cast<std::size_t>(view.d));
    NumpyVector high = new_vector(static_cast<std::size_t>(view.d));
    for (std::int64_t j = 0; j < view.d; ++j)
        low.data()[j] = view[j].least_slope(), high.data()[j] = view[j].most_slope();
    return {low, high};
}

std::optional<NumpyVector> label_signs(VectorIn y) {
    NumpyVector sign = new_vector(y.shape(0));
    bool are_two = false;
    {
        nb::gil_scoped_release release;
        are_two = signs_of_labels(in(y), in(sign)).are_two;
    }
    return are_two ? std::optional(sign) : std::nullopt;
}

}  // namespace

void bind_rows(nb::module_& m) {
    m.def("label_signs", &label_signs, nb::arg("y"),
          "-1 for the smaller and +1 for the larger of two labels; None unless y holds two finite "
          "ones");
    nb::class_<Rows>(m, "RowFunctions",
                     "Row i costs weight[i] * phi(direction[i] * z[i] + offset[i]).")
        .def("__init__", &make_rows, nb::arg("curves"), nb::arg("direction"), nb::arg("offset"),
             nb::arg("weight"), nb::arg("curve_index") = nb::none())
        .def("sums", &sums, nb::arg("z"), nb::arg("g"), "(loss, Fenchel-Young gap) over all rows")
        .def("loss", &loss, nb::arg("z"), "Sum of the losses, compensated")
        .def("slopes", &slopes, nb::arg("z"), "A slope of each row's cost at z")
        .def("states", &states, nb::arg("z"), nb::arg("g"), nb::arg("most"),
             "Multiplier, curvature and prediction of the knot for the piece or knot that each row "
             "of a nearly optimal pair sits on, and whether it is a knot; at most `most` are")
        .def("clip", &clip, nb::arg("g").noconvert(), "Clip g into its boxes, in place")
        .def("balance", &balance, nb::arg("g").noconvert(),
             "Move g into its boxes and to sum 0, in place; returns what is left of the sum")
        .def("slope_sums", &sums_of_slopes, nb::arg("z"),
             "At the prediction z of every row: sum and size of the left derivatives, and of the "
             "right ones")
        .def("slope_ranges", &ranges_of_slopes, nb::arg("z"),
             "The left and the right derivative of each row's cost at the prediction z")
        .def("boxes", &boxes, nb::arg("least"), nb::arg("most"),
             "The range of slopes of each row's cost in z, given those of each curve")
        .def("offset_spread", &spread, nb::arg("about_median"),
             "The median distance of the offsets from their median, or from zero; the mean "
             "distance where that is zero")
        .def("nearest_bend", &bend_near, nb::arg("z"),
             "The prediction nearest to z at which some row is at a knot")
        .def("any_inside", &is_any_inside, nb::arg("g"), nb::arg("margin"),
             nb::arg("index").none() = nb::none(),
             "Whether some row, or one of those at `index`, has its g inside its box by more than "
             "this share of its width");
    nb::class_<Columns>(m, "ColumnFunctions",
                        "Column j costs rho[j]/2 b^2 + l1[j] |b| on [lower[j], upper[j]].")
        .def("__init__", &make_columns, nb::arg("rho"), nb::arg("l1"), nb::arg("lower"),
             nb::arg("upper"))
        .def("kinds", &kinds_of_columns,
             "Whether every rho[j] is positive, any l1[j] is, and any bound is finite")
        .def("dual_range", &dual_range,
             "The ends of where the conjugate of each column's cost is finite");
}
