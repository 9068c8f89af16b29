#include "rectiline/passes/pass.hpp"

#include "common.hpp"
#include <algorithm>

namespace {

using namespace rectiline;

// A member with the arrays it looks at.
struct Member {
    passes::Member view;
    bool intercept;
    std::vector<nb::object> keep;
};

template <class... Arguments>
void hold(Member& self, const Arguments&... arguments) {
    for (nb::object& one : kept(arguments...))
        self.keep.push_back(std::move(one));
}

void make_member(Member* self, const Rows& rows, VectorIn coef, double intercept,
                 bool fit_intercept) {
    new (self) Member{{}, fit_intercept, kept(rows, coef)};
    self->view.rows = rows.view;
    self->view.coef = in(coef);
    self->view.intercept = intercept;
}

template <std::span<const std::int64_t> passes::Member::* place>
void take_rows(Member& self, IndexIn rows) {
    const auto listed = checked_indices(rows, self.view.rows.n, "rows");
    require(std::is_sorted(listed.begin(), listed.end()), "rows must grow");
    self.view.*place = listed;
    hold(self, rows);
}

void judge(Member& self, VectorIn split, double split_intercept, std::optional<VectorOut> out) {
    self.view.judges = true;
    self.view.split = checked(split, std::ssize(self.view.coef), "split");
    self.view.split_intercept = split_intercept;
    self.view.out = checked(out, self.view.rows.n, "out");
    hold(self, split, out);
}

void split(Member& self, double reach, VectorIn scale, VectorIn mean, double least,
           MatrixIn directions, bool keeps_listed) {
    const std::int64_t d = std::ssize(self.view.coef);
    require(reach > 0, "reach must be positive");
    self.view.splits = true;
    self.view.reach = reach;
    self.view.least = least;
    self.view.scale = checked(scale, d, "scale");
    self.view.mean = checked(mean, d, "mean");
    self.view.directions =
        checked(directions, length(directions) * (d + (self.intercept ? 1 : 0)), "directions");
    self.view.keeps_listed = keeps_listed;
    hold(self, scale, mean, directions);
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
    std::vector<passes::Member> views;
    for (const Member* member : members) {
        require(member->view.rows.n == X.n(), "X and rows differ in rows");
        require(std::ssize(member->view.coef) == X.d(), "coef must have one entry per column");
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
        .def("__init__", &make_member, "rows"_a, "coef"_a, "intercept"_a, "fit_intercept"_a)
        .def("list_rows", &take_rows<&passes::Member::listed>, "rows"_a,
             "Rows that are not frozen, growing")
        .def("keep_rows", &take_rows<&passes::Member::always>, "rows"_a,
             "Rows that are near at the next split in any case, growing")
        .def("judge", &judge, "split"_a, "split_intercept"_a, "out"_a.none() = nb::none(),
             "Judge the candidate with rows frozen at `split`, but for those that are listed")
        .def("split", &split, "reach"_a, "scale"_a, "mean"_a, "least"_a, "directions"_a,
             "keeps_listed"_a, "Prepare the next split around the candidate")
        .def(
            "measure", [](Member& self) { self.view.wants_sizes = true; },
            "Add up the sizes of the columns");
    m.def("run_pass", &run, "X"_a, "members"_a, "fit_intercept"_a, "seconds"_a,
          "One pass over a block of rows; a dictionary of sums for each member, or None if it was "
          "out of time");
}
