// Neumaier's compensated sum. Files that use it must not be compiled with -ffast-math.
#pragma once

#include <cmath>

namespace rectiline {

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

}  // namespace rectiline
