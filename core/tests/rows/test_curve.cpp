// Curves against brute force: values from the pieces, conjugates and proxes by search.
#include "rectiline/rows/curve.hpp"
#include "rectiline/rows/ramps.hpp"
#include "rectiline/support/compensated.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace rectiline::rows;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> arguments(const Curve& f) {
    std::vector<double> points;
    for (int k = -60; k <= 60; ++k)
        points.push_back(k / 10.0 + 0.013);
    for (std::int64_t k = 0; k < f.n_knots; ++k)
        points.push_back(f.knot[k]);
    return points;
}

std::vector<double> slopes(const Curve& f) {
    std::vector<double> found;
    const double low = std::max(f.lowest_slope(), -6.0), high = std::min(f.highest_slope(), 6.0);
    for (int k = 0; k <= 40; ++k)
        found.push_back(low + (high - low) * k / 40.0);
    for (std::int64_t k = 0; k < f.n_knots; ++k)
        found.push_back(f.left[k]), found.push_back(f.right[k]);
    return found;
}

// Left and right derivative by their definition in the pieces.
void derivative(const Curve& f, double t, double& left, double& right) {
    for (std::int64_t k = 0; k < f.n_knots; ++k)
        if (t == f.knot[k]) {
            left = f.left[k], right = f.right[k];
            return;
        }
    left = right = f.slope_at(t);
}

// The minimiser of a convex function on a wide interval.
template <class Function>
double minimise(const Function& g, double low, double high) {
    for (int k = 0; k < 300; ++k) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (g(a) <= g(b))
            high = b;
        else
            low = a;
    }
    return 0.5 * (low + high);
}

void check_value_and_slope(const Curve& f) {
    for (const double t : arguments(f)) {
        // convex, continuous, and the slope supports the curve everywhere
        const double s = f.slope_at(t);
        for (const double other : arguments(f))
            CHECK(f.loss(other) >= f.loss(t) + s * (other - t) - 1e-12);
        double left, right;
        derivative(f, t, left, right);
        const double h = 1e-6;
        CHECK_NEAR((f.loss(t + h) - f.loss(t)) / h, right, 1e-5);
        CHECK_NEAR((f.loss(t) - f.loss(t - h)) / h, left, 1e-5);
    }
    for (std::int64_t k = 0; k < f.n_knots; ++k)
        CHECK(f.loss(f.knot[k]) == f.value[k]);
}

void check_envelope(const Curve& f) {
    for (const double step : {1e-3, 0.3, 1.0, 40.0})
        for (const double w : arguments(f)) {
            const double found = envelope_slope(f, w, step);
            // s lies in the subdifferential at w - step s: that is the definition
            const double t = w - step * found;
            double left, right;
            derivative(f, t, left, right);
            double nearest = kInfinity;
            for (std::int64_t k = 0; k < f.n_knots; ++k)
                if (std::fabs(t - f.knot[k]) < 1e-10) {
                    left = f.left[k], right = f.right[k];
                    nearest = 0;
                }
            CHECK(found >= left - 1e-9 && found <= right + 1e-9);
            CHECK(found >= f.lowest_slope() && found <= f.highest_slope());
            const auto cost = [&](double x) { return f.loss(x) + (x - w) * (x - w) / (2 * step); };
            const double best = minimise(cost, w - 400, w + 400);
            CHECK(cost(t) <= cost(best) + 1e-9 * (1 + std::fabs(cost(best))));
            // the Jacobian, away from the places where it jumps
            const double h = 1e-7, ahead = envelope_slope(f, w + h, step),
                         behind = envelope_slope(f, w - h, step);
            CHECK(ahead >= found - 1e-12 && behind <= found + 1e-12);
            const double forward = (ahead - found) / h, backward = (found - behind) / h;
            const double jacobian = Ramps(f, 1 / step).jacobian(w + 1e-4 * h);
            if (std::fabs(forward - backward) < 1e-4 * (1 + std::fabs(forward)))
                CHECK_NEAR(jacobian, 0.5 * (forward + backward), 1e-4 * (1 + std::fabs(forward)));
            CHECK(jacobian >= 0 && jacobian <= 1 / step + 1e-12);
            (void)nearest;
        }
}

void check_ramps(const Curve& f) {
    for (const double S : {0.02, 1.0, 3.0, 1e4}) {
        const Ramps ramps(f, S);
        for (const double w : arguments(f)) {
            const double slope = envelope_slope(f, w, 1 / S);
            CHECK_NEAR(ramps.slope(w), slope, 1e-10 * (1 + std::fabs(slope)));
            CHECK(ramps.jacobian(w) >= 0);
        }
    }
}

void check_fenchel_young(const Curve& f) {
    for (const double s : slopes(f)) {
        const auto height = [&](double t) { return f.loss(t) - s * t; };
        double conjugate = -height(minimise(height, -300, 300));
        for (std::int64_t k = 0; k < f.n_knots; ++k)
            conjugate = std::max(conjugate, -height(f.knot[k]));
        for (const double t : arguments(f)) {
            const double found = f.fenchel_young(t, s);
            CHECK(found >= 0);
            CHECK_NEAR(found, f.loss(t) + conjugate - s * t, 1e-6 * (1 + std::fabs(conjugate)));
        }
    }
    for (const double t : arguments(f)) {  // zero at every slope of the point
        double left, right;
        derivative(f, t, left, right);
        for (const double share : {0.0, 0.3, 1.0}) {
            const double s = left + share * (right - left);
            CHECK_NEAR(f.fenchel_young(t, s), 0.0, 1e-14);
        }
    }
    if (std::isfinite(f.lowest_slope()))
        CHECK(f.fenchel_young(0.3, f.lowest_slope() - 1e-9) == kInfinity);
    if (std::isfinite(f.highest_slope()))
        CHECK(f.fenchel_young(0.3, f.highest_slope() + 1e-9) == kInfinity);
}

void check_random_pairs(const Curve& f, std::uint64_t seed) {
    Random random(seed);
    for (int k = 0; k < 20000; ++k) {
        const double scale = std::pow(10.0, samples::uniform(random, -8, 8));
        const double t = scale * samples::uniform(random, -1, 1);
        double s = samples::uniform(random, -10, 10) * (k % 3 == 0 ? scale : 1.0);
        s = std::clamp(s, f.lowest_slope(), f.highest_slope());
        CHECK(f.fenchel_young(t, s) >= 0);
    }
}

void check_slack(const Curve& f) {
    for (const double t : arguments(f)) {
        const double slope = f.slope_at(t), slack = slack_to_knot(f, t);
        double nearest = kInfinity;
        for (std::int64_t k = 0; k < f.n_knots; ++k)
            if (f.left[k] != f.right[k] || f.curvature[k] != f.curvature[k + 1])
                nearest = std::min(nearest, std::fabs(t - f.knot[k]));
        CHECK(slack >= 0 && slack <= nearest);
        if (slack == 0 || std::isinf(slack)) continue;
        for (const double move : {-0.999, -0.5, 0.5, 0.999})
            CHECK(f.slope_at(t + move * slack) == slope);
    }
}

void check_sums_and_shuffles() {
    CompensatedSum sum;
    for (int k = 0; k < 1000; ++k)
        sum.add(1e16), sum.add(1.0), sum.add(-1e16);
    CHECK(sum.value() == 1000.0);
    CompensatedSum infinite;
    infinite.add(kInfinity), infinite.add(1.0);
    CHECK(infinite.value() == kInfinity);

    Random random(3), same(3);
    std::vector<int> items(100), seen(100, 0);
    for (int k = 0; k < 100; ++k)
        items[k] = k;
    random.shuffle(items.data(), 100);
    for (const int item : items)
        ++seen[item];
    CHECK(*std::min_element(seen.begin(), seen.end()) == 1);
    CHECK(!std::is_sorted(items.begin(), items.end()));
    std::vector<int> counts(7, 0);
    for (int k = 0; k < 7000; ++k)
        ++counts[same.below(7)];
    for (const int count : counts)
        CHECK(count > 800 && count < 1200);
}

}  // namespace

int main() {
    std::uint64_t seed = 1;
    for (const samples::OwnedCurve& owned : samples::curves()) {
        const int before = check::failures;
        const Curve f = owned.view();
        check_value_and_slope(f);
        check_envelope(f);
        check_ramps(f);
        check_fenchel_young(f);
        check_random_pairs(f, seed++);
        check_slack(f);
        if (check::failures > before) std::printf("the curve was: %s\n", owned.name.c_str());
    }
    check_sums_and_shuffles();
    return check::report();
}
