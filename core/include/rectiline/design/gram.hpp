// Weighted Gram matrices of selected rows: H = sum_k weight_k x_{row_k} x_{row_k}', with the row
// extended by a one when there is an intercept. H is (d + intercept)^2, symmetric, both halves
// filled. A sparse X has to be compressed by rows.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/support/interrupt.hpp"

namespace rectiline::design {

// Rows with weights of their own.
struct WeightedRows {
    std::vector<std::int64_t> index;
    std::vector<double> weight;

    void clear() { index.clear(), weight.clear(); }
    void add(std::int64_t i, double w) { index.push_back(i), weight.push_back(w); }
    void append(const WeightedRows& other) {
        index.insert(index.end(), other.index.begin(), other.index.end());
        weight.insert(weight.end(), other.weight.begin(), other.weight.end());
    }
};

// Returns false, and leaves H alone, if it was interrupted.
bool weighted_gram(const DesignView& X, std::span<const std::int64_t> rows,
                   std::span<const double> weight, bool intercept, std::span<double> H,
                   Interrupt& interrupt);

// H += sign times the matrix of these rows, likewise; an empty H stands for zeros.
bool add_weighted_gram(const DesignView& X, const WeightedRows& rows, bool intercept, double sign,
                       std::vector<double>& H, Interrupt& interrupt);

// ---- updates ------------------------------------------------------------------------------------

// Weighted Gram matrix of the rows of X for weights that change little from call to call: only the
// rows whose weight changed are added and taken off.

class UpdatedGram {
  public:
    // sum_i weight_i x_i x_i' over all rows, each extended by a one when there is an intercept;
    // both halves filled. Nothing if it was interrupted; the next call starts from scratch then.
    const std::vector<double>* at(const DesignView& X, std::span<const double> weight,
                                  bool intercept, Interrupt& interrupt);

  private:
    bool list_changes(std::span<const double> weight);

    std::vector<double> gram_, weight_;  // the last matrix, and the weights behind it
    WeightedRows used_, risen_, fallen_;
    std::int64_t calls_ = 0;
};

}  // namespace rectiline::design
