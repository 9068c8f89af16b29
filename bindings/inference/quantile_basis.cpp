#include "rectiline/inference/quantile_basis.hpp"

#include "common.hpp"

namespace {

using rectiline::inference::BasisOutcome;
using rectiline::inference::LevelSteps;
using rectiline::inference::QuantileBasis;
using rectiline::inference::ScoreSteps;
using rectiline::inference::TrustedBall;

constexpr double kNoDeadline = 1e300;

// In the order of `BasisOutcome`.
constexpr const char* kWords[] = {"done",  "unbounded", "out_of_range",
                                  "limit", "singular",  "stopped"};

const char* word(BasisOutcome outcome) {
    return kWords[static_cast<std::size_t>(outcome)];
}

// The compiled object with the arrays it looks at.
class Basis {
  public:
    Basis(MatrixIn columns, VectorIn y)
        : columns_(columns), y_(y), basis_(in(columns), in(y), length(columns)) {
        checked(columns, length(columns) * length(y), "columns");
        require(columns.shape(0) > 0 && columns.shape(1) >= columns.shape(0),
                "there must be at least as many samples as columns");
    }

    std::tuple<const char*, NumpyVector, NumpyIndices, std::int64_t> solve(
        VectorIn weight, VectorIn total, IndexIn first, std::int64_t most_steps) {
        const auto weights = checked(weight, basis_.n(), "weight");
        const auto totals = checked(total, basis_.p(), "total");
        checked(first, basis_.p(), "basis");
        const auto samples = checked_indices(first, basis_.n(), "basis");
        weight_ = weight;
        total_ = total;
        const BasisOutcome outcome = run_interruptibly(kNoDeadline, [&](auto& interrupt) {
            const BasisOutcome started = basis_.start(weights, totals, samples);
            return started == BasisOutcome::done ? basis_.optimise(most_steps, interrupt) : started;
        });
        return std::make_tuple(word(outcome), copy_vector(basis_.coef()),
                               copy_vector(basis_.basis()), basis_.n_steps());
    }

    std::tuple<const char*, NumpyVector, NumpyVector> walk(std::int64_t column, double direction,
                                                           double until, VectorIn centre,
                                                           MatrixIn factor, double radius,
                                                           std::int64_t most_steps) {
        const std::int64_t p = basis_.p();
        require(column >= 0 && column < p, "column out of range");
        require(direction == 1.0 || direction == -1.0, "direction must be 1 or -1");
        require(weight_.is_valid(), "solve comes first");
        const TrustedBall ball{checked(centre, p, "centre"), checked(factor, p * p, "factor"),
                               radius};
        ScoreSteps steps;
        const BasisOutcome outcome = run_interruptibly(kNoDeadline, [&](auto& interrupt) {
            return basis_.walk(column, direction, until, ball, most_steps, steps, interrupt);
        });
        return std::make_tuple(word(outcome), copy_vector(steps.place), copy_vector(steps.score));
    }

    std::tuple<const char*, NumpyVector, NumpyIndices> follow(double level, double direction,
                                                              std::int64_t most_steps) {
        require(level > 0 && level < 1, "level must lie between 0 and 1");
        require(direction == 1.0 || direction == -1.0, "direction must be 1 or -1");
        require(weight_.is_valid(), "solve comes first");
        LevelSteps steps;
        const BasisOutcome outcome = run_interruptibly(kNoDeadline, [&](auto& interrupt) {
            return basis_.follow(level, direction, most_steps, steps, interrupt);
        });
        return std::make_tuple(word(outcome), copy_vector(steps.level), copy_vector(steps.basis));
    }

  private:
    MatrixIn columns_;
    VectorIn y_, weight_, total_;
    QuantileBasis basis_;
};

}  // namespace

void bind_quantile_basis(nb::module_& m) {
    nb::class_<Basis>(m, "QuantileBasis",
                      "A quantile regression held by p samples; see quantile_basis.hpp.")
        .def(nb::init<MatrixIn, VectorIn>(), "columns"_a, "y"_a)
        .def("solve", &Basis::solve, "weight"_a, "total"_a, "basis"_a, "most_steps"_a,
             "Optimise from a basis; outcome, coefficients, basis, exchanges.")
        .def("walk", &Basis::walk, "column"_a, "direction"_a, "until"_a, "centre"_a, "factor"_a,
             "radius"_a, "most_steps"_a,
             "After solve: where the score of one fixed coefficient falls, and to what.")
        .def("follow", &Basis::follow, "level"_a, "direction"_a, "most_steps"_a,
             "After solve at a level: the levels on the way to 0 or 1 from which on a basis is "
             "optimal, and the bases, one after the other.");
}
