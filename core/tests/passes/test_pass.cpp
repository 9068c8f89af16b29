// A pass over rows agrees with plain sums, and its bits do not depend on the number of threads.
#include "rectiline/passes/pass.hpp"
#include "rectiline/support/threads.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::passes;

namespace {

constexpr std::int64_t n = 3 * 2048 + 137, d = 3;  // several tasks, the last one short
constexpr double kReach = 0.1;

struct Found {
    std::vector<Sums> sums;
    std::vector<double> multipliers;

    bool operator==(const Found& other) const {
        if (multipliers != other.multipliers) return false;
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const Sums &a = sums[k], &b = other.sums[k];
            if (a.rows != b.rows || a.gradient != b.gradient || a.change != b.change ||
                a.curvature != b.curvature || a.near != b.near)
                return false;
        }
        return true;
    }
};

// Two members: one evaluates a pair and splits around it, the other splits for the first time.
Found run(const rectiline::design::DesignView& X, const rectiline::rows::RowFunctions& rows,
          std::span<const double> coef, std::span<const std::int64_t> listed, int threads) {
    rectiline::support::set_thread_count(threads);
    const std::vector<double> ones(d, 1.0), zeros(d, 0.0);
    std::vector<double> unit(d * d, 0.0);
    for (std::int64_t j = 0; j < d; ++j)
        unit[j * d + j] = 1.0;
    Found found;
    found.multipliers.assign(n, -1.0);
    Member first{rows, coef, 0.0};
    first.splits = true, first.reach = kReach;
    first.scale = ones, first.mean = zeros, first.directions = unit;
    Member evaluated = first;
    evaluated.evaluates = true;
    evaluated.split = coef, evaluated.listed = listed, evaluated.out = found.multipliers;
    const std::vector<Member> members{evaluated, first};
    rectiline::support::Interrupt never;
    CHECK(run_pass(X, members, never, found.sums));
    return found;
}

void check_pass(const samples::OwnedCurve& curve) {
    const samples::Matrix X(n, d, 11);
    const samples::OwnedRows owned(curve.view(), n, 12);
    const rectiline::rows::RowFunctions rows = owned.view();
    const std::vector<double> coef{0.7, -0.4, 0.2};
    const std::vector<std::int64_t> listed{5, 2047, 2048, n - 1};
    const samples::Dense<double> dense(X, d, 1);
    const samples::Compressed<double, std::int32_t> sparse(X, true);
    const Found found = run(dense.view, rows, coef, listed, 1);
    for (const int threads : {2, 4})
        CHECK(run(dense.view, rows, coef, listed, threads) == found);
    const Found compressed = run(sparse.view, rows, coef, listed, 1);
    CHECK(run(sparse.view, rows, coef, listed, 3) == compressed);

    double loss = 0, total = 0;
    std::vector<double> gradient(d, 0.0);
    const std::vector<std::int64_t>& near = found.sums[1].near;
    for (std::int64_t i = 0; i < n; ++i) {
        double z = 0, length = 0;
        for (std::int64_t j = 0; j < d; ++j) {
            z += X(i, j) * coef[j], length += X(i, j) * X(i, j);
            gradient[j] += found.multipliers[i] * X(i, j);
        }
        const double t = rows.direction[i] * z + rows.offset[i];
        double distance = std::numeric_limits<double>::infinity();
        for (const double knot : curve.knot)
            distance = std::min(distance, std::fabs(t - knot));
        const bool is_listed = std::ranges::binary_search(listed, i);
        if (!is_listed) loss += rows.weight[i] * curve.view().loss(t);
        total += found.multipliers[i];
        if (is_listed)
            CHECK(found.multipliers[i] == 0.0);
        else if (distance > 1e-9) {  // the slope of a piece, by differences that are exact for it
            const double h = std::min(0.5 * distance, 1e-3);
            const double slope = (curve.view().loss(t + h) - curve.view().loss(t - h)) / (2 * h);
            CHECK_NEAR(found.multipliers[i], rows.weight[i] * rows.direction[i] * slope, 1e-9);
        }
        const double reach = kReach * std::sqrt(length);
        const bool is_near = std::ranges::binary_search(near, i);
        if (rows.weight[i] > 0 && distance < reach * (1 - 1e-9)) CHECK(is_near);
        if (distance > reach * (1 + 1e-9)) CHECK(!is_near);
    }
    for (const Found* one : {&found, &compressed}) {
        const Sums& sums = one->sums[0];
        CHECK_NEAR(sums.rows[kLoss], loss, 1e-9 * (1 + loss));
        CHECK_NEAR(sums.rows[kTotal], total, 1e-9 * n);
        for (std::int64_t j = 0; j < d; ++j)
            CHECK_NEAR(sums.gradient[j], gradient[j], 1e-9 * n);
        CHECK(sums.rows[kGap] >= 0 &&
              sums.rows[kGap] <= 1e-9 * (1 + loss));  // slopes at the candidate itself
    }
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& curve : samples::curves())
        if (curve.name == "hinge" || curve.name == "pinball 0.9" || curve.name == "huber")
            check_pass(curve);
    return check::report();
}
