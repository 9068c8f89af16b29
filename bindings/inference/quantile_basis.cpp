#include "rectiline/inference/quantile_basis.hpp"

#include "common.hpp"

namespace {

using namespace rectiline::inference;
using Basis = Held<QuantileBasis>;  // keeps columns and y, and the weights since `solve`

const char* word(BasisOutcome outcome) {
    constexpr const char* kWords[] = {"done",  "unbounded", "out_of_range",
                                      "limit", "singular",  "stopped"};
    return kWords[static_cast<std::size_t>(outcome)];  // in the order of the outcomes
}

void make(Basis* self, MatrixIn columns, VectorIn y) {
    const std::int64_t p = length(columns);
    const auto entries = checked(columns, p * length(y), "columns");
    require(p > 0 && length(y) >= p, "there must be at least as many samples as columns");
    new (self) Basis(kept(columns, y), entries, in(y), p);
}

auto solve(Basis& self, VectorIn weight, VectorIn total, IndexIn first, std::int64_t most_steps) {
    const auto weights = checked(weight, self.n(), "weight");
    const auto totals = checked(total, self.p(), "total");
    checked(first, self.p(), "basis");
    const auto samples = checked_indices(first, self.n(), "basis");
    self.keep.resize(2);
    self.keep.push_back(object_of(weight));
    const BasisOutcome outcome = run_interruptibly(kNoDeadline, [&](auto& interrupt) {
        const BasisOutcome started = self.start(weights, totals, samples);
        return started == BasisOutcome::done ? self.optimise(most_steps, interrupt) : started;
    });
    return std::tuple(word(outcome), copy_vector(self.coef()), copy_vector(self.basis()),
                      self.n_steps());
}

void require_start(const Basis& self, double direction) {
    require(direction == 1.0 || direction == -1.0, "direction must be 1 or -1");
    require(self.keep.size() > 2, "solve comes first");
}

auto walk(Basis& self, std::int64_t column, double direction, double until, VectorIn centre,
          MatrixIn factor, double radius, std::int64_t most_steps) {
    const std::int64_t p = self.p();
    require(column >= 0 && column < p, "column out of range");
    require_start(self, direction);
    const TrustedBall ball{checked(centre, p, "centre"), checked(factor, p * p, "factor"), radius};
    ScoreSteps steps;
    const BasisOutcome outcome = run_interruptibly(kNoDeadline, [&](auto& interrupt) {
        return self.walk(column, direction, until, ball, most_steps, steps, interrupt);
    });
    return std::tuple(word(outcome), copy_vector(steps.place), copy_vector(steps.score));
}

auto follow(Basis& self, double level, double direction, std::int64_t most_steps) {
    require(level > 0 && level < 1, "level must lie between 0 and 1");
    require_start(self, direction);
    LevelSteps steps;
    const BasisOutcome outcome = run_interruptibly(kNoDeadline, [&](auto& interrupt) {
        return self.follow(level, direction, most_steps, steps, interrupt);
    });
    return std::tuple(word(outcome), copy_vector(steps.level), copy_vector(steps.basis));
}

}  // namespace

void bind_quantile_basis(nb::module_& m) {
    nb::class_<Basis>(m, "QuantileBasis",
                      "A quantile regression held by p samples; see quantile_basis.hpp.")
        .def("__init__", &make, "columns"_a, "y"_a)
        .def("solve", &solve, "weight"_a, "total"_a, "basis"_a, "most_steps"_a,
             "Optimise from a basis; outcome, coefficients, basis, exchanges.")
        .def("walk", &walk, "column"_a, "direction"_a, "until"_a, "centre"_a, "factor"_a,
             "radius"_a, "most_steps"_a,
             "After solve: where the score of one fixed coefficient falls, and to what.")
        .def("follow", &follow, "level"_a, "direction"_a, "most_steps"_a,
             "After solve at a level: the levels on the way to 0 or 1 from which on a basis is "
             "optimal, and the bases, one after the other.");
}
