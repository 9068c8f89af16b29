#include "rectiline/path/newton_path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rectiline::path {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFirstGrowth = 10.0, kLeastGrowth = 0.1, kMostGrowth = 1e6;  // of the rows
constexpr double kColumnGrowth = 100.0;  // columns end on their kinks whatever the target
constexpr double kRowShare = 0.4;     // of the target: what the envelopes should leave in the rows
constexpr double kRowsMost = 0.7;     // of the target: beyond, they are made stiffer at once
constexpr double kStiffen = 4.0;      // by so much at most
constexpr double kRelax = 1.5;        // change of stiffness from one strength to the next, at most
constexpr double kBalance = 0.2;      // cost of a multiplier moved to balance the intercept
constexpr double kFreeRoom = 0.3;     // of their weight: room of rows on their kinks
constexpr double kInnerShare = 0.02;  // Newton decrement against what the outer step moved
constexpr double kOnwards = 0.6;      // of the way that extrapolation would go
constexpr double kScaled = 0.5;       // of the gap: what multipliers to scale may leave
constexpr double kWeak = 1e-2;        // of the rows' stiffness: columns that may need help
constexpr double kProximal = 1e-6;    // the help, in the same unit

}  // namespace

NewtonPath::NewtonPath(NewtonRows& rows, const NewtonTerms& terms, double strength,
                       NewtonUnits units)
    : rows_(rows),
      units_(units),
      base_strength_(strength),
      strength_(strength),
      rho_(terms.rho.begin(), terms.rho.end()),
      l1_(terms.l1.begin(), terms.l1.end()),
      column_stiffness_(terms.column_stiffness.begin(), terms.column_stiffness.end()),
      base_(terms),
      terms_([&] {
          NewtonTerms own = terms;
          own.rho = rho_, own.l1 = l1_, own.column_stiffness = column_stiffness_;
          return own;
      }()),
      loop_(terms_),
      b_(terms.scale.size(), 0.0),
      around_(b_),
      previous_(b_),
      column_(terms.kinked.size(), 0.0),
      proximal_(b_),
      user_(b_),
      growth_(kFirstGrowth) {
    double total = 0;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows.n(); ++i) {
        total += rows.functions().weight[i];
        count += rows.functions().weight[i] > 0;
    }
    mean_weight_ = total / static_cast<double>(std::max<std::int64_t>(count, 1));
}

void NewtonPath::place(std::span<const double> user, std::span<const double> g) {
    const std::int64_t d = terms_.d;
    rows_.place(user);
    rows_.set_multiplier(g);
    std::copy(user.begin(), user.end(), b_.begin());
    if (!terms_.center.empty()) b_[d] += dot(terms_.center.data(), user.data(), d);
    for (std::int64_t j = 0; j < terms_.order(); ++j)
        b_[j] /= terms_.scale[j];
    previous_strength_ = 0;
    placed_ = true;
}

void NewtonPath::set_strength(double strength) {
    const double factor = strength / base_strength_;
    for (std::int64_t j = 0; j < terms_.order(); ++j) {
        rho_[j] = factor * base_.rho[j];
        l1_[j] = factor * base_.l1[j];
        const bool weak = j >= terms_.d || rho_[j] < kWeak * units_.stiffness;
        proximal_[j] = weak ? kProximal * units_.stiffness : 0.0;
    }
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k)
        if (base_.l1[terms_.kinked[k]] > 0)
            column_stiffness_[k] = factor * base_.column_stiffness[k];
    for (double& multiplier : column_)
        multiplier *= strength / strength_;
    strength_ = strength;
}

// Goes on as from the answer before to this one, in the logarithm of the strength. Without kinks
// the next Newton step gets as far on its own.
void NewtonPath::predict(double strength) {
    const double before = previous_strength_, here = found_at_;
    if (before > 0 && before != here && !units_.smooth) {
        const double whole = std::log(strength / here) / std::log(here / before);
        const double share = kOnwards * std::clamp(whole, 0.0, 2.0);
        rows_.set_direction_onwards();
        rows_.evaluate(share, point().S);
        for (std::int64_t j = 0; j < terms_.order(); ++j) {
            const double change = b_[j] - previous_[j];
            previous_[j] = b_[j];
            b_[j] += share * change;
        }
    } else {
        previous_ = b_;
        rows_.remember();
    }
    previous_strength_ = here;
}

NewtonPoint NewtonPath::point() {
    const double S = units_.smooth ? kInfinity : growth_ * units_.row_stiffness;
    return {b_, around_, column_, {}, proximal_, kColumnGrowth, S};
}

// What the columns' own terms must pull with where the path was placed.
void NewtonPath::set_column_multipliers() {
    rows_.evaluate(0.0, point().S);
    terms_.contract(rows_.image(), user_);
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const std::int64_t j = terms_.kinked[k];
        // Beyond an l1 term only a bound can pull, and only outwards.
        const double most = std::isfinite(terms_.upper[j]) ? kInfinity : l1_[j];
        const double least = std::isfinite(terms_.lower[j]) ? -kInfinity : -l1_[j];
        column_[k] = std::clamp(-user_[j] - rho_[j] * b_[j], least, most);
    }
    placed_ = false;
}

// A free intercept asks for multipliers that sum to zero: some will have to move. Rows on their
// kinks hardly pay for that, but they may have too little room.
double NewtonPath::cost_of_balance(double excess) const {
    double room = kInfinity;
    if (!units_.smooth) room = kFreeRoom * mean_weight_ * static_cast<double>(rows_.n_free());
    const double others = std::max(0.0, excess - room);
    return units_.argument_scale * (kBalance * (excess - others) + others);
}

// The parts of the gap, relative to the objective. A dual point outside the range of an l1 term
// alone is scaled into it, which costs its share of the objective.
NewtonPath::Gaps NewtonPath::gaps() {
    const RowValues values = rows_.values();
    const NewtonEstimate found = loop_.estimate(rows_, {}, point(), values);
    const double objective = found.objective;
    const double size = std::max({std::fabs(objective), std::fabs(objective - found.gap), 1e-300});
    double beyond = 0;
    terms_.contract(rows_.image(), user_);
    if (terms_.order() > terms_.d) beyond = cost_of_balance(std::fabs(user_[terms_.d])) / size;
    double outside = 0;
    for (std::int64_t k = 0; k < terms_.n_kinked(); ++k) {
        const std::int64_t j = terms_.kinked[k];
        if (l1_[j] > 0 && rho_[j] == 0)
            outside = std::max(outside, std::fabs(user_[j]) / l1_[j] - 1.0);
    }
    return {(found.gap - found.column_gap) / size, found.column_gap / size + beyond + outside,
            values.loss / size};
}

// Where next to nothing is lost any more, coefficients stay and multipliers follow the strength:
// with a share of them, rows pay for the rest what they lose. Takes that if it leaves less of the
// gap.
NewtonPath::Gaps NewtonPath::with_multipliers_to_scale(double factor, Gaps still) {
    if (units_.smooth || !(factor < 1) || !((1 - factor) * still.loss < kScaled * still.sum()))
        return still;
    rows_.scale_slopes(factor);
    const Gaps scaled = gaps();
    if (scaled.sum() < kScaled * still.sum()) return scaled;
    rows_.restore_slopes();
    return still;
}

PathStep NewtonPath::move(double strength, double target, std::int64_t max_steps,
                          Interrupt& interrupt) {
    PathStep out{0, kInfinity, false, false};
    const double factor = strength / strength_;
    set_strength(strength);
    if (placed_) {
        set_column_multipliers();
        previous_ = b_;
        rows_.remember();
    } else {
        Gaps still = gaps();  // nothing has moved: this needs no product with X
        if (still.sum() > target) still = with_multipliers_to_scale(factor, still);
        out.relative_gap = still.sum();
        if (out.relative_gap <= target) return out;
        rows_.update_multipliers();
        predict(strength);
    }
    found_at_ = strength;
    bool updated = false;
    around_ = b_;
    for (std::int64_t allowed = 0;; allowed = 1) {  // the first look takes no step
        const NewtonProgress done =
            loop_.minimise(rows_, {}, point(), {allowed, kInnerShare, 0.0}, interrupt);
        out.steps += done.steps;
        out.failed = done.failed, out.interrupted = done.interrupted;
        const Gaps gap = gaps();
        out.relative_gap = gap.sum();
        const double fit = std::sqrt(gap.rows / (kRowShare * target));
        if (out.relative_gap <= target) {
            // Multipliers of this very strength leave less than those of the one before will.
            const double change = updated ? 1.0 / kRelax : std::clamp(fit, 1.0 / kRelax, kRelax);
            growth_ = std::clamp(growth_ * change, kLeastGrowth, kMostGrowth);
            return out;
        }
        if (out.failed || out.interrupted || out.steps >= max_steps) return out;
        if (allowed > 0 && done.decrement <= kInnerShare * done.move) {
            rows_.update_multipliers();
            loop_.slopes(point(), column_, {});
            around_ = b_;
            updated = true;
        }
        if (gap.rows > kRowsMost * target)
            growth_ = std::min(growth_ * std::clamp(fit, 1.0, kStiffen), kMostGrowth);
    }
}

void NewtonPath::coefficients(std::span<double> user) {
    loop_.polish(point(), user_);
    terms_.expand(user_, user);
}

void NewtonPath::dual(std::span<double> g) const {
    rows_.dual(g);
    if (terms_.order() > terms_.d) rows_.balance(g, 0.0);
}

}  // namespace rectiline::path
