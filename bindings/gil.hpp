// Giving up Python's lock and taking it back, also in daemon threads while the process ends.
//
// Python ends such a thread where it asks for the lock, by unwinding it, and C++ answers that with
// std::terminate. So nobody here asks for the lock once the process ends: the thread sleeps
// instead.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <thread>
#ifndef _WIN32
#include <pthread.h>
#endif

namespace gil {

inline std::atomic<bool> process_ends{false};
inline std::atomic<int> threads_inside{0};  // that ask for the lock, or run Python for a loop
inline thread_local int depth = 0;
inline thread_local bool ends_process = false;  // in the thread that runs `end_process`

// While it lives, `end_process` waits; not made any more once the process ends.
class Inside {
  public:
    Inside() {
        if (depth++ > 0) return;
        ++threads_inside;
        if (!process_ends || ends_process) return;
        --threads_inside;
        for (;;)
            std::this_thread::sleep_for(std::chrono::hours(1));
    }
    ~Inside() {
        if (--depth == 0) --threads_inside;
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
};

// As nb::gil_scoped_release.
class Released {
  public:
    Released() : state_(PyEval_SaveThread()) {}
    ~Released() {
        Inside inside;
        PyEval_RestoreThread(state_);
    }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

  private:
    PyThreadState* state_;
};

// As nb::gil_scoped_acquire.
class Acquired {
    Inside inside_;
    nanobind::gil_scoped_acquire acquired_;
};

// Called by `atexit`: lets the threads that are inside finish, for a while, and nobody in.
inline void end_process() {
    ends_process = true;
    process_ends = true;
    const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    PyThreadState* const state = PyEval_SaveThread();
    while (threads_inside > 0 && std::chrono::steady_clock::now() < latest)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
}

inline void end_threads_with_process() {
#ifndef _WIN32
    pthread_atfork(nullptr, nullptr, [] { threads_inside = depth > 0 ? 1 : 0; });
#endif
    nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(&end_process));
}

}  // namespace gil
