// The Newton model solves its equations in both dimensions, and repeated steps of the proximal
// method of multipliers end at pairs that prove each other optimal, with exact clusters.
#include "rectiline/prox/proximal_multipliers.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

using namespace rectiline::prox;

namespace {

double uniform(Random& random) {
    return static_cast<double>(random.below(1000000)) * 2e-6 - 1.0;
}

void check_model(Random& random, std::int64_t count) {
    const std::int64_t n = 6;
    const std::vector<std::int64_t> row = {0, 1, 2, 3, 4, 5, 1, 4};
    std::vector<double> sign(row.size());
    UnitModel model(row, sign, n);
    const std::span<double> F = model.vectors(count);
    std::vector<double> kept(static_cast<std::size_t>(count * n));
    for (std::size_t k = 0; k < kept.size(); ++k)
        F[k] = kept[k] = uniform(random);
    for (std::size_t u = 0; u < row.size(); ++u) {
        sign[u] = u % 3 == 0 ? -1.0 : 1.0;
        model.diagonal()[u] = 0.2 + 0.1 * static_cast<double>(u);
    }
    const std::vector<std::int64_t> free = {0, 1, 3, 6, 7};
    std::vector<double> right(free.size()), move(row.size(), 0.0), image(row.size());
    for (double& one : right)
        one = uniform(random);
    const std::vector<double> wanted = right;
    Interrupt never;
    CHECK(model.solve(free, right, never));
    for (std::size_t k = 0; k < free.size(); ++k)
        move[free[k]] = right[k];
    model.multiply(move, image);
    for (std::size_t k = 0; k < free.size(); ++k)
        CHECK(std::fabs(image[free[k]] - wanted[k]) < 1e-10);
}

// Equal vectors far above the diagonal leave a matrix without a factor in double precision: a ridge
// replaces what rounding lost, and the answer is finite.
void check_ridges() {
    const std::vector<std::int64_t> row = {0, 1}, free = {0, 1};
    const std::vector<double> sign = {1.0, 1.0};
    UnitModel model(row, sign, 2);
    for (double& one : model.vectors(3))
        one = 1e12;
    std::fill(model.diagonal().begin(), model.diagonal().end(), 1e-3);
    std::vector<double> right = {1.0, 1.0};
    Interrupt never;
    CHECK(model.solve(free, right, never));
    CHECK(std::isfinite(right[0]) && std::isfinite(right[1]));
}

// Systems that cannot be solved in the time left are not begun, and the point stays as it was.
void check_interrupts(Random& random) {
    const std::int64_t n = 800, count = 600;
    std::vector<std::int64_t> row(static_cast<std::size_t>(n));
    std::iota(row.begin(), row.end(), 0);
    const std::vector<double> sign(row.size(), 1.0), kept(row.size(), 0.5);
    UnitModel model(row, sign, n);
    for (double& one : model.vectors(count))
        one = uniform(random);
    std::fill(model.diagonal().begin(), model.diagonal().end(), 1.0);
    struct Asked {
        int most, times = 0;
        static bool check(void* self, std::int64_t) {
            auto& asked = *static_cast<Asked*>(self);
            return ++asked.times > asked.most;
        }
    };
    // Asked before the copy of the vectors, the square and its factor.
    for (int most = 0; most < 4; ++most) {
        Asked asked{most};
        Interrupt interrupt(&Asked::check, &asked);
        std::vector<double> right = kept;
        CHECK(model.solve(row, right, interrupt) == (most == 3));
        CHECK((right == kept) == (most < 3));
        CHECK(asked.times == std::min(most + 1, 3));
    }
}

// max over 0 <= a <= 1 of a (1 - y z): the hinge, y = sign of the row.
struct Problem {
    std::int64_t n = 14, d = 9;
    std::vector<double> X;
    ProximalUnits units;

    explicit Problem(Random& random) : X(static_cast<std::size_t>(n * d)) {
        for (double& one : X)
            one = uniform(random);
        for (std::int64_t i = 0; i < n; ++i) {
            units.row.push_back(i);
            units.sign.push_back(i % 2 == 0 ? -1.0 : 1.0);
            units.low.push_back(0.0);
            units.high.push_back(1.0);
            units.lift.push_back(1.0);
            units.bend.push_back(0.0);
        }
    }
    DesignView view() const { return DenseView<double>{X.data(), n, d, 1, n}; }
};

// The gap of a pair after the multipliers are shrunk into the dual ball of `norm`.
template <class Norm, class DualNorm>
void check_pair(const Problem& problem, std::unique_ptr<ClusteredProx> penalty, Norm norm,
                DualNorm dual_norm) {
    const std::int64_t n = problem.n, d = problem.d;
    ProximalMultipliers method(problem.units, n, n, 1.0 / std::sqrt(static_cast<double>(n)));
    method.set_columns(problem.view(), std::move(penalty));
    std::vector<double> a(static_cast<std::size_t>(n), 0.5), b(static_cast<std::size_t>(d), 0.0);
    double b0 = 0.0, step = 1.0, room = 1.0;
    Interrupt never;
    for (int k = 0; k < 120; ++k) {
        const std::int64_t taken = method.advance(a, b, b0, {step, room, 1e-9, 30}, never);
        const double factor = taken < 8 ? 2.0 : taken == 30 ? 0.2 : 1.0;
        step = std::min(factor * step, 1e5);
        room = std::min(factor * room, 1e5);
    }
    std::vector<double> q(static_cast<std::size_t>(d), 0.0);
    double primal = norm(b), dual = 0.0, balance = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        double z = b0;
        for (std::int64_t j = 0; j < d; ++j) {
            z += problem.X[j * n + i] * b[j];
            q[j] -= problem.X[j * n + i] * problem.units.sign[i] * a[i];
        }
        primal += std::max(0.0, 1.0 + problem.units.sign[i] * z);
        dual += a[i];
        balance += problem.units.sign[i] * a[i];
        CHECK(a[i] >= 0.0 && a[i] <= 1.0);
    }
    dual /= std::max(1.0, dual_norm(q));
    CHECK(std::fabs(balance) < 1e-6);
    CHECK(primal - dual < 1e-5 * primal && primal - dual > -1e-5 * primal);
}

std::vector<double> sizes(const std::vector<double>& values) {
    std::vector<double> found(values.size());
    std::transform(values.begin(), values.end(), found.begin(),
                   [](double one) { return std::fabs(one); });
    std::sort(found.rbegin(), found.rend());
    return found;
}

void check_sorted(Random& random) {
    const Problem problem(random);
    std::vector<double> strengths(static_cast<std::size_t>(problem.d));
    for (std::size_t k = 0; k < strengths.size(); ++k)
        strengths[k] = 0.8 - 0.05 * static_cast<double>(k);
    check_pair(
        problem, std::make_unique<SortedProx>(strengths),
        [&](const std::vector<double>& b) {
            const std::vector<double> sorted = sizes(b);
            return std::inner_product(sorted.begin(), sorted.end(), strengths.begin(), 0.0);
        },
        [&](const std::vector<double>& q) {
            const std::vector<double> sorted = sizes(q);
            double paid = 0.0, budget = 0.0, worst = 0.0;
            for (std::size_t k = 0; k < sorted.size(); ++k) {
                paid += sorted[k], budget += strengths[k];
                worst = std::max(worst, paid / budget);
            }
            return worst;
        });
}

void check_groups(Random& random) {
    const Problem problem(random);
    const std::vector<std::int64_t> columns = {0, 3, 6, 1, 4, 7, 2, 5, 8}, starts = {0, 3, 6, 9};
    const double strength = 1.2;
    // Group g holds the columns g, g + 3 and g + 6.
    const auto sizes = [](const std::vector<double>& v, int g) {
        return std::vector<double>{std::fabs(v[g]), std::fabs(v[g + 3]), std::fabs(v[g + 6])};
    };
    check_pair(
        problem, std::make_unique<GroupProx>(problem.d, columns, starts, strength, 0.0),
        [&](const std::vector<double>& b) {
            double total = 0.0;
            for (int g = 0; g < 3; ++g)
                total += std::ranges::max(sizes(b, g));
            return strength * total;
        },
        [&](const std::vector<double>& q) {
            double most = 0.0;
            for (int g = 0; g < 3; ++g) {
                const std::vector<double> group = sizes(q, g);
                most = std::max(most, std::accumulate(group.begin(), group.end(), 0.0));
            }
            return most / strength;
        });
}

void check_separable(Random& random) {
    const Problem problem(random);
    const std::size_t d = static_cast<std::size_t>(problem.d);
    const std::vector<double> l1(d, 0.5), low(d, -HUGE_VAL), high(d, HUGE_VAL);
    check_pair(
        problem, std::make_unique<SeparableProx>(l1, low, high),
        [](const std::vector<double>& b) {
            double total = 0.0;
            for (const double one : b)
                total += 0.5 * std::fabs(one);
            return total;
        },
        [](const std::vector<double>& q) { return sizes(q)[0] / 0.5; });
}

void check_clusters() {
    SortedProx penalty({1.0, 0.5, 0.1});
    const double v[] = {2.0, -1.9, 0.05};
    double b[3];
    Clusters clusters;
    const double value = penalty.prox(v, 1.0, b, clusters);
    CHECK(b[0] == -b[1] && b[2] == 0.0 && clusters.count() == 1);
    CHECK(clusters.places.size() == 2 && std::fabs(b[0] - 1.2) < 1e-15);
    CHECK(std::fabs(value - 1.44) < 1e-14);
}

}  // namespace

int main() {
    check_ridges();
    Random random(5);
    check_interrupts(random);
    for (const std::int64_t count : {0, 2, 4, 5, 9})
        check_model(random, count);
    for (int trial = 0; trial < 10; ++trial) {
        check_sorted(random);
        check_groups(random);
        check_separable(random);
    }
    check_clusters();
    return check::report();
}
