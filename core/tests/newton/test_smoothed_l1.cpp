// The smoothed program under L1 against its optimality conditions, written out plainly.
#include "rectiline/newton/smoothed_l1.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <cmath>
#include <vector>

using namespace rectiline::newton;
using Vector = std::vector<double>;

namespace {

constexpr std::int64_t n = 120, d = 7;
constexpr double kStrength = 4.0;

// The slope s of the envelope at w is that of the curve at w - mu s.
void check_slope(const Curve& curve, double w, double s, double mu) {
    constexpr double kBeside = 1e-9;
    const double at = w - mu * s;
    CHECK(s >= curve.slope_at(at - kBeside) - 1e-6);
    CHECK(s <= curve.slope_at(at + kBeside) + 1e-6);
}

void check_optimum(const Curve& curve, double mu, bool intercept, std::int64_t first_columns) {
    const samples::Matrix X(n, d, 5);
    const samples::OwnedRows owned(curve, n, 6);
    const RowFunctions rows = owned.view();
    SmoothedL1 method(rows, intercept);
    Interrupt never;
    const auto add = [&](std::int64_t first, std::int64_t last) {
        Vector values;
        std::vector<std::int32_t> indices;
        std::vector<std::int64_t> pointers{0};
        for (std::int64_t j = first; j < last; ++j) {
            for (std::int64_t i = 0; i < n; ++i)
                values.push_back(X(i, j)), indices.push_back(static_cast<std::int32_t>(i));
            pointers.push_back(std::ssize(values));
        }
        method.add(values, indices, pointers,
                   Vector(static_cast<std::size_t>(last - first), kStrength));
    };
    // Columns come in two parts, as a method that grows its set adds them.
    add(0, first_columns);
    method.sweep(mu, true, never);
    add(first_columns, d);
    for (int k = 0; k < 20; ++k)
        method.sweep(mu, k % 4 == 0, never);
    for (int k = 0; k < 100 && std::fabs(method.step(mu, never)) > 1e-12; ++k) {
    }
    const auto b = method.coefficients();
    CHECK(std::ssize(b) == d);
    CHECK(intercept || method.intercept() == 0);
    Vector z(static_cast<std::size_t>(n)), g(z.size());
    method.predictions(z);
    method.dual(mu, g);
    double total = 0;
    Vector q(static_cast<std::size_t>(d), 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
        double sum = method.intercept();
        for (std::int64_t j = 0; j < d; ++j) {
            sum += X(i, j) * b[j];
            q[j] += X(i, j) * g[i];
        }
        CHECK_NEAR(z[i], sum, 1e-10);
        total += g[i];
        if (rows.weight[i] > 0)
            check_slope(curve, rows.argument(i, z[i]), rows.direction[i] * g[i] / rows.weight[i],
                        mu);
        else
            CHECK(g[i] == 0);
    }
    if (intercept) CHECK_NEAR(total, 0.0, 1e-5);
    for (std::int64_t j = 0; j < d; ++j) {
        if (b[j] == 0)
            CHECK(std::fabs(q[j]) <= kStrength + 1e-5);
        else
            CHECK_NEAR(q[j], b[j] > 0 ? -kStrength : kStrength, 1e-5);
    }
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& owned : samples::curves()) {
        if (owned.name == "constant") continue;  // nothing to find
        for (const double mu : {1.0, 0.05})
            for (const bool intercept : {false, true})
                check_optimum(owned.view(), mu, intercept, intercept ? 3 : d);
    }
    return check::report();
}
