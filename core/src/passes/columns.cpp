#include "rectiline/passes/columns.hpp"

#include "rectiline/support/threads.hpp"

#include <cstring>

namespace rectiline::passes {
namespace {

// Adds words of `Each` numbers to the bits, and zero times each number to a sum that shows what is
// not finite.
template <std::int64_t Each, class T>
RECTILINE_MULTIVERSION void add_words(const T* x, std::int64_t words, std::uint64_t& bits,
                                      T& zero) {
    std::uint64_t sum = 0;
    T nothing = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < words; ++k) {
        std::uint64_t word;
        std::memcpy(&word, x + k * Each, sizeof word);
        sum += word;
    }
#pragma omp simd reduction(+ : nothing)
    for (std::int64_t k = 0; k < words * Each; ++k)
        nothing += 0 * x[k];
    bits += sum, zero += nothing;
}

}  // namespace

template <class T>
Seen look_at(std::span<const T> x) {
    constexpr std::int64_t kEach = sizeof(std::uint64_t) / sizeof(T);
    constexpr std::int64_t kWords = 1024;  // still in a cache when they are looked at again
    const std::int64_t words = std::ssize(x) / kEach;
    Seen seen;
    const auto look = [&](std::int64_t first, std::int64_t last) {
        Seen part;
        T zero = 0;
        for (std::int64_t k = first; k < last; k += kWords)
            add_words<kEach>(x.data() + k * kEach, std::min(kWords, last - k), part.bits, zero);
        part.is_finite = zero == 0;
        return part;
    };
    for (const Seen& part : each_stretch(words, look)) {
        seen.bits += part.bits;
        seen.is_finite = seen.is_finite && part.is_finite;
    }
    if (words * kEach < std::ssize(x)) {
        std::uint32_t word;
        std::memcpy(&word, &x.back(), sizeof word);
        seen.bits += word;
        seen.is_finite = seen.is_finite && 0 * x.back() == 0;
    }
    return seen;
}

template Seen look_at(std::span<const double>);
template Seen look_at(std::span<const float>);

}  // namespace rectiline::passes
