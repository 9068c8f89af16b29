// A kernel sums alike at every width of the registers that this machine has.
#include "rectiline/design/dense_rows.hpp"

#include "check.hpp"
#include <cmath>
#include <vector>

#ifdef RECTILINE_LANES
namespace {

using namespace rectiline::design;
using Kernel = RowProducts;
namespace support = rectiline::support;

constexpr std::int64_t kRows = 12, kColumns = 21;

double number(std::int64_t k) {
    return std::sin(1.0 + 0.7 * static_cast<double>(k));
}

template <class T, class Run>
void check_width(const Run& run) {
    std::vector<T> x(kRows * kColumns);
    std::vector<double> b(kColumns), z(kRows);
    for (std::size_t k = 0; k < x.size(); ++k)
        x[k] = static_cast<T>(number(static_cast<std::int64_t>(k)));
    for (std::int64_t j = 0; j < kColumns; ++j)
        b[j] = number(100 + j);
    run(static_cast<const T*>(x.data()), kColumns, kRows, kColumns,
        static_cast<const double*>(b.data()), z.data(), Ahead{});
    for (std::int64_t i = 0; i < kRows; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < kColumns; ++j)
            sum += static_cast<double>(x[i * kColumns + j]) * b[j];
        CHECK_NEAR(z[i], sum, 1e-13);
    }
}

}  // namespace

template <class T>
void check_widths() {
    check_width<T>([](auto... a) { Kernel::run<support::Lanes<16>>(a...); });
#ifdef RECTILINE_WIDTHS
    if (__builtin_cpu_supports("x86-64-v3"))
        check_width<T>([](auto... a) { support::run_with_32_bytes<Kernel>(a...); });
    if (__builtin_cpu_supports("x86-64-v4"))
        check_width<T>([](auto... a) { support::run_with_64_bytes<Kernel>(a...); });
#endif
}

int main() {
    check_widths<double>();
    check_widths<float>();
    return check::report();
}
#else
int main() {}
#endif
