// A small pool of worker threads. Work is cut into chunks whose number depends on the data alone,
// and partial results are combined in chunk order, so results do not depend on how many threads run.
#pragma once

#include <cstdint>
#include <functional>

namespace rectiline {

// Number of threads used when a caller asks for 0: RECTILINE_NUM_THREADS, else OMP_NUM_THREADS, else
// the number of cores this process may use.
int default_thread_count();

// Calls work(chunk) for chunk = 0 .. n_chunks-1 on up to n_threads threads (the caller is one).
// Nested calls run on the calling thread.
void parallel_chunks(int n_threads, std::int64_t n_chunks, const std::function<void(std::int64_t)>& work);

}  // namespace rectiline
