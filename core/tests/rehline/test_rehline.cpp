// The loop closes the gap, whatever the storage, loss, bounds and constraints.
#include "rectiline/design/products.hpp"
#include "rectiline/rehline/rehline.hpp"
#include "rectiline/rows/certificate.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace rectiline::rehline;
using samples::Compressed;
using samples::Dense;
using samples::Matrix;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct OwnedColumns {
    std::vector<double> rho, l1, lower, upper;
    bool plain;

    OwnedColumns(std::int64_t d, double strength, double sparse, double bound)
        : rho(d, strength),
          l1(d, sparse),
          lower(d, -bound),
          upper(d, bound),
          plain(sparse == 0 && std::isinf(bound)) {}
    ColumnFunctions view() const {
        return {static_cast<std::int64_t>(rho.size()),
                rho.data(),
                l1.data(),
                lower.data(),
                upper.data(),
                plain};
    }
};

struct OwnedConstraints {
    std::vector<double> rows, c;
    std::vector<std::uint8_t> equality;
    std::int64_t d;

    // b_0 + b_1 + ... >= 0.1 and b_0 = b_1
    explicit OwnedConstraints(std::int64_t columns, bool any) : d(columns) {
        if (!any) return;
        rows.assign(static_cast<std::size_t>(2 * d), 0.0);
        for (std::int64_t j = 0; j < d; ++j)
            rows[j] = 1.0;
        rows[d] = 1.0, rows[d + 1] = -1.0;
        c = {-0.1, 0.0}, equality = {0, 1};
    }
    LinearConstraints view() const {
        const std::int64_t m = static_cast<std::int64_t>(c.size());
        return {DenseView<double>{rows.data(), m, d, d, 1}, c, equality};
    }
};

// The gap of the loop's own pair and its worst violation, from the definitions; for no intercept.
double gap_of(const Rehline& loop, const DesignView& X, const RowFunctions& rows,
              const ColumnFunctions& columns, const LinearConstraints& constraints,
              double& violation) {
    violation = 0;
    std::vector<double> g(static_cast<std::size_t>(rows.n)), z(g.size());
    std::vector<double> q(static_cast<std::size_t>(columns.d)), push(q.size(), 0.0);
    loop.sample_dual(g);
    const std::vector<double>& b = loop.coef();
    multiply_both(X, b, g, z, q);
    double gap = row_sums(rows, z, g).fenchel_young;
    if (!constraints.c.empty()) {
        std::vector<double> value(constraints.c.size());
        multiply(constraints.A, b, value);
        multiply_transposed(constraints.A, loop.constraint_dual(), push);
        for (std::size_t k = 0; k < value.size(); ++k) {
            const double slack = value[k] + constraints.c[k];
            if (constraints.equality[k] || slack < 0)
                violation = std::max(violation, std::fabs(slack));
            gap += std::fabs(loop.constraint_dual()[k] * slack);
        }
    }
    for (std::int64_t j = 0; j < columns.d; ++j)  // b maximises q b - h(b)
        CHECK_NEAR(b[j], columns[j].minimiser(push[j] - q[j]), 1e-9);
    return gap;
}

void check_converges(const DesignView& X, const samples::OwnedRows& owned_rows,
                     const OwnedColumns& owned_columns, const OwnedConstraints& owned_constraints,
                     RehlineOptions options, bool screen) {
    const RowFunctions rows = owned_rows.view();
    const ColumnFunctions columns = owned_columns.view();
    const LinearConstraints constraints = owned_constraints.view();
    Rehline loop(X, rows, columns, constraints, options);
    Interrupt never;
    double violation;
    for (int burst = 0; burst < 40; ++burst) {
        loop.run(burst < 3 ? 2 : 30, 1e-8, 0.0, never);
        if (!screen || !constraints.c.empty() || burst >= 3) continue;
        const double gap = gap_of(loop, X, rows, columns, constraints, violation);
        CHECK(loop.screen(gap) <= rows.n);
    }
    const double gap = gap_of(loop, X, rows, columns, constraints, violation);
    const std::vector<double> nothing(static_cast<std::size_t>(rows.n), 0.0);
    CHECK_NEAR(gap, 0.0, 1e-6 * (1 + std::fabs(loss_sum(rows, nothing))));
    CHECK_NEAR(violation, 0.0, 1e-7);
    loop.take_all_rows_back();
    const RehlineProgress after = loop.run(1, 1e-3, 0.0, never);
    CHECK(after.reached && after.sweeps == 1 && !after.interrupted);
}

void check_all(const samples::OwnedCurve& owned) {
    const Matrix X(270, 4, 11, 0.8);
    const Dense<double> by_rows(X, X.d, 1), by_columns(X, 1, X.n);
    const Compressed<double, std::int32_t> sparse(X, true);
    const samples::OwnedRows rows(owned.view(), X.n, 5);
    const OwnedConstraints free(X.d, false), tied(X.d, true);
    const OwnedColumns ridge(X.d, 80, 0, kInfinity), net(X.d, 80, 2, kInfinity),
        box(X.d, 80, 0, 0.2);
    for (const DesignView& view :
         {DesignView(by_rows.view), DesignView(by_columns.view), DesignView(sparse.view)})
        for (const OwnedColumns* columns : {&ridge, &net, &box})
            for (const OwnedConstraints* constraints : {&free, &tied})
                for (const bool plain : {false, true})
                    for (const bool accelerate : {false, true}) {
                        RehlineOptions options;
                        options.shuffle = options.shrink = !plain;
                        options.accelerate = accelerate;
                        check_converges(view, rows, *columns, *constraints, options, !plain);
                    }
}

// Told a gap at the level of rounding, screening must not push rows off the kink they sit on.
void check_screening_at_the_optimum(const samples::OwnedCurve& owned) {
    const Matrix X(270, 4, 12, 0.8);
    const Dense<double> design(X, X.d, 1);
    const samples::OwnedRows rows(owned.view(), X.n, 5);
    const OwnedColumns columns(X.d, 80, 0, kInfinity);
    const OwnedConstraints none(X.d, false);
    Rehline loop(design.view, rows.view(), columns.view(), none.view(), {});
    Interrupt never;
    double violation;
    const auto gap = [&] {
        return gap_of(loop, design.view, rows.view(), columns.view(), none.view(), violation);
    };
    for (int burst = 0; burst < 100 && gap() > 1e-15; ++burst)
        loop.run(30, -1.0, 0.0, never);  // a target out of reach
    const double before = gap();
    loop.screen(before);
    CHECK_NEAR(gap(), before, 1e-6);
    loop.run(50, -1.0, 0.0, never);
    CHECK_NEAR(gap(), 0.0, 1e-6);
}

// The method of multipliers finds the intercept: a median, when X has nothing to say.
void check_intercept() {
    const auto all = samples::curves();
    const Matrix X(101, 2, 3, 0.9);
    const Dense<double> design(X, X.d, 1);
    samples::OwnedRows rows(all[4].view(), X.n, 6);  // squared error
    const OwnedColumns columns(X.d, 50, 0, kInfinity);
    const OwnedConstraints none(X.d, false);
    RehlineOptions options;
    options.intercept_step = 0.05;
    Rehline loop(design.view, rows.view(), columns.view(), none.view(), options);
    Interrupt never;
    for (int k = 0; k < 40; ++k)
        loop.run(100, 0.0, 0.0, never);
    std::vector<double> g(101);
    loop.sample_dual(g);
    double sum = 0, size = 0;
    for (const double v : g)
        sum += v, size += std::fabs(v);
    CHECK_NEAR(sum, 0.0, 1e-9 * size);
}

void check_interrupt() {
    const auto all = samples::curves();
    const Matrix X(20000, 50, 3);
    const Dense<double> design(X, X.d, 1);
    const samples::OwnedRows rows(all[1].view(), X.n, 6);
    const OwnedColumns columns(X.d, 1e-3, 0, kInfinity);
    const OwnedConstraints none(X.d, false);
    Rehline loop(design.view, rows.view(), columns.view(), none.view(), {});
    int asked = 0;
    Interrupt soon([](void* count, std::int64_t) { return ++*static_cast<int*>(count) == 3; },
                   &asked);
    const RehlineProgress done = loop.run(1000000, 0.0, 0.0, soon);
    CHECK(done.interrupted && asked == 3 && done.sweeps < 1000);
    double violation;  // the point is consistent all the same
    gap_of(loop, design.view, rows.view(), columns.view(), none.view(), violation);
}

void check_seed() {
    const auto all = samples::curves();
    const Matrix X(600, 5, 3);
    const Dense<double> design(X, X.d, 1);
    const samples::OwnedRows rows(all[0].view(), X.n, 6);
    const OwnedColumns columns(X.d, 10, 0, kInfinity);
    const OwnedConstraints none(X.d, false);
    std::vector<std::vector<double>> answers;
    for (const std::uint64_t seed : {5u, 5u, 6u}) {
        RehlineOptions options;
        options.seed = seed;
        Rehline loop(design.view, rows.view(), columns.view(), none.view(), options);
        Interrupt never;
        loop.run(3, 0.0, 0.0, never);
        answers.push_back(loop.coef());
    }
    CHECK(answers[0] == answers[1]);
    CHECK(answers[0] != answers[2]);
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& owned : samples::curves()) {
        const int before = check::failures;
        check_all(owned);
        check_screening_at_the_optimum(owned);
        if (check::failures > before) std::printf("the curve was: %s\n", owned.name.c_str());
    }
    check_intercept();
    check_interrupt();
    check_seed();
    return check::report();
}
