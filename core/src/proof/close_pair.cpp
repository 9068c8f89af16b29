#include "rectiline/proof/close_pair.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/proof/twofold.hpp"
#include "rectiline/rows/certificate.hpp"

namespace rectiline::proof {
namespace {

void repair(const SmallProblem& problem, std::span<double> g) {
    if (problem.free_columns.empty() && problem.free.intercept) {
        rows::balance_dual(problem.rows, g);
        return;
    }
    rows::clip_dual(problem.rows, g);
    if (problem.free_columns.empty()) return;
    const std::vector<double> zero(problem.free.order(), 0.0);
    std::vector<double> norms;
    for (const std::int64_t j : problem.free_columns)
        norms.push_back(problem.norms.column[j]);
    Interrupt never;
    balance_columns(problem.free, dense_solver(problem.free, never), problem.boxes, norms, zero,
                    zero, g);
    rows::clip_dual(problem.rows, g);
}

}  // namespace

std::optional<ClosedPair> close_pair(const SmallProblem& problem, std::span<const double> b,
                                     double intercept, bool twofold, std::span<double> g,
                                     PairProducts out) {
    const auto [argument, radius, q, error] = out;
    repair(problem, g);
    const Candidate pair{b, intercept, g};
    if (twofold) {
        measure_twofold(problem.X, problem.rows, pair, {}, out);
    } else {
        std::vector<double> z(g.size()), image(b.size());
        design::multiply_both(problem.X, b, g, z, image);
        measure_plain(problem.rows, pair, z, image, problem.norms, {}, out);
    }
    std::vector<double> left;
    for (const std::int64_t j : problem.free_columns)
        left.push_back((size_of(q[j]) + error[j]) * (1 + 4 * kUnit));
    if (problem.free.intercept) {
        const BoundedSum total = bounded_sum(g);
        left.push_back((size_of(total.value) + total.error) * (1 + 4 * kUnit));
    }
    const std::optional<Moves> moves = exact_moves(problem.free, problem.boxes, g, left);
    if (!moves) return std::nullopt;
    add_moved_sizes(problem.X, *moves, error);
    for (const std::int64_t j : problem.free_columns)
        q[j] = error[j] = 0.0;
    const double share = dual_share(problem.columns, q, error);
    double shrunk = 0;  // by how much more than without rounding errors
    if (share != 1.0) {
        const std::vector<double> none(q.size(), 0.0);
        const double exact = dual_share(problem.columns, q, none);
        shrunk = exact > 0 ? std::max(1.0 - share / exact, 0.0) : 0.0;
        for (std::size_t j = 0; j < q.size(); ++j) {
            error[j] = share * error[j] + 2 * kUnit * size_of(q[j]);
            q[j] *= share;
        }
    }
    BoundedTerms terms = row_terms(problem.rows, {argument, radius}, g, *moves, share);
    // What that costs the rows is rounding as well: at most about twice the losses' share of it.
    terms.gap = std::max(terms.gap - 2.0 * shrunk * size_of(terms.value), 0.0);
    return ClosedPair{terms, share};
}

}  // namespace rectiline::proof
