// Bases of quantile regressions: optimal by their own conditions, and walks whose scores are those
// of the regressions in which one coefficient is fixed.
#include "rectiline/inference/quantile_basis.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include <cmath>
#include <vector>

using namespace rectiline::inference;

namespace {

constexpr std::int64_t kN = 60, kP = 3;

double uniform(Random& random) {
    return static_cast<double>(random.below(1000000)) * 2e-6 - 1.0;
}

struct Data {
    std::vector<double> columns, y, weight;
};

Data make(Random& random) {
    Data data{std::vector<double>(kN * kP), std::vector<double>(kN), std::vector<double>(kN)};
    for (std::int64_t i = 0; i < kN; ++i) {
        data.columns[i] = 1.0;
        for (std::int64_t k = 1; k < kP; ++k)
            data.columns[k * kN + i] = uniform(random);
        data.y[i] = data.columns[kN + i] + uniform(random);
        data.weight[i] = 1.0 + static_cast<double>(random.below(3));
    }
    return data;
}

std::vector<double> total_of(const std::vector<double>& columns, std::int64_t p,
                             const std::vector<double>& weight, double level) {
    std::vector<double> total(p, 0.0);
    for (std::int64_t k = 0; k < p; ++k)
        for (std::int64_t i = 0; i < kN; ++i)
            total[k] += (1.0 - level) * weight[i] * columns[k * kN + i];
    return total;
}

// The score of the last column at b: the regression on the other columns, solved from scratch.
double score_at(const Data& data, double level, double b) {
    std::vector<double> y = data.y;
    for (std::int64_t i = 0; i < kN; ++i)
        y[i] -= b * data.columns[(kP - 1) * kN + i];
    const auto total = total_of(data.columns, kP - 1, data.weight, level);
    QuantileBasis basis({data.columns.data(), (kP - 1) * kN}, y, kP - 1);
    const std::int64_t first[] = {0, 1};
    Interrupt interrupt;
    CHECK(basis.start(data.weight, total, first) == BasisOutcome::done);
    CHECK(basis.optimise(10000, interrupt) == BasisOutcome::done);
    double score = 0.0;
    for (std::int64_t i = 0; i < kN; ++i) {
        double residual = y[i];
        for (std::int64_t k = 0; k + 1 < kP; ++k)
            residual -= basis.coef()[k] * data.columns[k * kN + i];
        double value = residual > 0.0 ? data.weight[i] : 0.0;
        for (std::int64_t h = 0; h + 1 < kP; ++h)
            if (basis.basis()[h] == i) value = basis.values()[h];
        score += data.columns[(kP - 1) * kN + i] * (value - (1.0 - level) * data.weight[i]);
    }
    return score;
}

void check_basis(Random& random, double level) {
    const Data data = make(random);
    const auto total = total_of(data.columns, kP, data.weight, level);
    QuantileBasis basis(data.columns, data.y, kP);
    const std::int64_t first[] = {0, 1, 2};
    Interrupt interrupt;
    CHECK(basis.start(data.weight, total, first) == BasisOutcome::done);
    CHECK(basis.optimise(10000, interrupt) == BasisOutcome::done);
    std::vector<double> left = total;
    for (std::int64_t i = 0; i < kN; ++i) {
        double residual = data.y[i], value = 0.0;
        for (std::int64_t k = 0; k < kP; ++k)
            residual -= basis.coef()[k] * data.columns[k * kN + i];
        bool basic = false;
        for (std::int64_t h = 0; h < kP; ++h)
            if (basis.basis()[h] == i) {
                basic = true;
                value = basis.values()[h];
                CHECK_NEAR(residual, 0.0, 1e-12);
                CHECK(value >= -1e-9 && value <= data.weight[i] + 1e-9);
            }
        if (!basic) value = residual > 0.0 ? data.weight[i] : 0.0;
        for (std::int64_t k = 0; k < kP; ++k)
            left[k] -= value * data.columns[k * kN + i];
    }
    for (std::int64_t k = 0; k < kP; ++k)
        CHECK_NEAR(left[k], 0.0, 1e-9);

    const std::vector<double> centre = basis.coef();
    const std::vector<double> factor = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const TrustedBall ball{centre, factor, 1e9};
    ScoreSteps steps;
    CHECK(basis.walk(kP - 1, 1.0, 8.0, ball, 10000, steps, interrupt) == BasisOutcome::done);
    CHECK(steps.place.front() == centre[kP - 1] && std::fabs(steps.score.back()) > 8.0);
    for (std::size_t s = 0; s + 1 < steps.place.size(); ++s) {
        CHECK(steps.place[s + 1] >= steps.place[s] && steps.score[s + 1] <= steps.score[s]);
        if (steps.place[s + 1] - steps.place[s] < 1e-9) continue;
        const double middle = 0.5 * (steps.place[s] + steps.place[s + 1]);
        CHECK_NEAR(steps.score[s], score_at(data, level, middle), 1e-8);
    }

    const TrustedBall small{centre, factor, 1e-6};
    CHECK(basis.start(data.weight, total, first) == BasisOutcome::done);
    CHECK(basis.optimise(10000, interrupt) == BasisOutcome::done);
    CHECK(basis.walk(1, -1.0, 8.0, small, 10000, steps, interrupt) == BasisOutcome::out_of_range);
}

}  // namespace

int main() {
    Random random(5);
    for (int repeat = 0; repeat < 10; ++repeat)
        for (const double level : {0.1, 0.5, 0.8})
            check_basis(random, level);
    const std::vector<double> columns = {1, 1, 1}, y = {1, 2, 3}, weight = {1, 1, 1};
    QuantileBasis one(columns, y, 1);
    const double total[] = {1.5};
    const std::int64_t first[] = {2};
    Interrupt interrupt;
    CHECK(one.start(weight, total, first) == BasisOutcome::done);
    CHECK(one.optimise(0, interrupt) == BasisOutcome::limit);
    CHECK(one.optimise(10, interrupt) == BasisOutcome::done && one.coef()[0] == 2.0);
    return check::report();
}
