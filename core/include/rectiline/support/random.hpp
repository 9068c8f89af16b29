// A small seeded generator (splitmix64): the same sequence on every platform, unlike std::shuffle.
#pragma once

#include "rectiline/rooms.hpp"

#include <utility>

namespace rectiline::support {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    // Uniform in [0, bound): the high half of a 32 x 32 bit product; bound < 2^32.
    std::uint64_t below(std::uint64_t bound) { return ((next() >> 32) * bound) >> 32; }
    template <class T>
    void shuffle(T* items, std::int64_t count) {
        for (std::int64_t k = count - 1; k > 0; --k)
            std::swap(items[k], items[below(static_cast<std::uint64_t>(k + 1))]);
    }

  private:
    std::uint64_t state_;
};

}  // namespace rectiline::support
