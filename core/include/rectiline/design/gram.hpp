// Weighted Gram matrices of selected rows: H = sum_k weight_k x_{row_k} x_{row_k}', with the row
// extended by a one when there is an intercept. H is (d + intercept)^2, symmetric, both halves
// filled. A sparse X has to be compressed by rows.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <span>

namespace rectiline::design {

// Returns false, and leaves H alone, if it was interrupted.
bool weighted_gram(const DesignView& X, std::span<const std::int64_t> rows,
                   std::span<const double> weight, bool intercept, std::span<double> H,
                   support::Interrupt& interrupt);

}  // namespace rectiline::design
