#include "rectiline/rows/certificate.hpp"

#include "common.hpp"

namespace {

using namespace rectiline::rows;

// knots, values, left, right (K each), curvature (K + 1)
using CurveArrays = std::tuple<VectorIn, VectorIn, VectorIn, VectorIn, VectorIn>;

void make_rows(Rows* self, const std::vector<CurveArrays>& curves, VectorIn direction,
               VectorIn offset, VectorIn weight, std::optional<BytesIn> index) {
    const std::int64_t n = length(direction);
    checked(offset, n, "offset");
    checked(weight, n, "weight");
    require(!curves.empty(), "at least one curve is needed");
    checked(index, n, "curve_index");
    checked_indices(in(index), std::ssize(curves), "curve_index");
    new (self) Rows{{}, {}, kept(direction, offset, weight, index, nb::cast(curves))};
    for (const auto& [knots, values, left, right, curvature] : curves) {
        const std::int64_t K = length(knots);
        require(K > 0, "a curve needs a knot");
        self->curves.push_back(Curve{
            K, knots.data(), checked(values, K, "values").data(), checked(left, K, "left").data(),
            checked(right, K, "right").data(), checked(curvature, K + 1, "curvature").data()});
    }
    self->view = RowFunctions{n,
                              self->curves.data(),
                              index ? index->data() : nullptr,
                              direction.data(),
                              offset.data(),
                              weight.data()};
}

// A function of the core that takes vectors with one entry per row, without the GIL.
template <auto function, class... Vectors>
auto on_rows(const Rows& rows, Vectors... vectors) {
    (checked(vectors, rows.n(), "a vector over rows"), ...);
    gil::Released released;
    return function(rows.view, in(vectors)...);
}

std::pair<double, double> both_sums(const RowFunctions& rows, std::span<const double> z,
                                    std::span<const double> g) {
    const RowSums out = row_sums(rows, z, g);
    return {out.loss, out.fenchel_young};
}

double balance(const RowFunctions& rows, std::span<double> g) {
    return balance_dual(rows, g).sum;
}

NumpyVector slopes(const Rows& rows, VectorIn z) {
    const auto at = checked(z, rows.n(), "z");
    return filled(rows.n(), [&](auto g) { slopes_at(rows.view, at, g); });
}

using StateArrays =
    std::tuple<NumpyVector, NumpyVector, NumpyVector, nb::ndarray<nb::numpy, bool, nb::ndim<1>>>;

StateArrays states(const Rows& rows, VectorIn z, VectorIn g, std::int64_t most) {
    const std::int64_t n = rows.n();
    const auto at = checked(z, n, "z"), dual = checked(g, n, "g");
    require(most >= 0, "most must not be negative");
    StateArrays found{new_vector(n), new_vector(n), new_vector(n), new_array<bool>(n)};
    auto& [moved, bend, target, held] = found;
    gil::Released released;
    row_states(rows.view, at, dual, most, {in(moved), in(bend), in(target), in(held)});
    return found;
}

auto boxes_of_multipliers(const Rows& rows) {
    return all_filled([&](auto low, auto high) { dual_boxes(rows.view, low, high); }, rows.n(),
                      rows.n());
}

auto ranges_of_slopes(const Rows& rows, double z) {
    return all_filled([&](auto low, auto high) { slope_ranges(rows.view, z, low, high); }, rows.n(),
                      rows.n());
}

void make_columns(Columns* self, VectorIn rho, VectorIn l1, VectorIn lower, VectorIn upper) {
    const std::int64_t d = length(rho);
    const auto strengths = checked(l1, d, "l1");
    const auto low = checked(lower, d, "lower"), high = checked(upper, d, "upper");
    bool plain = true;
    for (std::int64_t j = 0; j < d && plain; ++j)
        plain = rho.data()[j] == rho.data()[0] && strengths[j] == 0 && std::isinf(low[j]) &&
                std::isinf(high[j]);
    new (self) Columns{{d, rho.data(), l1.data(), lower.data(), upper.data(), plain},
                       kept(rho, l1, lower, upper)};
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

auto dual_range(const Columns& columns) {
    const auto find = [&](auto low, auto high) {
        for (std::int64_t j = 0; j < columns.d(); ++j)
            low[j] = columns.view[j].least_slope(), high[j] = columns.view[j].most_slope();
    };
    return all_filled(find, columns.d(), columns.d());
}

}  // namespace

void bind_rows(nb::module_& m) {
    nb::class_<Rows>(m, "RowFunctions",
                     "Row i costs weight[i] * phi(direction[i] * z[i] + offset[i]).")
        .def("__init__", &make_rows, "curves"_a, "direction"_a, "offset"_a, "weight"_a,
             "curve_index"_a = nb::none())
        .def("sums", &on_rows<both_sums, VectorIn, VectorIn>, "z"_a, "g"_a,
             "(loss, Fenchel-Young gap) over all rows")
        .def("loss", &on_rows<loss_sum, VectorIn>, "z"_a, "Sum of the losses, compensated")
        .def("slopes", &slopes, "z"_a, "A slope of each row's cost at z")
        .def("states", &states, "z"_a, "g"_a, "most"_a,
             "Multiplier, curvature and prediction of the knot for the piece or knot that each row "
             "of a nearly optimal pair sits on, and whether it is a knot; at most `most` are")
        .def("clip", &on_rows<clip_dual, VectorOut>, "g"_a.noconvert(),
             "Clip g into its boxes, in place")
        .def("balance", &on_rows<balance, VectorOut>, "g"_a.noconvert(),
             "Move g into its boxes and to sum 0, in place; returns what is left of the sum")
        .def("dual_boxes", &boxes_of_multipliers,
             "The least and the largest slope of each row's cost")
        .def("slope_ranges", &ranges_of_slopes, "z"_a,
             "The left and the right derivative of each row's cost at the prediction z");
    nb::class_<Columns>(m, "ColumnFunctions",
                        "Column j costs rho[j]/2 b^2 + l1[j] |b| on [lower[j], upper[j]].")
        .def("__init__", &make_columns, "rho"_a, "l1"_a, "lower"_a, "upper"_a)
        .def("kinds", &kinds_of_columns,
             "Whether every rho[j] is positive, any l1[j] is, and any bound is finite")
        .def("dual_range", &dual_range,
             "The ends of where the conjugate of each column's cost is finite");
}
