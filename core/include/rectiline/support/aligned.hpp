// Storage that starts on a cache line, for matrices whose rows should.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace rectiline::support {

constexpr std::int64_t kLineOfDoubles = 8;

template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
    bool operator==(const LineAllocator&) const { return true; }
};

using AlignedVector = std::vector<double, LineAllocator<double>>;

inline std::int64_t whole_lines(std::int64_t size) {
    return (size + kLineOfDoubles - 1) / kLineOfDoubles * kLineOfDoubles;
}

}  // namespace rectiline::support
