// Gram matrices that follow their weights are those that are summed anew, in every storage.
#include "rectiline/design/gram.hpp"
#include "rectiline/support/threads.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <vector>

using namespace rectiline::design;
using samples::Compressed;
using samples::Dense;
using samples::Matrix;
using samples::uniform;

namespace {

double expected_entry(const Matrix& X, const std::vector<double>& weight, std::int64_t j,
                      std::int64_t k) {
    double sum = 0;
    for (std::int64_t i = 0; i < X.n; ++i)
        sum += weight[i] * (j < X.d ? X(i, j) : 1.0) * (k < X.d ? X(i, k) : 1.0);
    return sum;
}

void check_walk(const Matrix& X, const DesignView& view, bool intercept) {
    Random random(9);
    UpdatedGram gram;
    std::vector<double> weight(static_cast<std::size_t>(X.n));
    for (double& one : weight)
        one = uniform(random, 0, 2);
    const std::int64_t order = X.d + (intercept ? 1 : 0);
    for (int call = 0; call < 60; ++call) {
        // Few changes most of the time, all of them now and then, and rows that come and go.
        const std::int64_t changes = call % 17 == 16 ? X.n : call % 4;
        for (std::int64_t k = 0; k < changes; ++k) {
            double& one = weight[static_cast<std::size_t>(random.below(X.n))];
            one = random.below(3) == 0 ? 0.0 : uniform(random, 0, 2);
        }
        Interrupt none;
        const std::vector<double>& found = *gram.at(view, weight, intercept, none);
        CHECK(static_cast<std::int64_t>(found.size()) == order * order);
        for (std::int64_t j = 0; j < order; ++j)
            for (std::int64_t k = 0; k < order; ++k)
                CHECK_NEAR(found[j * order + k], expected_entry(X, weight, j, k), 1e-11);
    }
}

}  // namespace

int main() {
    const Matrix X(40, 5, 2);
    const Dense<double> by_rows(X, 5, 1), by_columns(X, 1, 40);
    const Compressed<double, std::int32_t> sparse(X, true);
    const std::vector<DesignView> views = {by_rows.view, by_columns.view, sparse.view};
    for (const DesignView& view : views)
        for (const bool intercept : {false, true})
            for (const int n_threads : {1, 2})
                rectiline::support::set_thread_count(n_threads), check_walk(X, view, intercept);
    return check::report();
}
