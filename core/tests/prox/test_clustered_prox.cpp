// Proximal steps with clusters: the steps, their values and their derivatives against definitions.
#include "rectiline/prox/proximal_multipliers.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

using namespace rectiline::prox;
using samples::uniform;
using Vector = std::vector<double>;
using Penalty = std::function<double(const Vector&)>;

namespace {

Vector random_vector(Random& random, std::size_t size, bool rounded) {
    Vector v(size);
    for (double& one : v)
        one = rounded ? std::round(uniform(random, -3, 3)) : uniform(random, -3, 3);
    return v;
}

// The sorted step by the min-max formula of isotonic regression, cut at zero.
Vector sorted_oracle(const Vector& v, const Vector& strengths, double s) {
    const std::size_t d = v.size();
    std::vector<std::size_t> order(d);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::fabs(v[a]) > std::fabs(v[b]);
    });
    Vector result(d);
    for (std::size_t k = 0; k < d; ++k) {
        double level = std::numeric_limits<double>::infinity();
        for (std::size_t first = 0; first <= k; ++first) {
            double best = -std::numeric_limits<double>::infinity(), sum = 0;
            for (std::size_t last = first; last < d; ++last) {
                sum += std::fabs(v[order[last]]) - s * strengths[last];
                if (last >= k) best = std::max(best, sum / static_cast<double>(last - first + 1));
            }
            level = std::min(level, best);
        }
        result[order[k]] = std::copysign(std::max(level, 0.0), v[order[k]]);
    }
    return result;
}

// The group step: cut at the level that takes `radius` off the sizes of the group, by bisection.
void group_oracle(const std::vector<std::int64_t>& group, double radius, Vector& b) {
    double low = 0, high = 10;
    for (int k = 0; k < 200; ++k) {
        const double level = 0.5 * (low + high);
        double taken = 0;
        for (const std::int64_t j : group)
            taken += std::max(std::fabs(b[j]) - level, 0.0);
        (taken > radius ? low : high) = level;
    }
    for (const std::int64_t j : group)
        b[j] = std::copysign(std::min(std::fabs(b[j]), high), b[j]);
}

void check_near(const Vector& a, const Vector& b, double tolerance) {
    for (std::size_t j = 0; j < a.size(); ++j)
        CHECK_NEAR(a[j], b[j], tolerance);
}

// The returned value, from its definition.
void check_value(double value, const Vector& v, const Vector& b, double s, const Penalty& omega) {
    double expected = -omega(b);
    for (std::size_t j = 0; j < v.size(); ++j)
        expected += (v[j] * b[j] - 0.5 * b[j] * b[j]) / s;
    CHECK_NEAR(value, expected, 1e-11 * (1 + std::fabs(expected)));
}

// A small move of v moves each cluster by the mean of its signed moves, and nothing else.
void check_derivative(ClusteredProx& method, const Vector& v, double s, Random& random) {
    const double length = 1e-7;
    const std::size_t d = v.size();
    Vector before(d), after(d), expected(d, 0.0), moved = v, move(d);
    Clusters clusters, moved_clusters;
    method.prox(v, s, before, clusters);
    for (std::size_t j = 0; j < d; ++j)
        move[j] = uniform(random, -1, 1), moved[j] += length * move[j];
    method.prox(moved, s, after, moved_clusters);
    if (clusters.places != moved_clusters.places || clusters.starts != moved_clusters.starts)
        return;  // v is next to a point where the clusters change
    for (std::int64_t c = 0; c < clusters.count(); ++c) {
        double mean = 0;
        const std::int64_t first = clusters.starts[c], last = clusters.starts[c + 1];
        for (std::int64_t k = first; k < last; ++k)
            mean += std::copysign(1.0, v[clusters.places[k]]) * move[clusters.places[k]];
        mean /= static_cast<double>(last - first);
        for (std::int64_t k = first; k < last; ++k)
            expected[clusters.places[k]] = std::copysign(1.0, v[clusters.places[k]]) * mean;
    }
    for (std::size_t j = 0; j < d; ++j)
        CHECK_NEAR((after[j] - before[j]) / length, expected[j], 1e-6);
}

void check_sorted(Random& random, bool rounded) {
    const std::size_t d = 1 + static_cast<std::size_t>(random.below(9));
    Vector strengths = random_vector(random, d, rounded), b(d);
    for (double& one : strengths)
        one = std::fabs(one);
    std::sort(strengths.rbegin(), strengths.rend());
    const Vector v = random_vector(random, d, rounded);
    const double s = uniform(random, 0.1, 1.5);
    SortedProx method(strengths);
    Clusters clusters;
    const double value = method.prox(v, s, b, clusters);
    check_near(b, sorted_oracle(v, strengths, s), 1e-12);
    check_value(value, v, b, s, [&](const Vector& x) {
        Vector sizes(x.size());
        std::transform(x.begin(), x.end(), sizes.begin(),
                       [](double one) { return std::fabs(one); });
        std::sort(sizes.rbegin(), sizes.rend());
        return std::inner_product(sizes.begin(), sizes.end(), strengths.begin(), 0.0);
    });
    for (std::int64_t c = 0; c < clusters.count(); ++c)  // equal to the last bit
        for (std::int64_t k = clusters.starts[c]; k < clusters.starts[c + 1]; ++k)
            CHECK(std::fabs(b[clusters.places[k]]) ==
                  std::fabs(b[clusters.places[clusters.starts[c]]]));
    if (!rounded) check_derivative(method, v, s, random);
}

void check_groups(Random& random) {
    const std::vector<std::vector<std::int64_t>> groups = {{0, 3, 5}, {1}, {2, 6, 7, 8}};
    const Vector v = random_vector(random, 10, false);
    const double s = uniform(random, 0.1, 2), strength = uniform(random, 0, 2);
    const double l1 = std::max(uniform(random, -1, 1), 0.0);
    GroupProx method(10, {0, 3, 5, 1, 2, 6, 7, 8}, {0, 3, 4, 8}, strength, l1);
    Vector b(10), expected = v;
    for (double& one : expected)
        one = std::copysign(std::max(std::fabs(one) - s * l1, 0.0), one);
    Clusters clusters;
    const double value = method.prox(v, s, b, clusters);
    for (const auto& group : groups)
        group_oracle(group, s * strength, expected);
    check_near(b, expected, 1e-12);
    check_value(value, v, b, s, [&](const Vector& x) {
        double sum = 0;
        for (const double one : x)
            sum += l1 * std::fabs(one);
        for (const auto& group : groups) {
            double largest = 0;
            for (const std::int64_t j : group)
                largest = std::max(largest, std::fabs(x[j]));
            sum += strength * largest;
        }
        return sum;
    });
    check_derivative(method, v, s, random);
}

void check_separable(Random& random) {
    const std::size_t d = 6;
    const Vector v = random_vector(random, d, false);
    Vector l1(d), lower(d), upper(d), b(d);
    for (std::size_t j = 0; j < d; ++j) {
        l1[j] = j % 3 == 0 ? 0 : uniform(random, 0, 2);
        lower[j] = uniform(random, -2, 0), upper[j] = uniform(random, 0, 2);
    }
    const double s = uniform(random, 0.2, 1.5);
    SeparableProx method(l1, lower, upper);
    Clusters clusters;
    const double value = method.prox(v, s, b, clusters);
    const auto cost = [&](std::size_t j, double x) {
        return s * l1[j] * std::fabs(x) + 0.5 * (x - v[j]) * (x - v[j]);
    };
    for (std::size_t j = 0; j < d; ++j) {
        CHECK(b[j] >= lower[j] && b[j] <= upper[j]);
        for (const double step : {-0.3, -1e-5, 1e-5, 0.3})
            CHECK(cost(j, std::clamp(b[j] + step, lower[j], upper[j])) >= cost(j, b[j]) - 1e-15);
    }
    check_value(value, v, b, s, [&](const Vector& x) {
        double sum = 0;
        for (std::size_t j = 0; j < d; ++j)
            sum += l1[j] * std::fabs(x[j]);
        return sum;
    });
    check_derivative(method, v, s, random);
}

}  // namespace

int main() {
    Random random(3);
    for (int trial = 0; trial < 400; ++trial) {
        check_sorted(random, trial % 3 == 0);
        check_groups(random);
        check_separable(random);
    }
    return check::report();
}
