// A kernel sums alike at every width of the registers that this machine has.
#include "rectiline/design/dense_rows.hpp"
#include "rectiline/design/short_rows.hpp"

#include "check.hpp"
#include <cmath>
#include <vector>

#ifdef RECTILINE_LANES
namespace {

using namespace rectiline::design;
using Kernel = RowSums<Sum::product, Sum::none>;
using Transposed = AddShortRows<2, Entry::plain>;
namespace support = rectiline::support;

constexpr std::int64_t kRows = 12, kColumns = 21;

double number(std::int64_t k) {
    return std::sin(1.0 + 0.7 * static_cast<double>(k));
}

template <class Run, class Add>
void check_width(const Run& run, const Add& add) {
    std::vector<double> x(kRows * kColumns), b(kColumns), z(kRows), g(kRows), q(kColumns);
    std::vector<float> y(kRows * kColumns);
    for (std::size_t k = 0; k < x.size(); ++k)
        x[k] = number(static_cast<std::int64_t>(k)), y[k] = static_cast<float>(x[k]);
    for (std::int64_t j = 0; j < kColumns; ++j)
        b[j] = number(100 + j), q[j] = number(300 + j);
    for (std::int64_t i = 0; i < kRows; ++i)
        g[i] = i < 4 ? 0.0 : number(200 + i);
    const std::vector<double> before = q;
    run(static_cast<const double*>(x.data()), kColumns, kRows, kColumns,
        SumOf{b.data(), nullptr, 0, z.data()}, SumOf{}, Ahead{});
    add(y.data(), kColumns, kRows, kColumns, g.data(), q.data());
    for (std::int64_t i = 0; i < kRows; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < kColumns; ++j)
            sum += x[i * kColumns + j] * b[j];
        CHECK_NEAR(z[i], sum, 1e-13);
    }
    for (std::int64_t j = 0; j < kColumns; ++j) {
        double sum = before[j];
        for (std::int64_t i = 0; i < kRows; ++i)
            sum += g[i] * static_cast<double>(y[i * kColumns + j]);
        CHECK_NEAR(q[j], sum, 1e-13);
    }
}

}  // namespace

int main() {
    check_width([](auto... a) { Kernel::run<support::Lanes<16>>(a...); },
                [](auto... a) { Transposed::run<support::Lanes<16>>(a...); });
#ifdef RECTILINE_WIDTHS
    if (__builtin_cpu_supports("x86-64-v3"))
        check_width([](auto... a) { support::run_with_32_bytes<Kernel>(a...); },
                    [](auto... a) { support::run_with_32_bytes<Transposed>(a...); });
    if (__builtin_cpu_supports("x86-64-v4"))
        check_width([](auto... a) { support::run_with_64_bytes<Kernel>(a...); },
                    [](auto... a) { support::run_with_64_bytes<Transposed>(a...); });
#endif
    return check::report();
}
#else
int main() {}
#endif
