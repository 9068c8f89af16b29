// Working sets against plain definitions: what frozen rows add.
#include "rectiline/newton/newton_rows.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::newton;
using samples::Dense;
using samples::Matrix;
using Vector = std::vector<double>;

namespace {

constexpr std::int64_t n = 90, d = 5, p = d + 1;

double entry(const Matrix& X, std::int64_t i, std::int64_t j) {
    return j < d ? X(i, j) : 1.0;
}

Vector predictions(const Matrix& X, const Vector& b) {
    Vector z(static_cast<std::size_t>(n), 0.0);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < p; ++j)
            z[i] += entry(X, i, j) * b[j];
    return z;
}

void check_gram(const Matrix& X, const Vector& weight, const double* H) {
    for (std::int64_t j = 0; j < p; ++j)
        for (std::int64_t k = 0; k < p; ++k) {
            double sum = 0;
            for (std::int64_t i = 0; i < n; ++i)
                sum += weight[i] * entry(X, i, j) * entry(X, i, k);
            CHECK_NEAR(H[j * p + k], sum, 1e-10 * (1 + std::fabs(sum)));
        }
}

// X and rows on one curve; if `mixed`, by an index, as rows with several curves have it.
struct Data {
    Matrix X;
    Dense<double> dense;
    samples::OwnedRows owned;
    std::vector<std::uint8_t> same;
    RowFunctions rows;

    Data(const Curve& curve, bool mixed, std::uint64_t seed)
        : X(n, d, seed, 1.0),
          dense(X, d, 1),
          owned(curve, n, seed + 1),
          same(static_cast<std::size_t>(n), 0),
          rows(owned.view()) {
        if (mixed) rows.curve_index = same.data();
    }
};

bool near_a_knot(const Curve& curve, double t) {
    for (std::int64_t k = 0; k < curve.n_knots; ++k)
        if (std::fabs(t - curve.knot[k]) < 0.2) return true;
    return false;
}

void check_freezing(const Curve& curve, bool mixed) {
    const Data data(curve, mixed, 21);
    const Matrix& X = data.X;
    const RowFunctions& rows = data.rows;
    NewtonRows set(data.dense.view, rows, true);
    Random random(23);
    Vector g(static_cast<std::size_t>(n));
    for (int round = 0; round < 6; ++round) {
        const Vector b{0.3, -0.2, 0.1 * round, 0.5, 0, 0.2};
        const Vector z = predictions(X, b);
        set.place(b);
        for (std::int64_t i = 0; i < n; ++i) {  // slopes that belong to the arguments
            g[i] = rows.direction[i] * rows.weight[i] * curve.slope_at(rows.argument(i, z[i]));
        }
        set.set_multiplier(g);
        set.evaluate(0.0, 1e12);  // stiff: slopes are those of the curve but for rows at a kink
        std::vector<std::uint8_t> keep(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)  // rows near a knot stay, and a few others
            keep[i] = rows.weight[i] > 0 && (near_a_knot(curve, rows.argument(i, z[i])) ||
                                             samples::uniform(random, 0, 1) < 0.3);
        Interrupt never;
        const auto frozen = set.freeze(keep, g, never);
        if (!frozen) continue;
        Vector sum(p, 0.0), curved(static_cast<std::size_t>(n), 0.0);
        for (std::int64_t i = 0; i < n; ++i) {
            const double t = rows.argument(i, z[i]);
            const double expected =
                keep[i] > 0 ? 0.0 : rows.direction[i] * rows.weight[i] * curve.slope_at(t);
            CHECK_NEAR(g[i], expected, 1e-12);
            if (keep[i] > 0) continue;
            for (std::int64_t j = 0; j < p; ++j)
                sum[j] += expected * entry(X, i, j);
            curved[i] = rows.weight[i] * curve.curvature_at(t);
        }
        for (std::int64_t j = 0; j < p; ++j)
            CHECK_NEAR(frozen->linear[j], sum[j], 1e-10 * (1 + std::fabs(sum[j])));
        CHECK(!frozen->quadratic.empty() ==
              std::any_of(curved.begin(), curved.end(), [](double q) { return q > 0; }));
        if (!frozen->quadratic.empty()) check_gram(X, curved, frozen->quadratic.data());
    }
}

// Linear and quadratic terms follow the change from the user's variables to scaled ones.
void check_change_of_variables() {
    samples::OwnedTerms terms(d, true, 1.0, 0.0);
    Random random(29);
    const auto uniform = [&](std::int64_t size) {
        Vector made(static_cast<std::size_t>(size));
        for (double& value : made)
            value = samples::uniform(random, 0.5, 2);
        return made;
    };
    terms.view.scale = uniform(p), terms.view.center = uniform(d);
    Vector jacobian(p * p), unit(p);
    for (std::int64_t j = 0; j < p; ++j) {
        unit.assign(p, 0.0), unit[j] = 1;
        terms.view.expand(unit, std::span(jacobian).subspan(j * p, p));
    }
    const FrozenTerms before{uniform(p), uniform(p * p), {}};
    FrozenTerms frozen = before;
    frozen.contract(terms.view);
    for (std::int64_t i = 0; i < p; ++i) {
        double linear = 0;
        for (std::int64_t k = 0; k < p; ++k)
            linear += jacobian[i * p + k] * before.linear[k];
        CHECK_NEAR(frozen.linear[i], linear, 1e-12);
        for (std::int64_t j = 0; j < p; ++j) {
            double quadratic = 0;
            for (std::int64_t k = 0; k < p; ++k)
                for (std::int64_t l = 0; l < p; ++l)
                    quadratic +=
                        jacobian[i * p + k] * before.quadratic[k * p + l] * jacobian[j * p + l];
            CHECK_NEAR(frozen.quadratic[i * p + j], quadratic, 1e-11);
        }
    }
}

}  // namespace

int main() {
    check_change_of_variables();
    for (const samples::OwnedCurve& owned : samples::curves()) {
        for (const bool mixed : {false, true}) {
            check_freezing(owned.view(), mixed);
        }
    }
    return check::report();
}
