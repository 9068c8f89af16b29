// The proximal step of the sorted L1 norm:
//
//     argmin_b  |b - v|^2 / 2 + sum_k strengths_k |b|_(k),     |b|_(1) >= |b|_(2) >= ...
//
// Sorted by size, the answer is the closest non-increasing sequence to |v|_(k) - strengths_k, cut
// at zero (pool adjacent violators). Entries of one pooled block come out equal to the last bit, so
// that clusters can be read off the result.
#pragma once

#include "rectiline/rooms.hpp"

#include <span>

namespace rectiline::prox {

// strengths must be non-increasing and non-negative; result may not overlap v, and all
// three have one size.
void sorted_l1_prox(std::span<const double> v, std::span<const double> strengths,
                    std::span<double> result);

}  // namespace rectiline::prox
