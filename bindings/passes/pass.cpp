#include "rectiline/passes/pass.hpp"

#include "common.hpp"

namespace {

using namespace rectiline;

using Member = Held<passes::Member>;

// Rows of a list that grows.
std::span<const std::int64_t> growing(const IndexIn& rows, std::int64_t n, const char* name) {
    const auto listed = checked_indices(rows, n, name);
    require(std::is_sorted(listed.begin(), listed.end()), "rows must grow");
    return listed;
}

using Point = std::pair<VectorIn, double>;
// reach, directions, scale, mean, least, rows that are near anyhow
using Split = std::tuple<double, MatrixIn, VectorIn, VectorIn, double, IndexIn>;

void make_member(Member* self, const Rows& rows, const Point& point, bool has_intercept,
                 IndexIn listed, std::optional<Point> split, std::optional<VectorOut> out,
                 std::optional<Split> next_split) {
    const std::int64_t d = length(point.first);
    passes::Member view{rows.view, in(point.first), point.second, has_intercept};
    view.listed = growing(listed, rows.n(), "listed");
    if (split) {
        view.evaluates = true;
        view.split = checked(split->first, d, "split");
        view.split_intercept = split->second;
        view.out = checked(out, rows.n(), "out");
    }
    if (next_split) {
        const auto& [reach, directions, scale, mean, least, always] = *next_split;
        require(reach > 0, "reach must be positive");
        view.splits = true;
        view.reach = reach, view.least = least;
        view.scale = checked(scale, d, "scale"), view.mean = checked(mean, d, "mean");
        view.directions =
            checked(directions, length(directions) * (d + (has_intercept ? 1 : 0)), "directions");
        view.always = growing(always, rows.n(), "always");
    }
    new (self) Member(kept(rows, point, listed, split, out, next_split), view);
}

using Answer = nb::typed<nb::dict, nb::str, nb::any>;

Answer as_dict(const passes::Sums& sums) {
    constexpr const char* kNames[] = {"loss",       "gap",    "error",       "total",
                                      "total_size", "weight", "change_total"};
    nb::dict out;
    for (std::size_t k = 0; k < sums.rows.size(); ++k)
        out[kNames[k]] = sums.rows[k];
    out["steepest"] = sums.steepest;
    out["gradient"] = copy_vector(sums.gradient), out["change"] = copy_vector(sums.change);
    out["curvature"] = copy_vector(sums.curvature), out["near"] = copy_vector(sums.near);
    return Answer(out);
}

// One dictionary of sums for each member; nothing if the deadline came first.
std::optional<std::vector<Answer>> run(const Design& X, const std::vector<const Member*>& members,
                                       double seconds) {
    std::vector<passes::Member> views;
    for (const Member* member : members) {
        require(member->rows.n == n_rows(X.view), "X and rows differ in rows");
        require(std::ssize(member->coef) == n_columns(X.view),
                "coef must have one entry per column");
        views.push_back(*member);
    }
    std::vector<passes::Sums> sums;
    const bool done = run_interruptibly(
        seconds, [&](auto& interrupt) { return passes::run_pass(X.view, views, interrupt, sums); });
    if (!done) return std::nullopt;
    std::vector<Answer> out;
    for (const passes::Sums& one : sums)
        out.push_back(as_dict(one));
    return out;
}

}  // namespace

void bind_passes(nb::module_& m) {
    nb::class_<Member>(m, "PassMember", "What one problem wants to know from a pass over rows.")
        .def("__init__", &make_member, "rows"_a, "point"_a, "fit_intercept"_a, "listed"_a,
             "split"_a.none() = nb::none(), "out"_a.none() = nb::none(),
             "next_split"_a.none() = nb::none(),
             "The candidate; rows that are not frozen, growing; where the others are frozen, if it "
             "is evaluated, and where to write their multipliers; and how to split the rows around "
             "it");
    m.def("run_pass", &run, "X"_a, "members"_a, "seconds"_a,
          "One pass over a block of rows; a dictionary of sums for each member, or None if it was "
          "out of time");
}
