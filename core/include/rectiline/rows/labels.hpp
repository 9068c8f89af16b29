// Two labels as signs, for losses of the margin.
#pragma once

#include "rectiline/rooms.hpp"

#include <span>

namespace rectiline::rows {

struct Labels {
    double low, high;
    bool are_two;  // the vector holds these two, finite ones, and nothing else
};

// Sets sign to -1 for the smaller and to +1 for the larger label of y, if there are exactly two.
Labels signs_of_labels(std::span<const double> y, std::span<double> sign);

}  // namespace rectiline::rows
