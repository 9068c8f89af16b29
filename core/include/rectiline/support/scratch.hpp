// Memory for large arrays that are filled before they are read: nothing is set to zero, and the
// system is asked for large pages, of which there are few to set up.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rectiline::support {

template <class T>
class ScratchAllocator {
  public:
    using value_type = T;

    ScratchAllocator() = default;
    template <class Other>
    ScratchAllocator(const ScratchAllocator<Other>&) {}

    T* allocate(std::size_t count) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        const std::size_t bytes = count * sizeof(T);
        if (bytes >= kLarge) {
            const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
            void* found = std::aligned_alloc(kPage, whole);
            if (!found) throw std::bad_alloc();
            madvise(found, whole, MADV_HUGEPAGE);  // a wish: nothing depends on it
            return static_cast<T*>(found);
        }
#endif
        return static_cast<T*>(::operator new(count * sizeof(T)));
    }
    void deallocate(T* data, [[maybe_unused]] std::size_t count) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (count * sizeof(T) >= kLarge) return std::free(data);
#endif
        ::operator delete(data);
    }
    // Left as they are; other ways to construct are the usual ones.
    template <class U>
    void construct(U* place) noexcept {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Arguments>
    void construct(U* place, Arguments&&... arguments) {
        ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
    }
    template <class Other>
    bool operator==(const ScratchAllocator<Other>&) const {
        return true;
    }

  private:
    static constexpr std::size_t kPage = std::size_t{2} << 20, kLarge = kPage;
};

template <class T>
using ScratchVector = std::vector<T, ScratchAllocator<T>>;

// Makes room for `count` entries; what was there is lost.
template <class T>
void renew(ScratchVector<T>& data, std::size_t count) {
    if (data.capacity() < count) {
        data.clear();
        data.shrink_to_fit();
        data.reserve(count + count / 4);
    }
    data.resize(count);
}

}  // namespace rectiline::support
