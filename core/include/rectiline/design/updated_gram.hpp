// Weighted Gram matrix of the rows of X for weights that change little from call to call: only the
// rows whose weight changed are added and taken off.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/design/gram.hpp"
#include "rectiline/rooms.hpp"
#include "rectiline/support/interrupt.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace rectiline::design {

class UpdatedGram {
  public:
    // sum_i weight_i x_i x_i' over all rows, each extended by a one when there is an intercept;
    // both halves filled. Nothing if it was interrupted; the next call starts from scratch then.
    const std::vector<double>* at(const DesignView& X, std::span<const double> weight,
                                  bool intercept, support::Interrupt& interrupt);

  private:
    bool list_changes(std::span<const double> weight);

    std::vector<double> gram_, weight_;  // the last matrix, and the weights behind it
    WeightedRows used_, risen_, fallen_;
    std::int64_t calls_ = 0;
};

}  // namespace rectiline::design
