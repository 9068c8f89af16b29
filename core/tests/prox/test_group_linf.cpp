// Loops over groups: the prox is optimal, the Fenchel-Young terms add up, signed sums are products.
#include "rectiline/prox/proximal_multipliers.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::prox;

namespace {

double uniform(Random& random) {
    return static_cast<double>(random.below(1000000)) * 2e-6 - 1.0;
}

// b is the prox of v exactly when v - b is in the radius times the subdifferential at b: its totals
// are the radius where the group moves, and it points along the largest entries.
void check_prox(Random& random, double radius, bool rounded) {
    const std::vector<std::int64_t> columns = {0, 3, 5, 1, 2, 6, 7, 8}, starts = {0, 3, 4, 8};
    const Groups groups{columns, starts};
    std::vector<double> v(10);
    for (double& one : v)
        one = rounded ? std::round(2.0 * uniform(random)) : uniform(random);
    std::vector<double> b = v;
    group_prox(groups, radius, b);
    CHECK(b[4] == v[4] && b[9] == v[9]);  // in no group
    for (int g = 0; g < 3; ++g) {
        double largest = 0.0, total = 0.0, before = 0.0;
        for (std::int64_t k = starts[g]; k < starts[g + 1]; ++k) {
            largest = std::max(largest, std::fabs(b[columns[k]]));
            total += std::fabs(v[columns[k]] - b[columns[k]]);
            before += std::fabs(v[columns[k]]);
        }
        if (largest == 0.0) {
            CHECK(before <= radius * (1.0 + 1e-12));
            continue;
        }
        CHECK(std::fabs(total - radius) <= 1e-12 * (radius + before));
        for (std::int64_t k = starts[g]; k < starts[g + 1]; ++k)
            CHECK(b[columns[k]] == v[columns[k]] || std::fabs(b[columns[k]]) == largest);
    }
}

// Entries that lie on the level but for rounding: the search for it ends all the same.
void check_ties() {
    struct Case {
        std::vector<double> v;
        double radius, cap;
    };
    for (const Case& one : {Case{{0.3, 3.4, 3.3}, 6.1, 0.3}, Case{{3.2, 5.3, 5.8, 0.8}, 4.7, 3.2},
                            Case{{2.6, 3.4, 5.1, 0.2, 3.7, 3.8}, 1.5, 3.7},
                            Case{{4.6, 0.2, 0.7, 3.9, 3.4}, 0.7, 3.9}}) {
        const std::int64_t starts[] = {0, static_cast<std::int64_t>(one.v.size())};
        const std::vector<std::int64_t> columns = {0, 1, 2, 3, 4, 5};
        std::vector<double> b = one.v;
        group_prox({columns, starts}, one.radius, b);
        for (std::size_t j = 0; j < b.size(); ++j)
            CHECK(std::fabs(b[j] - std::min(one.v[j], one.cap)) < 1e-14);
    }
}

void check_sums(Random& random) {
    const std::int64_t n = 7, d = 5;
    std::vector<double> by_rows(n * d), by_columns(n * d);
    std::vector<float> single(n * d);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < d; ++j) {
            single[i * d + j] = static_cast<float>(uniform(random));
            by_rows[i * d + j] = by_columns[j * n + i] = single[i * d + j];
        }
    const std::vector<std::int64_t> columns = {1, 4, 0, 1}, starts = {0, 2, 4};
    const std::vector<double> signs = {1.0, -1.0, 0.5, 2.0};
    const Groups atoms{columns, starts};
    const DesignView views[] = {DenseView<double>{by_rows.data(), n, d, d, 1},
                                DenseView<double>{by_columns.data(), n, d, 1, n},
                                DenseView<float>{single.data(), n, d, d, 1}};
    for (const DesignView& X : views) {
        std::vector<double> out(2 * n, 9.0);
        signed_sums(X, atoms, signs, out);
        for (std::int64_t i = 0; i < n; ++i) {
            const double* x = by_rows.data() + i * d;
            CHECK(std::fabs(out[i] - (x[1] - x[4])) < 1e-14);
            CHECK(std::fabs(out[n + i] - (0.5 * x[0] + 2.0 * x[1])) < 1e-14);
        }
    }
}

}  // namespace

int main() {
    Random random(1);
    for (int trial = 0; trial < 300; ++trial)
        check_prox(random, 0.05 * (trial % 40 + 1), trial % 3 == 0);
    check_ties();
    check_sums(random);
    return check::report();
}
