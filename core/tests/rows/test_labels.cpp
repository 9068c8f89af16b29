// Two labels become signs, for any number of threads; anything else is refused.
#include "rectiline/rows/labels.hpp"
#include "rectiline/support/threads.hpp"

#include "check.hpp"
#include <limits>
#include <vector>

using namespace rectiline::rows;

namespace {

void check_signs(int threads) {
    rectiline::support::set_thread_count(threads);
    std::vector<double> y(100'003), sign(y.size());
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = i % 3 == 0 ? 7.0 : -2.5;
    const Labels found = signs_of_labels(y, sign);
    CHECK(found.are_two && found.low == -2.5 && found.high == 7.0);
    for (std::size_t i = 0; i < y.size(); ++i)
        CHECK(sign[i] == (i % 3 == 0 ? 1.0 : -1.0));
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double other : {0.0, 8.0, -kInfinity, kInfinity, kInfinity - kInfinity})
        for (const std::size_t place : {std::size_t{0}, std::size_t{70'000}, y.size() - 1}) {
            std::vector<double> wrong = y;
            wrong[place] = other;
            CHECK(!signs_of_labels(wrong, sign).are_two);
        }
    const std::vector<double> one_label(50, 1.0);
    std::vector<double> few(50);
    CHECK(!signs_of_labels(one_label, few).are_two);
    CHECK(!signs_of_labels({}, {}).are_two);
}

}  // namespace

int main() {
    for (const int threads : {1, 3})
        check_signs(threads);
    return check::report();
}
