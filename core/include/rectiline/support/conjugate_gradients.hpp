// Conjugate gradients with a diagonal preconditioner, for symmetric positive matrices that are
// known by their products.
#pragma once

#include "rectiline/support/vectors.hpp"

namespace rectiline::support {

class ConjugateGradients {
  public:
    // x = about the solution of A x = right, from zero; `diagonal` is about that of A. Ends when
    // the preconditioned residual is `share` of what it was, after `most` products, or when stop()
    // says so. Returns the number of products.
    template <class Multiply, class Stop>
    std::int64_t solve(const Multiply& multiply, std::span<const double> right,
                       std::span<const double> diagonal, double share, std::int64_t most,
                       const Stop& stop, std::span<double> x) {
        const std::int64_t size = std::ssize(right);
        residual_.assign(right.begin(), right.end());
        search_.assign(right.size(), 0.0), product_.resize(right.size());
        std::fill(x.begin(), x.end(), 0.0);
        double energy = 0, enough = 0;
        for (std::int64_t done = 0;; ++done) {
            double next = 0;
            for (std::int64_t j = 0; j < size; ++j)
                next += residual_[j] * residual_[j] / diagonal[j];
            if (done == 0) enough = share * share * next;
            if (next <= enough || done >= most || stop()) return done;
            const double turn = done == 0 ? 0.0 : next / energy;
            for (std::int64_t j = 0; j < size; ++j)
                search_[j] = residual_[j] / diagonal[j] + turn * search_[j];
            energy = next;
            multiply(search_, product_);
            const double curvature = dot(search_.data(), product_.data(), size);
            if (!(curvature > 0)) return done;
            axpy(energy / curvature, search_.data(), x.data(), size);
            axpy(-energy / curvature, product_.data(), residual_.data(), size);
        }
    }

  private:
    std::vector<double> residual_, search_, product_;
};

}  // namespace rectiline::support
