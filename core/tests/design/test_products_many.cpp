// Products with many vectors are those with one vector after the other.
#include "rectiline/design/products.hpp"
#include "rectiline/design/products_many.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <vector>

using namespace rectiline::design;
using samples::Dense;
using samples::Matrix;

namespace {

std::vector<double> random_vector(std::int64_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(static_cast<std::size_t>(n));
    for (double& v : values)
        v = samples::uniform(random, -1, 1);
    return values;
}

void check_many(const DesignView& X, std::int64_t count, const std::vector<double>& weight) {
    const std::int64_t n = n_rows(X), d = n_columns(X);
    const double* share = weight.empty() ? nullptr : weight.data();
    const auto counts = [&](std::int64_t i) { return weight.empty() || weight[i] > 0; };
    const std::vector<double> B = random_vector(count * d, 1), shift = random_vector(count, 2);
    std::vector<double> G = random_vector(count * n, 3);
    for (std::int64_t e = 0; e < count * n; ++e)
        if (!counts(e % n)) G[e] = 0.0;
    std::vector<double> Z(count * n, 7.0), Q(count * d, 7.0), z(n), q(d);
    multiply_many(X, count, B.data(), shift.data(), share, Z.data());
    multiply_transposed_many(X, count, G.data(), share, Q.data());
    for (std::int64_t k = 0; k < count; ++k) {
        multiply(X, B.data() + k * d, z.data(), 1);
        multiply_transposed(X, G.data() + k * n, q.data(), 1);
        for (std::int64_t i = 0; i < n; ++i) {
            const double found = Z[k * n + i], wanted = z[i] + shift[k];
            // a row that does not count may be left out
            CHECK((!counts(i) && found == shift[k]) || std::fabs(found - wanted) <= 1e-12);
        }
        for (std::int64_t j = 0; j < d; ++j)
            CHECK_NEAR(Q[k * d + j], q[j], 1e-11);
    }
}

template <class T>
void check_sizes() {
    for (const auto& [n, d] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {70, 9}, {64, 33}, {300, 17}}) {
        const Matrix X(n, d, static_cast<std::uint64_t>(n + d));
        std::vector<double> weight(n, 1.0);  // held out: some rows side by side, and some alone
        for (std::int64_t i = 0; i < n; ++i)
            weight[i] = (i >= 60 && i < 200) || i % 5 == 0 ? 0.0 : 1.0;
        const Dense<T> plain(X, d, 1), apart(X, d + 3, 1);
        for (const std::int64_t count : {1, 3, 8, 9, 16, 17, 30, 40}) {
            check_many(plain.view, count, {});
            check_many(apart.view, count, weight);
        }
    }
}

}  // namespace

int main() {
    const Matrix X(6, 4, 1);
    const Dense<double> columns(X, 1, 6);
    const samples::Compressed<double, std::int32_t> sparse(X, true);
    CHECK(!takes_many(sparse.view));
    CHECK(!takes_many(columns.view));
    if (!takes_many(Dense<double>(X, 4, 1).view)) return check::report();  // not by this compiler
    check_sizes<double>();
    check_sizes<float>();
    return check::report();
}
