// Sweeps stop when they are asked to, also where there is nothing to sweep but constraints that
// contradict each other.
#include "rectiline/rehline/rehline.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <cstdint>
#include <limits>
#include <vector>

using namespace rectiline::rehline;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t d = 400, kForEver = std::int64_t{1} << 60;

bool stop_at_third(void* count, std::int64_t) {
    return ++*static_cast<int*>(count) >= 3;
}

// b_0 + ... = 1 and b_0 + ... = 2: multipliers grow and grow.
struct Contradiction {
    std::vector<double> A = std::vector<double>(2 * d, 1.0), c = {-1.0, -2.0};
    std::vector<std::uint8_t> equality = {1, 1};
    LinearConstraints view() const {
        return {DenseView<double>{A.data(), 2, d, d, 1}, c, equality};
    }
};

template <class Loop>
void check_stops(Loop& loop) {
    int asked = 0;
    Interrupt interrupt(&stop_at_third, &asked);
    const RehlineProgress progress = loop.run(kForEver, 1e-12, 0.0, interrupt);
    CHECK(progress.interrupted && !progress.reached && asked == 3);
}

void check_without_rows(std::int64_t n) {
    const samples::OwnedCurve curve = samples::curves()[0];
    const samples::Matrix X(n, d, 1, 1.0);
    const samples::Dense<double> dense(X, d, 1);
    const samples::OwnedRows rows(curve.view(), n, 2);
    const std::vector<double> rho(d, 1.0), zero(d, 0.0), low(d, -kInfinity), high(d, kInfinity);
    const ColumnFunctions columns{d, rho.data(), zero.data(), low.data(), high.data(), true};
    const Contradiction constraints;
    Rehline loop(dense.view, rows.view(), columns, constraints.view(), RehlineOptions{});
    check_stops(loop);
    loop.screen(0.0);
    check_stops(loop);
}

}  // namespace

int main() {
    check_without_rows(0);
    check_without_rows(30);
    return check::report();
}
