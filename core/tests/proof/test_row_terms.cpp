// The rows' terms of a certificate are above the terms at every argument and multiplier allowed.
#include "rectiline/proof/terms.hpp"
#include "rectiline/proof/twofold.hpp"
#include "rectiline/rows/certificate.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::proof;

namespace {

using Numbers = std::vector<double>;

constexpr std::int64_t kRows = 300;  // more than one block of rows
constexpr double kSlack = 1 + 1e-11;

struct Case {
    RowFunctions rows;
    Numbers argument, radius, g;

    Case(const samples::OwnedRows& owned, double width)
        : rows(owned.view()), argument(kRows), radius(kRows), g(kRows) {
        rectiline::support::Random random(9);
        const Curve& f = rows.curve(0);
        for (std::int64_t i = 0; i < kRows; ++i) {
            argument[i] = random.below(3) == 0 && f.n_knots > 0
                              ? f.knot[random.below(static_cast<std::uint64_t>(f.n_knots))]
                              : samples::uniform(random, -3, 3);
            radius[i] = width * samples::uniform(random, 0, 1);
            g[i] = samples::uniform(random, -4, 4);
        }
        clip_dual(rows, g);
    }

    // The terms where arguments move by a share of their radius, multipliers by one of `by`.
    RowSums moved(const Moves& moves, double share, double at, double along) const {
        Numbers d(kRows, 0.0);
        for (std::size_t k = 0; k < moves.row.size(); ++k)
            d[moves.row[k]] = along * moves.by[k];
        RowSums sums{0, 0};
        for (std::int64_t i = 0; i < kRows; ++i) {
            const double w = rows.weight[i], t = argument[i] + at * radius[i];
            if (w == 0) continue;
            const Curve& f = rows.curve(i);
            const double slope = std::clamp(rows.direction[i] * (g[i] + d[i]) / w, f.lowest_slope(),
                                            f.highest_slope());
            sums.loss += w * f.loss(t);
            sums.fenchel_young += w * std::max(f.fenchel_young(t, share * slope), 0.0);
        }
        return sums;
    }
};

void check_curve(const samples::OwnedCurve& curve) {
    // A share of a multiplier is in its box where zero is.
    const double low = curve.view().lowest_slope(), high = curve.view().highest_slope();
    const bool shrinks = low <= 0 && high >= 0;
    const samples::OwnedRows owned(curve.view(), kRows, 4);
    for (const double width : {0.0, 1e-12, 1e-3}) {
        const Case one(owned, width);
        const Arguments at{one.argument, one.radius};
        Moves moves;
        for (std::int64_t i = 0; i < kRows; i += 3) {
            moves.row.push_back(i);
            moves.by.push_back(i % 2 == 0 ? 1e-9 : 0.01);
        }
        for (const double share : {1.0, 0.75}) {
            if (share < 1 && !shrinks) continue;
            const BoundedTerms still = row_terms(one.rows, at, one.g, {}, share);
            const BoundedTerms terms = row_terms(one.rows, at, one.g, moves, share);
            CHECK(still.value == terms.value && still.gap == terms.gap);
            CHECK(still.gap <= still.gap_upper && still.gap_upper <= terms.gap_upper);
            for (const double side : {-1.0, 0.0, 1.0}) {
                CHECK(one.moved({}, share, side, 0).fenchel_young <=
                      kSlack * still.gap_upper + 1e-300);
                for (const double along : {-1.0, 0.3, 1.0}) {
                    const RowSums sums = one.moved(moves, share, side, along);
                    CHECK(sums.fenchel_young <= kSlack * terms.gap_upper + 1e-300);
                    CHECK(std::fabs(sums.loss - terms.value) <=
                          kSlack * terms.value_error + 1e-11 * std::fabs(sums.loss));
                }
            }
            // A move that no row makes costs next to nothing.
            Moves none{moves.row, Numbers(moves.row.size(), 0.0)};
            CHECK_NEAR(row_terms(one.rows, at, one.g, none, share).gap_upper, still.gap_upper,
                       1e-12 * (still.gap_upper + std::fabs(still.value)) + 1e-290);
        }
    }
}

}  // namespace

int main() {
    for (const samples::OwnedCurve& curve : samples::curves())
        check_curve(curve);
    return check::report();
}
