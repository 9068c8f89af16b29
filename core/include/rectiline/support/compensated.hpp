// Compensated sums: the rounding of every addition is kept and added at the end. Files that use
// them must not be compiled with -ffast-math.
#pragma once

#include "rectiline/rooms.hpp"

namespace rectiline::support {

// Neumaier's sum; an infinite term makes it infinite.
class CompensatedSum {
  public:
    void add(double x) {
        const double next = sum_ + x;
        if (std::isfinite(next))
            lost_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - next) + x : (x - next) + sum_;
        sum_ = next;
    }
    double value() const { return sum_ + lost_; }

  private:
    double sum_ = 0.0, lost_ = 0.0;
};

// Sums of many finite numbers, several lanes side by side without a branch (Knuth), with the plain
// sum of their sizes.
class CompensatedLanes {
  public:
    RECTILINE_MULTIVERSION void add(const double* x, std::int64_t count) {
        CompensatedLanes local = *this;  // in registers
        std::int64_t i = 0;
        for (; i + kLanes <= count; i += kLanes)
            for (int lane = 0; lane < kLanes; ++lane)
                local.add_to(lane, x[i + lane]);
        for (int lane = 0; i < count; ++i, ++lane)
            local.add_to(lane, x[i]);
        *this = local;
    }
    double value() const {
        CompensatedSum total;
        for (int lane = 0; lane < kLanes; ++lane)
            total.add(sum_[lane]), total.add(lost_[lane]);
        return total.value();
    }
    double size() const {
        double total = 0;
        for (int lane = 0; lane < kLanes; ++lane)
            total += size_[lane];
        return total;
    }

  private:
    static constexpr int kLanes = 16;
    double sum_[kLanes] = {}, lost_[kLanes] = {}, size_[kLanes] = {};

    RECTILINE_INLINE void add_to(int lane, double x) {
        const double old = sum_[lane], next = old + x, part = next - old;
        lost_[lane] += (old - (next - part)) + (x - part);
        sum_[lane] = next;
        size_[lane] += x < 0 ? -x : x;
    }
};

}  // namespace rectiline::support
