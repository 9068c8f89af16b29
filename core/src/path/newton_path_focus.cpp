// Moves on few rows: the others are frozen on their pieces until the caller looks at all rows
// again.
#include "rectiline/path/newton_path.hpp"
#include "rectiline/support/chosen_rows.hpp"
#include "rectiline/support/multiversion.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline::path {
namespace {

constexpr double kMostStrayed = 0.02;  // of the rows kept
constexpr double kReserve = 0.9;       // of what the slopes of the rows kept can balance
constexpr double kFarthest = 13.0;     // widths of the expected ranges, on both sides
constexpr double kRounding = 1e-12;    // of slopes
constexpr std::size_t kTooMany = 20;   // one exception in so many rows is
constexpr std::size_t kKept = 50;      // exceptions
constexpr double kPlenty = 2.0;        // times what has to be balanced
constexpr double kBalancing = 250;     // rows that do so where the exceptions cannot, at least, and
constexpr double kPerExcess = 8;       // so many for each row's weight in excess

// Marks rows whose multiplier g is not that of the slope, but for the rounding that envelopes leave
// at the ends of their ranges.
RECTILINE_MULTIVERSION void mark_exceptions(const RowFunctions& rows, const double* g,
                                            const double* slope, double* out) {
    const double *weight = rows.weight, *direction = rows.direction;
#pragma omp simd
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const double away = g[i] - direction[i] * weight[i] * slope[i];
        const double size = slope[i] < 0 ? 1 - slope[i] : 1 + slope[i];
        out[i] = (away < 0 ? -away : away) > kRounding * weight[i] * size ? 1.0 : 0.0;
    }
}

}  // namespace

std::int64_t NewtonPath::focus(const double* low, const double* high, const double* z,
                               double most) {
    const bool moved = return_to_all(z);
    keep_.resize(static_cast<std::size_t>(all_.n()));
    double width = 0;
    for (std::int64_t i = 0; i < all_.n(); ++i)
        width += high[i] - low[i];
    width /= static_cast<double>(all_.n());
    bool frozen = false;
    // With so few rows that they cannot balance the others, look farther.
    for (double pad = 0; !frozen && pad <= kFarthest * width; pad = 3 * pad + width) {
        const std::int64_t count = all_.near_knots(low, high, pad, keep_.data());
        if (count == 0) keep_[0] = 1;  // there is no set without rows
        if (static_cast<double>(count) > most * static_cast<double>(all_.n())) break;
        frozen = freeze(low, high);
        if (!(width > 0)) break;
    }
    recalled_ = recalled_ && !moved && !frozen;
    return frozen ? static_cast<std::int64_t>(index_.size()) : 0;
}

bool NewtonPath::freeze(const double* low, const double* high) {
    linear_.resize(static_cast<std::size_t>(terms_.order));
    frozen_dual_.resize(static_cast<std::size_t>(all_.n()));
    // No row on a curved piece is frozen.
    const Frozen frozen =
        all_.freeze(keep_.data(), kReserve, linear_.data(), nullptr, frozen_dual_.data());
    if (!frozen.balanced) return false;
    list_rows(all_.n(), index_, [&](std::int64_t i) { return keep_[i] > 0; });
    low_.resize(index_.size()), high_.resize(index_.size());
    for (std::size_t k = 0; k < index_.size(); ++k)
        low_[k] = low[index_[k]], high_[k] = high[index_[k]];
    frozen_sum_ = linear_.back();
    terms_.contract(linear_.data(), linear_.data());
    few_ = all_.subset(index_.data(), static_cast<std::int64_t>(index_.size()), 1.0, spare_.get());
    spare_.reset();
    frozen_loss_ = frozen.loss;
    frozen_at_ = b_;
    frozen_ = {linear_.data(), nullptr, frozen_at_.data()};
    rows_ = few_.get();
    return true;
}

// The rows kept stand for the frozen ones, whose predictions nobody looks at.
bool NewtonPath::has_strayed() const {
    if (!few_) return false;
    const std::int64_t outside = few_->count_outside(low_.data(), high_.data());
    return static_cast<double>(outside) > kMostStrayed * static_cast<double>(index_.size());
}

// The rows that take part learn where they were at the answer before.
void NewtonPath::recall() {
    if (recalled_) return;
    recalled_ = true;
    if (units_.smooth || !(previous_strength_ > 0)) return;  // nobody asks
    terms_.expand(previous_.data(), user_.data());
    rows_->place(user_.data());
    rows_->remember();
    terms_.expand(b_.data(), user_.data());
    rows_->place(user_.data());
}

void NewtonPath::widen() {
    if (few_ && return_to_all(nullptr)) recalled_ = false;
}

void NewtonPath::take_all_rows() {
    if (few_) spare_ = std::move(few_);
    rows_ = &all_, frozen_ = {}, frozen_loss_ = 0;
}

// Brings all rows to the coefficients at hand, at predictions z if they are known. Returns whether
// their arguments have changed.
bool NewtonPath::return_to_all(const double* z) {
    if (placed_) {
        all_.settle(0.0, point().S);
        return false;
    }
    if (!few_ && !z) return false;
    if (z) {  // they belong to the polished coefficients
        loop_.polish(point(), user_.data());
        std::copy(user_.begin(), user_.end(), b_.begin());
        all_.place_at(z);
    } else {
        terms_.expand(b_.data(), user_.data());
        all_.place(user_.data());
    }
    if (few_) all_.take(*few_, index_);
    take_all_rows();
    return true;
}

// Lets the multipliers of the rows that take part balance those of the others.
void NewtonPath::balance_few(double* g) const {
    if (terms_.order > terms_.d) rows_->balance(g, few_ ? frozen_sum_ : 0.0);
}

// Keeps some of the exceptions, which can make up for rounding.
void NewtonPath::write_out_slopes() {
    const RowFunctions& rows = rows_->functions();
    const std::size_t n = static_cast<std::size_t>(all_.n());
    exceptions_.slopes.assign(n, 0.0);
    std::copy(frozen_slopes().begin(), frozen_slopes().end(), exceptions_.slopes.begin());
    for (std::size_t e = 0; e < own_dual_.size(); ++e) {
        const std::size_t i = few_ ? static_cast<std::size_t>(index_[e]) : e;
        const double weight = rows.weight[e];
        exceptions_.slopes[i] = weight > 0 ? rows.direction[e] * own_dual_[e] / weight : 0.0;
    }
    exceptions_.row.resize(std::min(exceptions_.row.size(), kKept));
    exceptions_.g.resize(exceptions_.row.size());
}

// Lists more rows, spread over all, if those that are have not plenty of room for what the
// multipliers lack of balance.
void NewtonPath::list_more_to_balance() {
    if (terms_.order == terms_.d) return;
    const RowFunctions& rows = rows_->functions();
    double excess = few_ ? frozen_sum_ : 0.0, room = 0, weight = 0;
    for (std::int64_t e = 0; e < rows.n; ++e)
        excess += own_dual_[e], weight += rows.weight[e];
    for (const std::int64_t e : exceptions_.row) {
        const Curve& f = rows.curve(e);
        const double s = rows.direction[e] * own_dual_[e] / rows.weight[e];
        const bool down = (excess > 0) == (rows.direction[e] > 0);
        room += rows.weight[e] * std::max(down ? s - f.lowest_slope() : f.highest_slope() - s, 0.0);
    }
    if (room > kPlenty * std::fabs(excess)) return;
    const double wanted = kPerExcess * std::fabs(excess) * static_cast<double>(rows.n) / weight;
    const double stride = static_cast<double>(rows.n) / std::max(kBalancing, wanted);
    const std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(stride));
    for (std::int64_t e = 0; e < rows.n; e += step)
        if (rows.weight[e] > 0) differs_[e] = 1;
    list_rows(rows.n, exceptions_.row, [&](std::int64_t e) { return differs_[e] > 0; });
}

const NewtonPath::Exceptions& NewtonPath::exceptions() {
    const std::size_t count = static_cast<std::size_t>(rows_->n());
    own_dual_.resize(count);
    rows_->dual(own_dual_.data());
    own_slopes_.resize(count);
    if (terms_.n_kinked == 0) {
        rows_->own_slopes(own_slopes_.data());
    } else {  // answers have their columns on kinks, and rows near theirs may be on the other side
        user_.resize(static_cast<std::size_t>(terms_.order));
        coefficients(user_.data());
        rows_->own_slopes_for(user_.data(), own_slopes_.data());
    }
    const RowFunctions& rows = rows_->functions();
    differs_.resize(count);
    mark_exceptions(rows, own_dual_.data(), own_slopes_.data(), differs_.data());
    list_rows(rows.n, exceptions_.row, [&](std::int64_t e) { return differs_[e] > 0; });
    list_more_to_balance();
    exceptions_.slopes.clear();
    const bool many = exceptions_.row.size() * kTooMany > static_cast<std::size_t>(all_.n());
    // Those who get a list balance it themselves; some of many rows might not be enough for that.
    if (many) balance_few(own_dual_.data());
    exceptions_.g.resize(exceptions_.row.size());
    for (std::size_t k = 0; k < exceptions_.row.size(); ++k) {
        std::int64_t& row = exceptions_.row[k];
        exceptions_.g[k] = own_dual_[row];
        if (few_) row = index_[row];
    }
    if (many) write_out_slopes();
    return exceptions_;
}

void NewtonPath::dual(double* g) const {
    few_dual_.resize(few_ ? index_.size() : 0);
    double* own = few_ ? few_dual_.data() : g;
    rows_->dual(own);
    balance_few(own);
    if (!few_) return;
    std::copy(frozen_dual_.begin(), frozen_dual_.end(), g);
    for (std::size_t k = 0; k < index_.size(); ++k)
        g[index_[k]] = few_dual_[k];
}

}  // namespace rectiline::path
