#include "rectiline/inference/quantile_basis.hpp"

#include <nanobind/stl/tuple.h>

#include "common.hpp"
#include <tuple>

namespace {

using rectiline::inference::BasisOutcome;
using rectiline::inference::QuantileBasis;
using rectiline::inference::ScoreSteps;
using rectiline::inference::TrustedBall;

constexpr double kNoDeadline = 1e300;

const char* word(BasisOutcome outcome) {
    switch (outcome) {
        case BasisOutcome::done:
            return "done";
        case BasisOutcome::unbounded:
            return "unbounded";
        case BasisOutcome::out_of_range:
            return "out_of_range";
        case BasisOutcome::limit:
            return "limit";
        case BasisOutcome::singular:
            return "singular";
        case BasisOutcome::stopped:
            return "stopped";
    }
    return "stopped";
}

// The compiled object with the arrays it looks at.
class Basis {
  public:
    Basis(MatrixIn columns, VectorIn y)
        : columns_(columns), y_(y), basis_(in(columns), in(y), length(columns)) {
        require(columns.shape(1) == y.shape(0), "columns and y must have equally many samples");
        require(columns.shape(0) > 0 && columns.shape(1) >= columns.shape(0),
                "there must be at least as many samples as columns");
    }

    std::tuple<const char*, NumpyVector, NumpyIndices, std::int64_t> solve(
        VectorIn weight, VectorIn total, IndexIn first, std::int64_t most_steps) {
        check(weight, total, first);
        weight_ = weight;
        total_ = total;
        const BasisOutcome outcome = run_interruptibly(kNoDeadline, [&](auto& interrupt) {
            const BasisOutcome started = basis_.start(in(weight), in(total), in(first));
            return started == BasisOutcome::done ? basis_.optimise(most_steps, interrupt) : started;
        });
        return std::make_tuple(word(outcome), copy_vector(basis_.coef()),
                               copy_vector(basis_.basis()), basis_.n_steps());
    }

    std::tuple<const char*, NumpyVector, NumpyVector> walk(std::int64_t column, double direction,
                                                           double until, VectorIn centre,
                                                           MatrixIn factor, double radius,
                                                           std::int64_t most_steps) {
        const auto p = static_cast<std::size_t>(basis_.p());
        require(column >= 0 && column < basis_.p(), "column out of range");
        require(direction == 1.0 || direction == -1.0, "direction must be 1 or -1");
        require(centre.shape(0) == p && factor.shape(0) == p && factor.shape(1) == p,
                "centre and factor must have as many entries as there are columns");
        require(weight_.is_valid(), "solve comes first");
        const TrustedBall ball{in(centre), in(factor), radius};
        ScoreSteps steps;
        const BasisOutcome outcome = run_interruptibly(kNoDeadline, [&](auto& interrupt) {
            return basis_.walk(column, direction, until, ball, most_steps, steps, interrupt);
        });
        return std::make_tuple(word(outcome), copy_vector(steps.place), copy_vector(steps.score));
    }

  private:
    void check(const VectorIn& weight, const VectorIn& total, const IndexIn& first) const {
        require(weight.shape(0) == static_cast<std::size_t>(basis_.n()),
                "weight must have one entry per sample");
        const auto p = static_cast<std::size_t>(basis_.p());
        require(total.shape(0) == p && first.shape(0) == p,
                "total and basis must have as many entries as there are columns");
        for (std::size_t h = 0; h < p; ++h)
            require(first.data()[h] >= 0 && first.data()[h] < basis_.n(), "basis out of range");
    }

    MatrixIn columns_;
    VectorIn y_, weight_, total_;
    QuantileBasis basis_;
};

}  // namespace

void bind_quantile_basis(nb::module_& m) {
    nb::class_<Basis>(m, "QuantileBasis",
                      "A quantile regression held by p samples; see quantile_basis.hpp.")
        .def(nb::init<MatrixIn, VectorIn>(), nb::arg("columns"), nb::arg("y"))
        .def("solve", &Basis::solve, nb::arg("weight"), nb::arg("total"), nb::arg("basis"),
             nb::arg("most_steps"),
             "Optimise from a basis; outcome, coefficients, basis, exchanges.")
        .def("walk", &Basis::walk, nb::arg("column"), nb::arg("direction"), nb::arg("until"),
             nb::arg("centre"), nb::arg("factor"), nb::arg("radius"), nb::arg("most_steps"),
             "After solve: where the score of one fixed coefficient falls, and to what.");
}
