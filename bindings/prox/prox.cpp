#include "rectiline/prox/proximal_multipliers.hpp"

#include "common.hpp"

namespace {

using namespace rectiline::prox;

// Group g is columns[starts[g]] .. columns[starts[g + 1] - 1], of `width` columns in all. Plain
// arrays and no object of its own: penalties live in modules until the very end.
Groups groups_of(const IndexIn& columns, const IndexIn& starts, std::int64_t width) {
    const auto at = in(starts);
    require(!at.empty() && at.front() == 0 && at.back() == length(columns),
            "starts must run from 0 to the number of columns");
    require(std::is_sorted(at.begin(), at.end()), "starts must not fall");
    return {checked_indices(columns, width, "columns"), at};
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

using Method = Held<ProximalMultipliers>;

void make(Method* self, IndexIn row, VectorIn sign, VectorIn low, VectorIn high, VectorIn lift,
          VectorIn bend, std::int64_t n_rows, std::int64_t n_ones, double one_scale) {
    const std::int64_t count = length(row);
    require(0 <= n_ones && n_ones <= n_rows, "n_ones must lie between 0 and n_rows");
    const auto values = [&](const VectorIn& array, const char* name) {
        return vector_of(checked(array, count, name));
    };
    ProximalUnits units{vector_of(checked_indices(row, n_rows, "row")),
                        values(sign, "sign"),
                        values(low, "low"),
                        values(high, "high"),
                        values(lift, "lift"),
                        values(bend, "bend")};
    new (self) Method({}, std::move(units), n_rows, n_ones, one_scale);
}

void set_columns(Method& self, const Design& X, std::unique_ptr<ClusteredProx> penalty) {
    const bool by_columns = std::visit(
        [](const auto& view) {
            if constexpr (requires { view.by_rows; })
                return !view.by_rows;
            else
                return view.row_stride == 1 || view.n <= 1;
        },
        X.view);
    require(by_columns, "X must be stored by columns");
    require(X.n() == self.n_rows() && X.d() == penalty->size(),
            "X must have a row per row of the units and a column per coefficient");
    self.set_columns(X.view, std::move(penalty));
    self.keep = kept(X);
}

void set_sorted(Method& self, const Design& X, VectorIn strengths) {
    set_columns(self, X, std::make_unique<SortedProx>(vector_of(strengths)));
}

void set_groups(Method& self, const Design& X, IndexIn columns, IndexIn starts, double strength,
                double l1) {
    groups_of(columns, starts, X.d());
    set_columns(
        self, X,
        std::make_unique<GroupProx>(X.d(), vector_of(columns), vector_of(starts), strength, l1));
}

void set_separable(Method& self, const Design& X, VectorIn l1, VectorIn lower, VectorIn upper) {
    checked(lower, length(l1), "lower");
    checked(upper, length(l1), "upper");
    set_columns(self, X,
                std::make_unique<SeparableProx>(vector_of(l1), vector_of(lower), vector_of(upper)));
}

std::tuple<std::int64_t, double, bool> advance(Method& self, VectorOut dual, VectorOut b, double b0,
                                               double step, double room, double tolerance,
                                               std::int64_t most, double seconds) {
    const auto units = checked(dual, self.n_units(), "dual");
    const auto coef = checked(b, self.n_columns(), "b");
    bool stopped = false;
    const std::int64_t taken = run_interruptibly(seconds, [&](auto& interrupt) {
        const std::int64_t steps =
            self.advance(units, coef, b0, {step, room, tolerance, most}, interrupt);
        stopped = interrupt.stopped();
        return steps;
    });
    return {taken, b0, stopped};
}

}  // namespace

void bind_prox(nb::module_& m) {
    m.def("sorted_l1_prox", &sorted_prox, "v"_a, "strengths"_a,
          "argmin_b |b - v|^2 / 2 + sum_k strengths_k |b|_(k), for non-increasing strengths");
    m.def("group_prox", &prox, "columns"_a, "starts"_a, "radius"_a, "v"_a,
          "argmin_b |b - v|^2 / 2 + radius * sum of largest |b|");
    m.def("signed_sums", &sums_with_signs, "X"_a, "columns"_a, "starts"_a, "signs"_a,
          "One line per group: its columns of X times their signs; X dense");
    nb::class_<Method>(m, "ProximalMultipliers",
                       "Steps of the proximal method of multipliers on units and columns.")
        .def("__init__", &make, "row"_a, "sign"_a, "low"_a, "high"_a, "lift"_a, "bend"_a,
             "n_rows"_a, "n_ones"_a, "one_scale"_a)
        .def("set_sorted", &set_sorted, "X"_a, "strengths"_a)
        .def("set_groups", &set_groups, "X"_a, "columns"_a, "starts"_a, "strength"_a, "l1"_a)
        .def("set_separable", &set_separable, "X"_a, "l1"_a, "lower"_a, "upper"_a)
        .def("advance", &advance, "dual"_a, "b"_a, "b0"_a, "step"_a, "room"_a, "tolerance"_a,
             "most"_a, "seconds"_a,
             "One outer step, in place on dual and b: (Newton steps, b0, stopped)")
        .def_prop_ro("work", &ProximalMultipliers::work,
                     "Products of all Newton steps so far, about");
}
