// Error-free transformations: a sum or a product of two doubles as a rounded value and the exact
// rest (Knuth; Dekker with a fused multiply-add), and sums of products built from them (Ogita, Rump
// and Oishi, "Accurate sum and dot product", 2005).
//
// A sum is kept as hi + lo. `lo` adds up the rests, `lost` their sizes: what rounding did to `lo`
// is at most (number of terms + 16) * 2^-53 * lost, which is zero when every operation was exact.
//
// Contraction or reassociation would break the transformations: files that include this one are
// compiled with -ffp-contract=off and never with -ffast-math.
#pragma once

#include "rectiline/support/vectors.hpp"

#if defined(__FAST_MATH__)
#error "twofold arithmetic needs exact floating-point semantics: compile without -ffast-math"
#endif

namespace rectiline::proof {

constexpr double kUnit = 0x1p-53;        // largest relative error of one rounded operation
constexpr double kSmallest = 0x1p-1074;  // what a product may lose when it underflows

struct Pair {
    double value, rest;
};

RECTILINE_INLINE Pair two_sum(double a, double b) {
    const double sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

RECTILINE_INLINE Pair two_product(double a, double b) {
    const double product = a * b;
    return {product, std::fma(a, b, -product)};
}

// Adds a term, a number or a product, to the parts of a twofold sum.
RECTILINE_INLINE void add_term(Pair term, double& hi, double& lo, double& lost, double& size) {
    const Pair sum = two_sum(hi, term.value);
    hi = sum.value;
    lo += term.rest + sum.rest;
    lost += size_of(term.rest) + size_of(sum.rest);
    size += size_of(term.value);
}

// One number of a twofold sum of products, with the sizes that bound its error.
struct TwofoldSum {
    double hi = 0, lo = 0, lost = 0, size = 0;

    RECTILINE_INLINE void add(double x) { add_term({x, 0.0}, hi, lo, lost, size); }
    RECTILINE_INLINE void add(const TwofoldSum& other) {
        const Pair sum = two_sum(hi, other.hi);
        hi = sum.value;
        lo += sum.rest + other.lo;
        lost += size_of(sum.rest) + other.lost;
        size += other.size;
    }
};

// A finished sum: the exact value lies within `error` of hi + lo, and |lo| is at most half a unit
// in the last place of hi. `size` is the sum of the absolute values of the terms.
struct Twofold {
    double hi, lo, error, size;
};

// `count`: how many terms were added.
RECTILINE_INLINE Twofold finished(const TwofoldSum& sum, std::int64_t count) {
    const Pair total = two_sum(sum.hi, sum.lo);
    const double terms = static_cast<double>(count) + 16;
    double error = 1.1 * terms * kUnit * sum.lost;
    if (sum.size > 0) error += terms * kSmallest;
    if (!(size_of(total.value) < kInfinity) || !(error < kInfinity))
        return {total.value, 0.0, kInfinity, kInfinity};
    return {total.value, total.rest, error, sum.size};
}

}  // namespace rectiline::proof
