// What the Newton method reduces over its rows: the image, the matrix, and products with the rows
// of the free set J.
#include "rectiline/design/products.hpp"
#include "rectiline/design/row_access.hpp"
#include "rectiline/newton/newton_kernels.hpp"
#include "rectiline/newton/newton_rows.hpp"
#include "rectiline/support/threads.hpp"

#include <algorithm>
#include <cassert>

namespace rectiline::newton {

void NewtonRows::list_free() const {
    if (free_listed_) return;
    // Which rows these are is hard to foresee for a processor, so every row is written and the
    // place moves on by one or not at all.
    free_.resize(static_cast<std::size_t>(rows_.n) + 1);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        free_[count] = i;
        count += newton_weight_[i] > 0;
    }
    free_.resize(static_cast<std::size_t>(count));
    free_weight_.resize(free_.size());
    for (std::size_t k = 0; k < free_.size(); ++k)
        free_weight_[k] = newton_weight_[free_[k]];
    free_listed_ = true;
}

const std::vector<double>& NewtonRows::image() {
    if (image_valid_ && image_current_) return image_;
    const std::int64_t n = rows_.n, d = n_columns(X_);
    std::int64_t changed = 0;
    for (const std::int64_t part : each_stretch(n, [&](std::int64_t first, std::int64_t last) {
             return count_changed(s_.data() + first, imaged_.data() + first, last - first);
         }))
        changed += part;
    image_current_ = true;
    if (image_valid_ && changed == 0) return image_;
    constexpr std::int64_t kRefreshEvery = 16;  // removes the rounding of repeated updates
    const bool full = !image_valid_ || ++images_ % kRefreshEvery == 0 || 2 * changed > n;
    if (full) std::fill(imaged_.begin(), imaged_.end(), 0.0);
    double sum = 0;
    for (const double part : each_stretch(n, [&](std::int64_t first, std::int64_t last) {
             return change_pass(rows_.weight + first, rows_.direction + first, s_.data() + first,
                                last - first, imaged_.data() + first, change_.data() + first);
         }))
        sum += part;
    // Products skip zero weights, so an update costs only the rows whose slope changed.
    image_change_.resize(static_cast<std::size_t>(d));
    multiply_transposed(X_, change_, image_change_);
    if (full) std::fill(image_.begin(), image_.end(), 0.0);
    for (std::int64_t j = 0; j < d; ++j)
        image_[j] += image_change_[j];
    if (intercept_) image_[d] += sum;

    image_valid_ = true;
    return image_;
}

void NewtonRows::scale_slopes(double factor) {
    image();  // of the slopes at hand
    saved_slopes_ = s_, saved_image_ = image_;
    for (double& slope : s_)
        slope *= factor;
    for (double& entry : image_)
        entry *= factor;
    imaged_ = s_;
    evaluated_for_ = -1;
}

void NewtonRows::restore_slopes() {
    s_ = saved_slopes_, image_ = saved_image_;
    imaged_ = s_;
}

bool NewtonRows::gram(std::span<double> H, Interrupt& interrupt) {
    assert(std::ssize(H) == order() * order());
    const std::vector<double>* sum = gram_.at(X_, newton_weight_, intercept_, interrupt);
    if (sum != nullptr) std::copy(sum->begin(), sum->end(), H.begin());
    return sum != nullptr;
}

std::int64_t NewtonRows::free_entries() const {
    list_free();
    std::int64_t total = 0;
    with_row_access(X_, [&](auto& access) {
        for (const std::int64_t i : free_)
            total += access.length(i);
    });
    return total;
}

void NewtonRows::free_rows(std::span<double> P) const {
    list_free();
    const std::int64_t width = order();
    assert(std::ssize(P) == n_free() * width);
    std::fill(P.begin(), P.end(), 0.0);
    with_row_access(X_, [&](auto& access) {
        access.reserve();
        for (std::int64_t k = 0; k < n_free(); ++k) {
            double* row = P.data() + k * width;
            access.load({&free_[k], 1});
            access.for_each(0, free_[k], [&](std::int64_t j, double x) { row[j] = x; });
            if (intercept_) row[width - 1] = 1.0;
        }
    });
}

namespace {

template <class Rows>
RECTILINE_MULTIVERSION double add_weighted(Rows& access, std::span<const std::int64_t> free,
                                           const double* weight, const double* b, double b0,
                                           double* q) {
    double sum = 0;
    for (std::size_t k = 0; k < free.size(); ++k) {
        access.load({&free[k], 1});
        const double u = weight[k] * (access.dot(0, free[k], b) + b0);
        access.axpy(0, free[k], u, q);
        sum += u;
    }
    return sum;
}

}  // namespace

void NewtonRows::add_free_product(std::span<const double> b, std::span<double> q) const {
    assert(std::ssize(b) == order() && std::ssize(q) == order());
    list_free();
    double sum = 0;
    with_row_access(X_, [&](auto& access) {
        access.reserve();
        sum = add_weighted(access, free_, free_weight_.data(), b.data(),
                           intercept_ ? b.back() : 0.0, q.data());
    });
    if (intercept_) q.back() += sum;
}

}  // namespace rectiline::newton
