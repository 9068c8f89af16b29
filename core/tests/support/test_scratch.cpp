// Scratch memory: small or with large pages, it holds what is written to it.
#include "rectiline/support/scratch.hpp"

#include "check.hpp"
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace rectiline::support;

int main() {
    ScratchVector<double> data;
    for (const std::size_t count : {std::size_t{0}, std::size_t{7}, std::size_t{600000},
                                    std::size_t{100}, std::size_t{700000}}) {
        renew(data, count);
        CHECK(data.size() == count && data.capacity() >= count);
        std::iota(data.begin(), data.end(), 1.0);
        if (count > 0) CHECK(data.front() == 1.0 && data.back() == static_cast<double>(count));
    }
    const double* before = data.data();
    renew(data, 650000);  // there is room: nothing moves
    CHECK(data.data() == before && data[649999] == 650000.0);

    // as a vector: what is given is kept when it grows
    ScratchVector<std::int64_t> numbers(3, 5);
    for (std::int64_t k = 0; k < 400000; ++k)
        numbers.push_back(k);
    CHECK(numbers[0] == 5 && numbers[2] == 5 && numbers[3] == 0 && numbers.back() == 399999);
    ScratchVector<std::int64_t> other = numbers;
    CHECK(other == numbers);
    other.clear();
    other.shrink_to_fit();
    CHECK(other.empty());
    return check::report();
}
