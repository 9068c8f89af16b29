// Sums of products without any rounding, as a list of doubles that do not overlap (Shewchuk).
#pragma once

#include <cmath>
#include <vector>

class ExactSum {
  public:
    void add(double x) {
        std::size_t kept = 0;
        for (const double part : parts_) {
            const double sum = x + part, moved = sum - x;
            const double rest = (x - (sum - moved)) + (part - moved);
            if (rest != 0) parts_[kept++] = rest;
            x = sum;
        }
        parts_.resize(kept);
        parts_.push_back(x);
    }
    void add_product(double x, double y) {
        const double product = x * y;
        add(std::fma(x, y, -product));
        add(product);
    }
    // How far a number is from the sum, up to the last digits of the distance.
    double distance(double value) const {
        ExactSum difference = *this;
        difference.add(-value);
        double total = 0;
        for (const double part : difference.parts_)
            total += part;
        return std::fabs(total);
    }

  private:
    std::vector<double> parts_;
};
