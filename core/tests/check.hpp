// The least a test needs: CHECK(condition), CHECK_NEAR(a, b, tolerance), and an exit status. A
// failed check prints where and what, and the test goes on.
#pragma once

#include <cmath>
#include <cstdio>

namespace rectiline::support {}
using namespace rectiline::support;  // as all rooms do

namespace check {

inline int failures = 0;
inline int checks = 0;

inline void that(bool holds, const char* what, const char* file, int line) {
    ++checks;
    if (holds) return;
    if (++failures <= 20) std::printf("%s:%d: failed: %s\n", file, line, what);
}

inline void near(double a, double b, double tolerance, const char* what, const char* file,
                 int line) {
    ++checks;
    if (a == b || std::fabs(a - b) <= tolerance) return;
    if (++failures <= 20)
        std::printf("%s:%d: failed: %s: %.17g and %.17g differ by %.3g, allowed is %.3g\n", file,
                    line, what, a, b, std::fabs(a - b), tolerance);
}

inline int report() {
    std::printf("%d checks, %d failures\n", checks, failures);
    return failures == 0 && checks > 0 ? 0 : 1;
}

}  // namespace check

#define CHECK(condition) check::that((condition), #condition, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) \
    check::near((a), (b), (tolerance), #a " == " #b, __FILE__, __LINE__)
