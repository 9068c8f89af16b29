// A small pool of worker threads. Work is cut into chunks whose number depends on the data alone,
// and partial results are combined in chunk order, so results do not depend on how many threads
// run.
#pragma once

#include "rectiline/rooms.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

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

// Number of threads used when a caller asks for 0: RECTILINE_NUM_THREADS, else OMP_NUM_THREADS,
// else the number of cores this process may use.
int default_thread_count();

// Calls work(chunk) for chunk = 0 .. n_chunks-1 on up to n_threads threads (the caller is one).
// Nested calls run on the calling thread. An exception thrown by a chunk, on whichever thread,
// stops further chunks from starting and is rethrown here once all threads have left.
void parallel_chunks(int n_threads, std::int64_t n_chunks, ChunkWork work);

}  // namespace rectiline::support
