#include "rectiline/simplex/simplex.hpp"

#include "rectiline/support/random.hpp"
#include "rectiline/support/vectors.hpp"

#include <array>

namespace rectiline::simplex {

namespace {

constexpr double kOnKink = 1e-9;        // distance at which a kink counts as reached
constexpr std::int64_t kPatience = 40;  // steps that do not move before costs are perturbed
constexpr std::int64_t kMostPerturbed = 4;
constexpr std::int64_t kMostChecks = 5;  // vertices that were optimal but for rounding
constexpr double kPerturbation = 1e-7;
constexpr std::int64_t kMostUpdates = 150;   // between factorisations, or
constexpr std::int64_t kUpdatesPerSize = 2;  // times the size of the kernel if that is more

}  // namespace

// ---- the vertex of a basis ---------------------------------------------------------------------

void BoxedSimplex::refresh(bool factorise, Interrupt& interrupt) {
    const std::int64_t m = n_rows(), k = n_columns();
    if (factorise) {
        if (!kernel_.factorise(A_, interrupt)) normed_rows_ = 0;
        note_places();
    }
    unreported_ += step_work() + (m - normed_rows_) * kernel_.size() * kernel_.size();
    dt_.resize(k);
    step_.resize(k);
    for (auto* one : {&alpha_rows_, &tau_rows_, &moved_rows_, &flips_})
        one->resize(m);
    banned_.clear();
    compute_vertex();
    compute_values();
    if (normed_rows_ < m) compute_row_norms(normed_rows_);
}

// y from K'y = cost of the kernel's columns, with one step of refinement; then t and the ends.
void BoxedSimplex::compute_vertex() {
    const std::int64_t s = kernel_.size();
    gathered_.resize(s);
    right_.resize(s);
    line_.assign(s, 0.0);
    for (int round = 0; round < 2; ++round) {
        for (std::int64_t j = 0; j < s; ++j) {
            const double* column = A_.column(kernel_.columns[j]);
            double left = cost_[kernel_.columns[j]];
            if (round > 0)
                for (std::int64_t i = 0; i < s; ++i)
                    left -= column[kernel_.rows[i]] * line_[i];
            right_[j] = left;
        }
        kernel_.solve_transposed(right_.data(), gathered_.data());
        for (std::int64_t i = 0; i < s; ++i)
            line_[i] += gathered_[i];
    }
    std::fill(y_.begin(), y_.end(), 0.0);
    std::copy(cost_.begin(), cost_.end(), t_.begin());
    A_.subtract_rows(kernel_.rows.data(), line_.data(), s, t_.data());
    for (std::int64_t u = 0; u < n_columns(); ++u) {
        if (column_place_[u] >= 0)
            t_[u] = 0.0;
        else if (std::fabs(t_[u]) > kOnKink)
            turn_[u] = t_[u] > 0.0 ? -1.0 : 1.0;
    }
    for (std::int64_t i = 0; i < s; ++i) {
        const std::int32_t r = kernel_.rows[i];
        y_[r] = line_[i];
        if (std::fabs(line_[i]) > kOnKink) side_[r] = line_[i] > 0.0 ? 1.0 : -1.0;
        if (!std::isfinite(high_[r])) side_[r] = -1.0;
        if (!std::isfinite(low_[r])) side_[r] = 1.0;
    }
}

void BoxedSimplex::compute_values() {
    const std::int64_t s = kernel_.size(), m = n_rows();
    std::vector<std::int32_t> high;
    std::vector<double> full;
    for (std::int64_t u = 0; u < n_columns(); ++u)
        if (at_high(u) && open_[u] > 0.0) {
            high.push_back(static_cast<std::int32_t>(u));
            full.push_back(width_[u]);
        }
    slack_.assign(m, 0.0);
    A_.add_columns(high.data(), std::array{Combination{full.data(), slack_.data()}},
                   std::ssize(full));
    basic_.assign(s, 0.0);
    moved_.resize(s);
    for (int round = 0; round < 2; ++round) {
        for (std::int64_t i = 0; i < s; ++i) {
            const std::int32_t r = kernel_.rows[i];
            right_[i] = (side_[r] > 0.0 ? high_[r] : low_[r]) - slack_[r];
        }
        kernel_.solve(std::array{Combination{right_.data(), moved_.data()}});
        for (std::int64_t j = 0; j < s; ++j)
            basic_[j] += moved_[j];
        A_.add_columns(kernel_.columns.data(),
                       std::array{Combination{moved_.data(), slack_.data()}}, s);
    }
}

void BoxedSimplex::compute_row_norms(std::int64_t first) {
    const std::int64_t s = kernel_.size();
    row_norms_.resize(n_rows(), 1.0);
    gathered_.resize(s);
    line_.resize(s);
    for (std::int64_t r = first; r < n_rows(); ++r) {
        if (row_place_[r] >= 0) continue;
        for (std::int64_t j = 0; j < s; ++j)
            gathered_[j] = A_.column(kernel_.columns[j])[r];
        kernel_.solve_transposed(gathered_.data(), line_.data());
        double sum = 1.0;
        for (std::int64_t i = 0; i < s; ++i)
            sum += line_[i] * line_[i];
        row_norms_[r] = sum;
    }
    normed_rows_ = n_rows();
}

// ---- the loop ----------------------------------------------------------------------------------

// Moves every kink a little to the far side, so that edges between degenerate vertices have length.
void BoxedSimplex::perturb(Interrupt& interrupt) {
    Random random(static_cast<std::uint64_t>(7 + n_perturbed_));
    const double size = kPerturbation * std::pow(10.0, static_cast<double>(n_perturbed_));
    for (std::int64_t u = 0; u < n_columns(); ++u) {
        const double shift = size * (0.5 + 1e-6 * static_cast<double>(random.below(1000000))) *
                             (1.0 + std::fabs(given_cost_[u]));
        cost_[u] = given_cost_[u] + (at_high(u) ? shift : -shift);
    }
    perturbed_ = true;
    ++n_perturbed_;
    n_flat_ = 0;
    refresh(false, interrupt);
}

bool BoxedSimplex::is_worn() const {
    return kernel_.n_updates >= std::max(kMostUpdates, kUpdatesPerSize * kernel_.size());
}

std::int64_t BoxedSimplex::step_work() const {
    const std::int64_t s = kernel_.size();
    return s * (2 * s + n_columns() + 3 * n_rows()) + n_columns();
}

// Every pass of the loop, also one that only factorises anew, counts as a step and reports its work
// to the interrupt, so that nothing can keep it from ending.
SimplexOutcome BoxedSimplex::solve(std::int64_t most_steps, Interrupt& interrupt,
                                   double most_work) {
    const double limit = work_ + most_work;
    cost_ = given_cost_;
    perturbed_ = false;
    n_flat_ = n_perturbed_ = 0;
    refresh(is_worn(), interrupt);
    std::int64_t checks = 0;
    bool exact = true;  // whether the values have just been computed from the factors
    for (std::int64_t done = 0; done < most_steps; ++done) {
        if (work_ > limit || interrupt.poll(unreported_)) return SimplexOutcome::limit;
        unreported_ = 0;
        Leaving leaving;
        if (!price(leaving)) {
            if (!all_finite(basic_) || !all_finite(slack_) || !all_finite(y_))
                return SimplexOutcome::trouble;
            if (exact && !perturbed_) return SimplexOutcome::optimal;
            if (!perturbed_ && ++checks > kMostChecks) return SimplexOutcome::stalled;
            cost_ = given_cost_;
            refresh(perturbed_ ? kernel_.n_updates > 0 : checks > 1, interrupt);
            perturbed_ = false;
            exact = true;
            continue;
        }
        if (n_flat_ > kPatience && !perturbed_) {
            if (n_perturbed_ >= kMostPerturbed) return SimplexOutcome::stalled;
            perturb(interrupt);
            continue;
        }
        const std::int64_t before = n_steps_;
        const std::optional<SimplexOutcome> end = step(leaving, interrupt);
        if (end == SimplexOutcome::unbounded && kernel_.n_updates > 0) {
            refresh(true, interrupt);  // the direction may owe its freedom to rounding
            exact = true;
            continue;
        }
        if (end) return *end;
        exact = false;
        if (n_steps_ > before && is_worn()) refresh(true, interrupt);
        const std::int64_t work = step_work();
        work_ += static_cast<double>(work);
        unreported_ += work;
    }
    return SimplexOutcome::step_limit;
}

void BoxedSimplex::add_columns(std::span<const double> cost, std::span<const double> width,
                               std::span<const std::int32_t> named, const double* values) {
    const std::int64_t first = n_columns(), count = std::ssize(cost);
    A_.grow(0, count);
    for (const std::int32_t r : named)
        for (std::int64_t u = 0; u < count; ++u)
            A_.set(r, first + u, *values++);
    given_cost_.insert(given_cost_.end(), cost.begin(), cost.end());
    width_.insert(width_.end(), width.begin(), width.end());
    column_place_.resize(n_columns(), -1);
    turn_.resize(n_columns(), 1.0);
    open_.insert(open_.end(), width.begin(), width.end());
    t_.resize(n_columns(), 0.0);
}

void BoxedSimplex::add_rows(std::span<const double> low, std::span<const double> high,
                            std::span<const std::int32_t> named, const double* values) {
    const std::int64_t first = n_rows(), count = std::ssize(low);
    A_.grow(count, 0);
    for (std::int64_t r = 0; r < count; ++r)
        for (const std::int32_t u : named)
            A_.set(first + r, u, *values++);
    low_.insert(low_.end(), low.begin(), low.end());
    high_.insert(high_.end(), high.begin(), high.end());
    row_place_.resize(n_rows(), -1);
    side_.resize(n_rows(), 1.0);
    y_.resize(n_rows(), 0.0);
}

void BoxedSimplex::set_row_bounds(std::span<const std::int32_t> rows, std::span<const double> low,
                                  std::span<const double> high) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
        low_[rows[k]] = low[k];
        high_[rows[k]] = high[k];
    }
}

void BoxedSimplex::set_widths(std::span<const std::int32_t> columns,
                              std::span<const double> width) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
        width_[columns[k]] = width[k];
        if (column_place_[columns[k]] < 0) open_[columns[k]] = width[k];
    }
}

void BoxedSimplex::note_places() {
    std::fill(column_place_.begin(), column_place_.end(), -1);
    std::fill(row_place_.begin(), row_place_.end(), -1);
    open_ = width_;
    for (std::int64_t i = 0; i < kernel_.size(); ++i) {
        row_place_[kernel_.rows[i]] = static_cast<std::int32_t>(i);
        column_place_[kernel_.columns[i]] = static_cast<std::int32_t>(i);
        open_[kernel_.columns[i]] = 0.0;
    }
}

void BoxedSimplex::forget_basis() {
    kernel_ = KernelInverse();
    note_places();
    normed_rows_ = 0;
}

void BoxedSimplex::set_basis(std::span<const std::uint8_t> columns,
                             std::span<const std::uint8_t> rows) {
    forget_basis();
    for (std::int64_t u = 0; u < n_columns(); ++u) {
        turn_[u] = columns[u] == kAtHigh ? -1.0 : 1.0;
        if (columns[u] == kBasic) kernel_.columns.push_back(static_cast<std::int32_t>(u));
    }
    for (std::int64_t r = 0; r < n_rows(); ++r) {
        side_[r] = rows[r] == kAtHigh ? 1.0 : -1.0;
        if (rows[r] != kBasic) kernel_.rows.push_back(static_cast<std::int32_t>(r));
    }
    const std::size_t size = std::min(kernel_.rows.size(), kernel_.columns.size());
    kernel_.rows.resize(size);
    kernel_.columns.resize(size);
    Interrupt never;
    kernel_.factorise(A_, never);
    note_places();
}

void BoxedSimplex::basis(std::span<std::uint8_t> columns, std::span<std::uint8_t> rows) const {
    for (std::int64_t u = 0; u < n_columns(); ++u)
        columns[u] = column_place_[u] >= 0 ? kBasic : at_high(u) ? kAtHigh : kAtLow;
    for (std::int64_t r = 0; r < n_rows(); ++r)
        rows[r] = row_place_[r] < 0 ? kBasic : side_[r] > 0.0 ? kAtHigh : kAtLow;
}

void BoxedSimplex::values(std::span<double> v) const {
    for (std::int64_t u = 0; u < n_columns(); ++u)
        v[u] = at_high(u) ? width_[u] : 0.0;
    for (std::int64_t j = 0; j < kernel_.size(); ++j)
        v[kernel_.columns[j]] = basic_[j];
}

}  // namespace rectiline::simplex
