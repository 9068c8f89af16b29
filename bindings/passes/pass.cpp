#include "rectiline/passes/pass.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "../common.hpp"
#include <algorithm>
#include <optional>
#include <vector>

namespace {

using namespace rectiline;

// A member with the arrays it looks at.
struct Member {
    passes::Member view;
    bool intercept;
    std::vector<nb::object> keep;
};

void make_member(Member* self, const Rows& rows, VectorIn coef, double intercept,
                 bool fit_intercept) {
    new (self) Member();
    self->view.rows = rows.view;
    self->view.coef = in(coef);
    self->view.intercept = intercept;
    self->intercept = fit_intercept;
    self->keep = {nb::find(rows), nb::cast(coef)};
}

// The rows, which are kept alive with the member.
std::span<const std::int64_t> take_rows(Member& self, const IndexIn& listed) {
    const auto rows = in(listed);
    require(std::is_sorted(rows.begin(), rows.end()), "listed rows must grow");
    require(rows.empty() || (rows.front() >= 0 && rows.back() < self.view.rows.n),
            "listed rows must be rows of the block");
    self.keep.push_back(nb::cast(listed));
    return rows;
}

void keep_rows(Member& self, IndexIn rows) {
    self.view.always = take_rows(self, rows);
}

void list_rows(Member& self, IndexIn listed) {
    self.view.listed = take_rows(self, listed);
}

void judge(Member& self, VectorIn split, double split_intercept, std::optional<VectorOut> out) {
    require(split.shape(0) == self.view.coef.size(), "split must have one entry per column");
    self.view.judges = true;
    self.view.split = in(split);
    self.view.split_intercept = split_intercept;
    self.keep.push_back(nb::cast(split));
    if (out) {
        require(length(*out) == self.view.rows.n, "out must have one entry per row");
        self.view.out = in(*out);
        self.keep.push_back(nb::cast(*out));
    }
}

void split(Member& self, double reach, VectorIn scale, VectorIn mean, double least,
           MatrixIn directions, bool keeps_listed) {
    const std::size_t d = self.view.coef.size();
    require(scale.shape(0) == d && mean.shape(0) == d,
            "scale and mean must have one entry per column");
    require(directions.shape(1) == d + (self.intercept ? 1 : 0),
            "directions must have one entry per column, and one for the intercept");
    require(reach > 0, "reach must be positive");
    self.view.splits = true;
    self.view.reach = reach;
    self.view.least = least;
    self.view.scale = in(scale);
    self.view.mean = in(mean);
    self.view.directions = in(directions);
    self.view.keeps_listed = keeps_listed;
    for (const nb::object& part : {nb::cast(scale), nb::cast(mean), nb::cast(directions)})
        self.keep.push_back(part);
}

using Answer = nb::typed<nb::dict, nb::str, nb::any>;

Answer as_dict(const passes::Sums& sums) {
    nb::dict out;
    out["loss"] = sums.loss, out["gap"] = sums.gap;
    out["error"] = sums.error, out["total"] = sums.total, out["total_size"] = sums.total_size;
    out["steepest"] = sums.steepest, out["weight"] = sums.weight, out["crossed"] = sums.crossed;
    out["gradient"] = copy_vector(sums.gradient), out["sizes"] = copy_vector(sums.sizes);
    out["change_total"] = sums.change_total, out["change"] = copy_vector(sums.change);
    out["curvature"] = copy_vector(sums.curvature);
    out["near"] = copy_vector(sums.near);
    return Answer(out);
}

// One dictionary of sums for each member; nothing if the deadline came first.
std::optional<std::vector<Answer>> run(const Design& X, const std::vector<const Member*>& members,
                                       bool fit_intercept, double seconds) {
    const auto d = static_cast<std::size_t>(design::n_columns(X.view));
    std::vector<passes::Member> views;
    for (const Member* member : members) {
        require(member->view.rows.n == design::n_rows(X.view), "X and rows differ in rows");
        require(member->view.coef.size() == d, "coef must have one entry per column");
        require(member->intercept == fit_intercept, "members must agree about the intercept");
        views.push_back(member->view);
    }
    std::vector<passes::Sums> sums;
    const bool done = run_interruptibly(seconds, [&](auto& interrupt) {
        return passes::run_pass(X.view, views, fit_intercept, interrupt, sums);
    });
    if (!done) return std::nullopt;
    std::vector<Answer> out;
    for (const passes::Sums& one : sums)
        out.push_back(as_dict(one));
    return out;
}

}  // namespace

void bind_passes(nb::module_& m) {
    nb::class_<Member>(m, "PassMember", "What one problem wants to know from a pass over rows.")
        .def("__init__", &make_member, nb::arg("rows"), nb::arg("coef"), nb::arg("intercept"),
             nb::arg("fit_intercept"))
        .def("list_rows", &list_rows, nb::arg("rows"), "Rows that are not frozen, growing")
        .def("keep_rows", &keep_rows, nb::arg("rows"),
             "Rows that are near at the next split in any case, growing")
        .def("judge", &judge, nb::arg("split"), nb::arg("split_intercept"),
             nb::arg("out").none() = nb::none(),
             "Judge the candidate with rows frozen at `split`, but for those that are listed")
        .def("split", &split, nb::arg("reach"), nb::arg("scale"), nb::arg("mean"), nb::arg("least"),
             nb::arg("directions"), nb::arg("keeps_listed"),
             "Prepare the next split around the candidate")
        .def(
            "measure", [](Member& self) { self.view.wants_sizes = true; },
            "Add up the sizes of the columns");
    m.def("run_pass", &run, nb::arg("X"), nb::arg("members"), nb::arg("fit_intercept"),
          nb::arg("seconds"),
          "One pass over a block of rows; a dictionary of sums for each member, or None if it was "
          "out of time");
}
