// Arguments, q and sums of multipliers are within their bounds of exact sums, for every storage.
#include "rectiline/design/products.hpp"
#include "rectiline/proof/measure.hpp"

#include "check.hpp"
#include "proof/exact_sum.hpp"
#include "samples.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace rectiline::proof;

namespace {

using Numbers = std::vector<double>;

constexpr std::int64_t kRows = 37, kColumns = 9;
constexpr double kLastDigit = 0x1p-52;

// Entries of very different size whose products nearly cancel: columns come in pairs.
samples::Matrix cancelling_matrix() {
    samples::Matrix X(kRows, kColumns, 3, 1.0);
    for (std::int64_t i = 0; i < X.n; ++i)
        for (std::int64_t j = 0; j + 1 < X.d; j += 2) {
            X.entries[i * X.d + j] *= std::pow(10.0, static_cast<double>(j) - 4);
            X.entries[i * X.d + j + 1] = X(i, j) * (1 + 1e-9 * static_cast<double>(i));
        }
    return X;
}

Numbers random_numbers(std::int64_t n, std::uint64_t seed) {
    rectiline::support::Random random(seed);
    Numbers out(static_cast<std::size_t>(n));
    for (double& one : out)
        one = samples::uniform(random, -3, 3);
    return out;
}

struct Norms {
    Numbers column, scale, row;

    explicit Norms(const samples::Matrix& X) : column(X.d), scale(X.d), row(X.n) {
        for (std::int64_t j = 0; j < X.d; ++j) {
            for (std::int64_t i = 0; i < X.n; ++i)
                column[j] += X(i, j) * X(i, j);
            column[j] = std::sqrt(column[j]) * (1 + 1e-12);
            scale[j] = column[j] / std::sqrt(static_cast<double>(X.n));
        }
        for (std::int64_t i = 0; i < X.n; ++i) {
            for (std::int64_t j = 0; j < X.d; ++j)
                row[i] += std::pow(X(i, j) / scale[j], 2);
            row[i] = std::sqrt(row[i]) * (1 + 1e-12);
        }
    }
};

struct Measured {
    Numbers argument, radius, q, error;
    Measured() : argument(kRows), radius(kRows), q(kColumns), error(kColumns) {}
    PairProducts spans() { return {argument, radius, q, error}; }
};

void check_design(const samples::Matrix& X, const DesignView& view) {
    const samples::OwnedCurve absolute = samples::curves()[1];
    const samples::OwnedRows owned(absolute.view(), kRows, 5);
    const RowFunctions rows = owned.view();
    Numbers b = random_numbers(kColumns, 6);
    for (std::size_t j = 0; j + 1 < b.size(); j += 2)
        b[j + 1] = -b[j];
    const Numbers g = random_numbers(kRows, 7), shift = random_numbers(kColumns, 8);
    const Numbers rest(kColumns, 0x1p-60), error(kColumns, 1e-13);
    const Norms norms(X);
    const double intercept = 0.75;
    const Candidate pair{b, intercept, g};
    const Shift shifted{shift, rest, error};
    Measured plain, sharp;
    Numbers z(kRows), image(kColumns);
    rectiline::design::multiply_both(view, b, g, z, image);
    measure_plain(rows, pair, z, image, {norms.scale, norms.row, norms.column}, shifted,
                  plain.spans());
    measure_twofold(view, rows, pair, shifted, sharp.spans());
    for (std::int64_t i = 0; i < kRows; ++i) {
        ExactSum exact;
        for (std::int64_t j = 0; j < kColumns; ++j)
            exact.add_product(rows.direction[i] * X(i, j), b[j]);
        exact.add(rows.direction[i] * intercept);
        exact.add(rows.offset[i]);
        CHECK(exact.distance(plain.argument[i]) <= plain.radius[i]);
        CHECK(exact.distance(sharp.argument[i]) <= sharp.radius[i]);
        CHECK(sharp.radius[i] <= kLastDigit * std::fabs(sharp.argument[i]) + 1e-25);
    }
    for (std::int64_t j = 0; j < kColumns; ++j) {
        ExactSum exact;
        for (std::int64_t i = 0; i < kRows; ++i)
            exact.add_product(-X(i, j), g[i]);
        exact.add(shift[j]);
        exact.add(rest[j]);
        CHECK(exact.distance(plain.q[j]) <= plain.error[j]);
        CHECK(exact.distance(sharp.q[j]) <= sharp.error[j]);
        CHECK(sharp.error[j] <= kLastDigit * std::fabs(sharp.q[j]) + 1.01e-13);
        CHECK(plain.error[j] >= error[j] && sharp.error[j] >= error[j]);
    }
}

void check_sums() {
    for (const std::int64_t n : {1, 7, 8, 100, 1001}) {
        Numbers x = random_numbers(n, 11);
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] *= std::pow(10.0, static_cast<double>(i % 17) - 8);
        x.push_back(-x[0]);
        ExactSum exact;
        for (const double one : x)
            exact.add(one);
        const BoundedSum found = bounded_sum(x);
        CHECK(exact.distance(found.value) <= found.error);
        CHECK(found.error <= 4 * kLastDigit * std::fabs(found.value) + 1e-20);
        const Twofold twofold = sum(x);
        exact.add(-twofold.hi);
        CHECK(exact.distance(twofold.lo) <= twofold.error);
    }
    const Numbers huge{1e308, 1e308};
    CHECK(bounded_sum(huge).error == kInfinity);
}

// What overflows has an infinite error, never an undefined one.
void check_overflow() {
    const samples::Matrix X(2, 1, 1, 1.0);
    const samples::OwnedCurve absolute = samples::curves()[1];
    const samples::OwnedRows owned(absolute.view(), 2, 5);
    const Numbers b{1.0}, g{1e308, 1e308}, z{1, 1}, image{kInfinity};
    const Numbers one{1.0}, rows{1.0, 1.0}, shift{kInfinity};
    Numbers argument(2), radius(2), q(1), error(1);
    measure_plain(owned.view(), {b, 0.0, g}, z, image, {one, rows, one}, {shift, {}, {}},
                  {argument, radius, q, error});
    CHECK(error[0] == kInfinity);
}

}  // namespace

int main() {
    const samples::Matrix X = cancelling_matrix();
    check_design(X, samples::Dense<double>(X, kColumns, 1).view);
    check_design(X, samples::Dense<double>(X, 1, kRows).view);
    check_design(X, samples::Dense<double>(X, 2 * kColumns + 1, 2).view);
    check_design(X, samples::Compressed<double, std::int32_t>(X, true).view);
    check_design(X, samples::Compressed<double, std::int64_t>(X, false).view);
    check_sums();
    check_overflow();
    return check::report();
}
