#include "rectiline/support/threads.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace rectiline::support {
namespace {

struct Job {
    const ChunkWork* work;
    std::int64_t n_chunks;
    int helpers_wanted;
    std::atomic<std::int64_t> next{0};
    int helpers_inside = 0;
    std::atomic<bool> failed{false};
    std::exception_ptr error{};  // written once, by the thread that set `failed`

    // After an exception no further chunk is started; the first one that was caught is kept.
    void keep_error() {
        if (!failed.exchange(true)) error = std::current_exception();
        next.store(n_chunks);
    }
};

thread_local bool inside_job = false;

void drain(Job& job) {
    inside_job = true;
    try {
        for (std::int64_t chunk; (chunk = job.next.fetch_add(1)) < job.n_chunks;)
            (*job.work)(chunk);
    } catch (...) {
        job.keep_error();
    }
    inside_job = false;
}

class Pool {
  public:
    static Pool& instance() {
        static const bool registered = [] {
#if defined(__unix__) || defined(__APPLE__)
            // A forked child has none of the workers, and the locks in whatever state they were.
            pthread_atfork(nullptr, nullptr, [] { current() = new Pool; });
#endif
            return true;
        }();
        (void)registered;
        return *current();
    }

    void run(int n_threads, std::int64_t n_chunks, const ChunkWork& work) {
        std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
        if (!turn.owns_lock()) {  // another Python thread is using the pool: do it alone
            for (std::int64_t chunk = 0; chunk < n_chunks; ++chunk)
                work(chunk);
            return;
        }
        Job job{&work, n_chunks, n_threads - 1};
        {
            std::lock_guard<std::mutex> lock(mutex_);
            start_workers(n_threads - 1);
            job_ = &job;
        }
        wake_.notify_all();
        drain(job);
        {
            std::unique_lock<std::mutex> lock(mutex_);
            job_ = nullptr;
            idle_.wait(lock, [&] { return job.helpers_inside == 0; });
        }
        if (job.failed) std::rethrow_exception(job.error);
    }

  private:
    // Leaked on purpose: workers may outlive static destruction in an embedding interpreter.
    static Pool*& current() {
        static Pool* pool = new Pool;
        return pool;
    }

    void start_workers(int wanted) {
        try {
            for (; n_workers_ < wanted; ++n_workers_)
                std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {
            // The system gives no more threads: those there are, or the caller alone, do the work.
        }
    }

    void serve() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return job_ && job_->helpers_wanted > 0; });
            Job* job = job_;
            --job->helpers_wanted;
            ++job->helpers_inside;
            lock.unlock();
            drain(*job);
            lock.lock();
            if (--job->helpers_inside == 0) idle_.notify_all();
        }
    }

    std::mutex turn_, mutex_;
    std::condition_variable wake_, idle_;
    int n_workers_ = 0;
    Job* job_ = nullptr;
};

int positive_environment_number(const char* name) {
    const char* text = std::getenv(name);
    const int number = text ? std::atoi(text) : 0;
    return number > 0 ? number : 0;
}

int asked_by_environment() {
    for (const char* name : {"RECTILINE_NUM_THREADS", "OMP_NUM_THREADS"})
        if (const int number = positive_environment_number(name)) return number;
    return 1;
}

thread_local int own_count = 0;
std::atomic<int> process_count{0};

}  // namespace

int thread_count() {
    static const int asked = asked_by_environment();  // once: the environment may change meanwhile
    if (own_count > 0) return own_count;
    const int count = process_count.load(std::memory_order_relaxed);
    return count > 0 ? count : asked;
}

int set_thread_count(int count) {
    return std::exchange(own_count, count);
}

int set_process_thread_count(int count) {
    return process_count.exchange(count);
}

void parallel_chunks(std::int64_t n_chunks, ChunkWork work) {
    const int n_threads = static_cast<int>(std::min<std::int64_t>(thread_count(), n_chunks));
    if (n_threads <= 1 || inside_job) {
        for (std::int64_t chunk = 0; chunk < n_chunks; ++chunk)
            work(chunk);
        return;
    }
    Pool::instance().run(n_threads, n_chunks, work);
}

}  // namespace rectiline::support
