// The pool of workers: every chunk once, nested calls, exceptions from any thread, forked children.
#include "rectiline/support/threads.hpp"

#include "check.hpp"
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(__unix__) && !defined(__SANITIZE_THREAD__)  // which forbids threads in a forked child
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace rectiline::support;

namespace {

void run(int threads, std::int64_t n_chunks, ChunkWork work) {
    set_thread_count(threads);
    parallel_chunks(n_chunks, work);
}

void every_chunk_runs_once() {
    for (int threads : {1, 2, 5}) {
        std::vector<int> seen(1000, 0);
        run(threads, 1000, [&](std::int64_t chunk) { ++seen[chunk]; });
        for (const int count : seen)
            CHECK(count == 1);
    }
    run(3, 0, [](std::int64_t) { CHECK(false); });
}

void nested_calls_stay_on_their_thread() {
    std::atomic<int> strayed{0};
    run(3, 12, [&](std::int64_t) {
        const auto here = std::this_thread::get_id();
        run(3, 4, [&](std::int64_t) {
            if (std::this_thread::get_id() != here) ++strayed;
        });
    });
    CHECK(strayed == 0);
}

// All threads must be inside at once: with fewer than `threads` of them this would not return, so
// it gives up after a while.
bool run_side_by_side(int threads) {
    std::atomic<int> inside{0}, met{0};
    run(threads, threads, [&](std::int64_t) {
        ++inside;
        for (int wait = 0; inside < threads && wait < 2000; ++wait)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        if (inside == threads) ++met;
    });
    return met == threads;
}

// The exception is thrown on a worker, never on the calling thread.
void an_exception_reaches_the_caller() {
    const auto caller = std::this_thread::get_id();
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> thrown{0}, started{0};
        bool caught = false;
        try {
            run(3, 3, [&](std::int64_t) {
                ++started;
                if (std::this_thread::get_id() == caller) {
                    while (thrown == 0)
                        std::this_thread::yield();
                    return;
                }
                ++thrown;
                throw std::bad_alloc();
            });
        } catch (const std::bad_alloc&) {
            caught = true;
        }
        CHECK(caught && thrown >= 1 && started <= 3);
    }
    every_chunk_runs_once();  // the pool still works, and is not taken for a nested call
    CHECK(run_side_by_side(3));
}

void later_chunks_do_not_start() {
    for (int threads : {1, 3}) {
        std::atomic<int> started{0};
        std::string message;
        try {
            run(threads, 1'000'000, [&](std::int64_t chunk) {
                ++started;
                if (chunk == 10) throw std::runtime_error("chunk 10");
            });
        } catch (const std::runtime_error& error) {
            message = error.what();
        }
        CHECK(message == "chunk 10");
        CHECK(started < 1'000'000);
    }
}

void a_forked_child_has_workers() {
#if defined(__unix__) && !defined(__SANITIZE_THREAD__)  // which forbids threads in a forked child
    CHECK(run_side_by_side(3));
    const pid_t child = fork();
    if (child == 0) _exit(run_side_by_side(3) ? 0 : 1);
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
}

}  // namespace

int main() {
    every_chunk_runs_once();
    nested_calls_stay_on_their_thread();
    an_exception_reaches_the_caller();
    later_chunks_do_not_start();
    a_forked_child_has_workers();
    return check::report();
}
