// Sums for certificates by slopes and exceptions are those of the multipliers written out.
#include "rectiline/design/products.hpp"
#include "rectiline/path/judge_slopes.hpp"
#include "rectiline/rows/certificate.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <cmath>
#include <limits>
#include <vector>

using namespace rectiline::path;
using samples::Dense;
using samples::Matrix;

namespace {

constexpr std::int64_t kRows = 330, kColumns = 9, kPairs = 19;

struct Case {
    std::vector<double> direction, offset, weight, B, shift, S, g;
    std::vector<std::int64_t> reference, first, row;
    std::vector<Curve> curves;
    std::vector<std::uint8_t> index;
    RowFunctions rows;

    Case(std::vector<Curve> given, std::uint64_t seed) : curves(std::move(given)) {
        Random random(seed);
        const auto draw = [&](double low, double high) {
            return samples::uniform(random, low, high);
        };
        for (std::int64_t i = 0; i < kRows; ++i) {
            direction.push_back(draw(0, 1) < 0.5 ? -1.0 : 1.0);
            offset.push_back(draw(-1, 1));
            // held out: two blocks and a bit, and some rows alone
            weight.push_back((i >= 60 && i < 200) || i % 5 == 0 ? 0.0 : draw(0.5, 2));
            index.push_back(static_cast<std::uint8_t>(i % curves.size()));
        }
        rows = {kRows,
                curves.data(),
                curves.size() > 1 ? index.data() : nullptr,
                direction.data(),
                offset.data(),
                weight.data()};
        for (std::int64_t e = 0; e < kPairs * kColumns; ++e)
            B.push_back(draw(-0.3, 0.3));
        first.push_back(0);
        for (std::int64_t k = 0; k < kPairs; ++k) {
            shift.push_back(draw(-1, 1));
            reference.push_back(k % 3 - 1);
            for (std::int64_t i = 0; i < kRows; ++i)
                if (draw(0, 1) < 0.2) row.push_back(i), g.push_back(draw(-1, 1));
            first.push_back(static_cast<std::int64_t>(row.size()));
        }
        for (std::int64_t e = 0; e < 2 * kRows; ++e) {
            const double slope = rows.curve(e % kRows).slope(draw(-2, 2));
            S.push_back(e < kRows || draw(0, 1) < 0.5 ? slope
                                                      : std::numeric_limits<double>::quiet_NaN());
        }
    }
};

// What the sums must be, from the exceptions as they came back.
void check_case(const DesignView& X, const Case& given, bool balanced) {
    std::vector<double> g = given.g, Q(kPairs * kColumns, 7.0);
    std::vector<SlopeSums> found(kPairs);
    const RowFunctions& rows = given.rows;
    std::vector<const double*> slopes;
    for (const std::int64_t place : given.reference)
        slopes.push_back(place < 0 ? nullptr : given.S.data() + place * kRows);
    judge_slopes(X, rows, {kPairs, given.B.data(), given.shift.data(), slopes.data()},
                 {given.first.data(), given.row.data(), g.data()}, balanced, found.data(),
                 Q.data());
    std::vector<double> z(kRows), full(kRows), q(kColumns);
    for (std::int64_t k = 0; k < kPairs; ++k) {
        multiply(X, given.B.data() + k * kColumns, z.data(), 1);
        for (std::int64_t i = 0; i < kRows; ++i) {
            z[i] += given.shift[k];
            const double known =
                given.reference[k] < 0 ? NAN : given.S[given.reference[k] * kRows + i];
            const double slope =
                std::isnan(known) ? rows.curve(i).slope(rows.argument(i, z[i])) : known;
            full[i] = rows.direction[i] * rows.weight[i] * slope;
        }
        for (std::int64_t e = given.first[k]; e < given.first[k + 1]; ++e)
            full[given.row[e]] = g[e];
        const RowSums sums = row_sums(rows, z.data(), full.data());
        multiply_transposed(X, full.data(), q.data(), 1);
        double total = 0, size = 0;
        for (const double one : full)
            total += one, size += std::fabs(one);
        CHECK_NEAR(found[k].loss, sums.loss, 1e-10);
        CHECK_NEAR(found[k].fenchel_young, sums.fenchel_young, 1e-9);
        CHECK_NEAR(found[k].total, total, 1e-11);
        CHECK_NEAR(found[k].size, size, 1e-10);
        for (std::int64_t j = 0; j < kColumns; ++j)
            CHECK_NEAR(Q[k * kColumns + j], q[j], 1e-10);
        const double most = rows.curves[0].highest_slope(), least = rows.curves[0].lowest_slope();
        if (balanced && std::isinf(most) && std::isinf(least))
            CHECK(std::fabs(found[k].total) <= 1e-13 * found[k].size);
    }
}

}  // namespace

int main() {
    const Matrix X(kRows, kColumns, 3);
    const Dense<double> plain(X, kColumns, 1), apart(X, kColumns + 2, 1), columns(X, 1, kRows);
    const Dense<float> single(X, kColumns, 1);
    std::vector<Curve> all;
    const auto curves = samples::curves();
    for (const auto& curve : curves)
        all.push_back(curve.view());
    std::uint64_t seed = 1;
    for (const Curve& curve : all)
        for (const bool balanced : {false, true}) {
            const Case one({curve}, seed++);
            check_case(plain.view, one, balanced);
            check_case(apart.view, one, balanced);
            check_case(columns.view, one, balanced);
            check_case(single.view, one, balanced);
        }
    const Case mixed(all, seed);
    check_case(plain.view, mixed, true);
    return check::report();
}
