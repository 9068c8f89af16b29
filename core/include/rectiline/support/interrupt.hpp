// How long-running loops ask whether to stop. The core has no clock and no signals of its own: the
// caller supplies a function and the core polls it about every `kPollEvery` multiply-adds, and
// before pieces of work that cannot be stopped once they have begun.
#pragma once

#include "rectiline/rooms.hpp"

namespace rectiline::support {

class Interrupt {
  public:
    // Whether to stop, now or because `ahead` more multiply-adds would take too long.
    using Check = bool (*)(void* context, std::int64_t ahead);
    Interrupt() = default;
    Interrupt(Check check, void* context) : check_(check), context_(context) {}

    // Reports `work` multiply-adds done; true when the loop should return now.
    bool poll(std::int64_t work) {
        pending_ += work;
        if (pending_ < kPollEvery || check_ == nullptr) return stopped_;
        pending_ = 0;
        return stopped_ = stopped_ || check_(context_, 0);
    }
    // Says that `work` multiply-adds come next which cannot be stopped; true when the loop should
    // return instead of beginning them.
    bool poll_ahead(std::int64_t work) {
        if (work < kPollEvery || check_ == nullptr) return stopped_;
        return stopped_ = stopped_ || check_(context_, work);
    }
    bool stopped() const { return stopped_; }

  private:
    static constexpr std::int64_t kPollEvery = std::int64_t{1} << 24;
    Check check_ = nullptr;
    void* context_ = nullptr;
    std::int64_t pending_ = 0;
    bool stopped_ = false;
};

}  // namespace rectiline::support
