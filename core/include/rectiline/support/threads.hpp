// A small pool of worker threads. Work is cut into chunks whose number depends on the data alone,
// and partial results are combined in chunk order, so results do not depend on how many threads
// run.
#pragma once

#include "rectiline/rooms.hpp"

#include <type_traits>

namespace rectiline::support {

// A reference to something callable with a chunk number; unlike std::function it never allocates.
class ChunkWork {
  public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, ChunkWork>)
    ChunkWork(F&& f)  // NOLINT: implicit on purpose, lives for one call
        : object_(const_cast<void*>(static_cast<const void*>(&f))),
          call_([](void* object, std::int64_t chunk) {
              (*static_cast<std::remove_reference_t<F>*>(object))(chunk);
          }) {}
    void operator()(std::int64_t chunk) const { call_(object_, chunk); }

  private:
    void* object_;
    void (*call_)(void*, std::int64_t);
};

// Threads that loops of the calling thread use: what was set for this thread, else for the process,
// else RECTILINE_NUM_THREADS, else OMP_NUM_THREADS, else one.
int thread_count();

// Sets that number for the calling thread, or for all threads without one of their own; 0 takes the
// setting back. Returns what was set before.
int set_thread_count(int count);
int set_process_thread_count(int count);

// Calls work(chunk) for chunk = 0 .. n_chunks-1 on up to thread_count() threads (the caller is
// one). Nested calls run on the calling thread. An exception thrown by a chunk, on whichever
// thread, stops further chunks from starting and is rethrown here once all threads have left.
void parallel_chunks(std::int64_t n_chunks, ChunkWork work);

// Rows of a stretch in loops that do little for each row, and stretches from which on they are
// shared out: below, waking threads costs more than it saves.
inline constexpr std::int64_t kStretch = 16384, kManyStretches = 4;

inline std::int64_t stretch_count(std::int64_t n) {
    return (n + kStretch - 1) / kStretch;
}

// Calls work(first, last) for stretches of n rows.
template <class Work>
void over_stretches(std::int64_t n, const Work& work) {
    const auto one = [&](std::int64_t k) { work(k * kStretch, std::min(n, (k + 1) * kStretch)); };
    const std::int64_t count = stretch_count(n);
    if (count >= kManyStretches) return parallel_chunks(count, one);
    for (std::int64_t k = 0; k < count; ++k)
        one(k);
}

// Calls work(i) for each of n rows, which must not depend on one another.
template <class Work>
void over_each_row(std::int64_t n, const Work& work) {
    over_stretches(n, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            work(i);
    });
}

// Returns part(first, last) of all stretches of n rows, in their order.
template <class Part>
auto each_stretch(std::int64_t n, const Part& part) {
    std::vector<decltype(part(n, n))> found(stretch_count(n));
    over_stretches(n, [&](std::int64_t first, std::int64_t last) {
        found[first / kStretch] = part(first, last);
    });
    return found;
}

}  // namespace rectiline::support
