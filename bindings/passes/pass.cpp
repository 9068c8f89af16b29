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
template <class X>
std::optional<std::vector<Answer>> run_on(const X& rows, std::int64_t n, std::int64_t d,
                                          const std::vector<const Member*>& members, double seconds,
                                          passes::Seen& seen) {
    std::vector<passes::Member> views;
    for (const Member* member : members) {
        require(member->rows.n == n, "X and rows differ in rows");
        require(std::ssize(member->coef) == d, "coef must have one entry per column");
        views.push_back(*member);
    }
    std::vector<passes::Sums> sums;
    const bool done = run_interruptibly(seconds, [&](auto& interrupt) {
        return passes::run_pass(rows, views, interrupt, sums, seen);
    });
    if (!done) return std::nullopt;
    std::vector<Answer> out;
    for (const passes::Sums& one : sums)
        out.push_back(as_dict(one));
    return out;
}

auto run(const Design& X, const std::vector<const Member*>& members, double seconds) {
    passes::Seen seen;
    return run_on(X.view, X.n(), X.d(), members, seconds, seen);
}

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Columns = std::vector<Column<T>>;

// Where columns of n numbers start.
template <class T>
std::vector<const T*> starts(const Columns<T>& X, std::int64_t n) {
    std::vector<const T*> found;
    for (const Column<T>& column : X)
        found.push_back(checked(column, n, "a column").data());
    return found;
}

// Also what was seen of the numbers: the sum of their bits, and whether all are finite.
template <class T>
std::tuple<std::optional<std::vector<Answer>>, std::uint64_t, bool> run_on_columns(
    const Columns<T>& X, const std::vector<const Member*>& members, double seconds) {
    require(!X.empty(), "at least one column is needed");
    const std::int64_t n = length(X[0]);
    const std::vector<const T*> columns = starts(X, n);
    passes::Seen seen;
    auto answers =
        run_on(passes::ColumnsView<T>{columns, n}, n, std::ssize(X), members, seconds, seen);
    return {answers, seen.bits, seen.is_finite};
}

template <class T>
NumpyVector sizes(const Columns<T>& X, VectorIn scale) {
    const std::vector<const T*> columns = starts(X, length(scale));
    return filled(std::ssize(X), [&](auto out) {
        passes::column_sizes(passes::ColumnsView<T>{columns, length(scale)}, in(scale), out);
    });
}

template <class T>
std::pair<std::uint64_t, bool> look(Column<T> x) {
    gil::Released released;
    const passes::Seen seen = passes::look_at(in(x));
    return {seen.bits, seen.is_finite};
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
    constexpr const char* kColumnPass =
        "The answers of `run_pass` for columns that lie apart, and what `look_at` says of them";
    m.def("run_column_pass", &run_on_columns<double>, "X"_a, "members"_a, "seconds"_a, kColumnPass)
        .def("run_column_pass", &run_on_columns<float>, "X"_a, "members"_a, "seconds"_a,
             kColumnPass);
    m.def("column_sizes", &sizes<double>, "X"_a, "scale"_a, "sum_i scale[i] * |X[j][i]|")
        .def("column_sizes", &sizes<float>, "X"_a, "scale"_a, "sum_i scale[i] * |X[j][i]|");
    constexpr const char* kLook =
        "The sum of the memory of numbers in words of 64 bits, which wraps, and whether all "
        "numbers are finite";
    m.def("look_at", &look<double>, "x"_a.noconvert(), kLook)
        .def("look_at", &look<float>, "x"_a.noconvert(), kLook);
}
