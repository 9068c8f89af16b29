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
inline std::atomic<int> threads_known{0};   // that have given up the lock here and still exist
inline std::atomic<int> threads_asleep{0};  // of these, until the process has ended
inline std::atomic<int> threads_inside{0};  // that ask for the lock, or run Python for a loop

struct Thread {
    int depth = 0;  // of `Inside`
    bool ends_process = false;
    Thread() { ++threads_known; }
    ~Thread() { --threads_known; }
};
inline thread_local Thread thread;

// While it lives, `end_process` waits; not made any more once the process ends.
class Inside {
  public:
    Inside() {
        if (thread.depth++ > 0) return;
        ++threads_inside;
        if (!process_ends || thread.ends_process) return;
        --threads_inside;
        ++threads_asleep;
        for (;;)
            std::this_thread::sleep_for(std::chrono::hours(1));
    }
    ~Inside() {
        if (--thread.depth == 0) --threads_inside;
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

// Called by `atexit`: gives other threads the time to leave Python and to fall asleep; those that
// wait for something else do not, and are not waited for long.
inline void end_process() {
    using namespace std::chrono;
    thread.ends_process = true;
    process_ends = true;
    const auto begin = steady_clock::now();
    PyThreadState* const state = PyEval_SaveThread();
    const auto is_awaited = [&] {
        const auto waited = steady_clock::now() - begin;
        if (threads_inside > 0) return waited < seconds(2);
        return threads_known - threads_asleep > 1 && waited < milliseconds(200);
    };
    while (is_awaited())
        std::this_thread::sleep_for(milliseconds(1));
    PyEval_RestoreThread(state);
}

inline void end_threads_with_process() {
#ifndef _WIN32
    pthread_atfork(nullptr, nullptr, [] {
        threads_known = 1;
        threads_inside = thread.depth > 0 ? 1 : 0;
    });
#endif
    nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(&end_process));
}

}  // namespace gil
