#include "rectiline/interior/unit_interior.hpp"

#include <tuple>
#include <utility>

namespace rectiline::interior {

namespace {

constexpr double kShare = 0.995;       // of the way to the nearest bound
constexpr double kShortest = 1e-12;    // step that gets anywhere
constexpr double kLeastCentre = 1e-8;  // of the mean product: least target of the corrector
// Below it a corrector is compared with a weaker one: seldom in linear programs, where that costs
// more than it saves (trends 0.76 to 0.9 of the time, portfolios 1.25 without).
constexpr double kShortStep = 0.5, kShortLinearStep = 0.2;
constexpr int kCorrectors = 2;     // most attempts to lengthen a step by centring
constexpr double kLongStep = 0.9;  // needs none of them
constexpr double kHope = 0.3;      // by how much an attempt aims to lengthen a step
constexpr double kGain = 0.03;     // least gain that is worth another attempt
constexpr double kBand = 0.5;      // products within this factor of the mean are left alone
constexpr int kRefinements = 3;
constexpr double kHarmless = 1e-2;  // share of the gap that an error of a direction may add

template <class Real>
bool all_finite(const std::vector<Real>& values) {
    return std::all_of(values.begin(), values.end(),
                       [](Real value) { return std::isfinite(leading(value)); });
}

// The largest step that keeps value + step * change positive.
template <class Real>
double reach(Real value, Real change, double most) {
    if (!(leading(change) < 0)) return most;
    return std::min(most, -leading(value) / leading(change));
}

}  // namespace

template <class Real>
UnitInterior<Real>::UnitInterior(UnitProgram program, std::unique_ptr<NormalSystem<Real>> system)
    : program_(std::make_unique<UnitProgram>(std::move(program))),
      system_(std::move(system)),
      pair_(*program_, *system_) {
    const std::size_t width = pair_.x.size(), units = pair_.y.size(), rows = pair_.value.size();
    const auto is_zero = [](double value) { return value == 0; };
    is_linear_ = std::all_of(program_->rho.begin(), program_->rho.end(), is_zero) &&
                 std::all_of(program_->soft.begin(), program_->soft.end(), is_zero);
    for (int s = 0; s < 2; ++s)
        for (auto* values : {&ratio_[s], &error_[s], &move_.multiplier[s], &move_.lift[s]})
            values->resize(units);
    for (auto* values : {&pull_ahead_, &move_.x})
        values->resize(width);
    for (auto* values : {&gap_to_centre_, &weight_, &move_.y, &move_.drive})
        values->resize(units);
    for (auto* values : {&row_weight_, &row_dual_, &move_.change, &move_.share, &move_.miss})
        values->resize(rows);
    before_ = move_;
}

// The weights of units and rows, and what the equations of the units lack at zero multipliers.
template <class Real>
void UnitInterior<Real>::linearise() {
    for (std::size_t k = 0; k < pair_.y.size(); ++k) {
        const Real soft = Real(program_->soft[k]);
        gap_to_centre_[k] =
            pair_.value[program_->row[k]] + Real(program_->shift[k]) - soft * pair_.y[k];
        const bool is_steady = program_->soft[k] > 0 && !program_->is_boxed(k);
        Real stiffness =
            soft + Real(program_->least[k] / (1 + (is_steady ? 0 : size_of(pair_.y[k]))));
        for (int s = 0; s < 2; ++s)
            if (pair_.side[s].is_finite[k]) {
                ratio_[s][k] = pair_.side[s].multiplier[k] / pair_.side[s].room[k];
                stiffness += ratio_[s][k];
            }
        weight_[k] = Real(1.0) / stiffness;
    }
    pair_.sum_over_rows(weight_, row_weight_);
    pair_.sum_over_rows(pair_.y, row_dual_);
}

// Sets the target of each product; `lift(s, k)` is the target of an end divided by its room.
template <class Real>
template <class Lift>
void UnitInterior<Real>::aim(const Lift& lift) {
    for (std::size_t k = 0; k < pair_.y.size(); ++k) {
        move_.drive[k] = gap_to_centre_[k];
        for (int s = 0; s < 2; ++s)
            if (pair_.side[s].is_finite[k]) {
                move_.lift[s][k] = lift(s, k);
                move_.drive[k] += pair_.side[s].sign * move_.lift[s][k];
            }
    }
}

template <class Real>
Real UnitInterior<Real>::room_move(int s, std::size_t k) const {
    return pair_.side[s].sign * move_.y[k];
}

// `share` of the predictor's second-order error is made up for.
template <class Real>
void UnitInterior<Real>::aim_at_centre(Real target, double share) {
    aim([&](int s, std::size_t k) {
        return (target - Real(share) * error_[s][k]) / pair_.side[s].room[k];
    });
}

// Takes products that a step of the hoped lengths along the direction before would leave far from
// their mean back into a band.
template <class Real>
void UnitInterior<Real>::aim_at_outliers(Real target, StepLengths hoped) {
    const double mean = leading(target);
    aim([&](int s, std::size_t k) {
        const auto& side = pair_.side[s];
        const double after =
            leading((side.multiplier[k] + Real(hoped.primal) * before_.multiplier[s][k]) *
                    (side.room[k] + Real(hoped.dual) * side.sign * before_.y[k]));
        const double change = std::clamp(after, kBand * mean, mean / kBand) - after;
        return before_.lift[s][k] + Real(std::max(change, -mean / kBand)) / side.room[k];
    });
}

// Adds a change of the rows' values to the direction of the units.
template <class Real>
void UnitInterior<Real>::change_rows(std::span<const Real> change, bool is_first) {
    for (std::size_t k = 0; k < pair_.y.size(); ++k) {
        const Real own = change[program_->row[k]];
        if (is_first)
            move_.y[k] = weight_[k] * (own + move_.drive[k]);
        else
            move_.y[k] += weight_[k] * own;
        for (int s = 0; s < 2; ++s)
            if (pair_.side[s].is_finite[k])
                move_.multiplier[s][k] =
                    move_.lift[s][k] - pair_.side[s].multiplier[k] - ratio_[s][k] * room_move(s, k);
    }
}

// The direction for the present targets. Duals and values of rows belong together by
// move = weight * change + share; where the weight is large, on a kink, the product would magnify
// the rounding of the change: the duals come first if the system finds them.
template <class Real>
void UnitInterior<Real>::find_direction() {
    std::vector<Real> aims(row_dual_.size()), duals(row_dual_.size());
    for (std::size_t k = 0; k < pair_.y.size(); ++k)
        move_.y[k] = weight_[k] * move_.drive[k];
    pair_.sum_over_rows(move_.y, move_.share);
    for (std::size_t r = 0; r < aims.size(); ++r)
        aims[r] = row_dual_[r] + move_.share[r];
    for (std::size_t j = 0; j < pair_.x.size(); ++j)
        move_.x[j] = Real(program_->rho[j]) * pair_.x[j] + Real(program_->linear[j]);
    move_.knows_duals = system_->solve(move_.x, aims, duals);
    for (Real& entry : move_.x)
        entry = -entry;
    system_->multiply(move_.x, move_.change);
    std::fill(move_.miss.begin(), move_.miss.end(), Real(0.0));
    if (move_.knows_duals)
        for (std::size_t r = 0; r < aims.size(); ++r) {
            const Real move = -duals[r] - row_dual_[r];
            if (!(leading(row_weight_[r]) > size_of(move) + size_of(move_.share[r]))) continue;
            move_.miss[r] = (move - move_.share[r]) / row_weight_[r] - move_.change[r];
            move_.change[r] += move_.miss[r];
        }
    change_rows(move_.change, true);
}

template <class Real>
StepLengths UnitInterior<Real>::longest(double share) const {
    const double most = 1.0 / share;
    StepLengths steps{most, most};
    for (int s = 0; s < 2; ++s)
        for (std::size_t k = 0; k < pair_.y.size(); ++k) {
            const auto& side = pair_.side[s];
            if (!side.is_finite[k]) continue;
            steps.dual = reach(side.room[k], room_move(s, k), steps.dual);
            steps.primal = reach(side.multiplier[k], move_.multiplier[s][k], steps.primal);
        }
    steps = {std::min(1.0, share * steps.dual), std::min(1.0, share * steps.primal)};
    if (!is_linear_) steps.dual = steps.primal = steps.least();  // curvature ties the two together
    return steps;
}

template <class Real>
Real UnitInterior<Real>::mean_product(StepLengths steps) const {
    Real sum = 0.0;
    for (int s = 0; s < 2; ++s)
        for (std::size_t k = 0; k < pair_.y.size(); ++k)
            if (pair_.side[s].is_finite[k])
                sum += (pair_.side[s].room[k] + Real(steps.dual) * room_move(s, k)) *
                       (pair_.side[s].multiplier[k] + Real(steps.primal) * move_.multiplier[s][k]);
    return sum / Real(pair_.n_products);
}

// Making up for the whole second-order error is right for a predictor of full length. Where that
// makes a short step, the share that the predictor could go is tried as well.
template <class Real>
void UnitInterior<Real>::correct(Real centre, double predicted) {
    for (int s = 0; s < 2; ++s)
        for (std::size_t k = 0; k < pair_.y.size(); ++k)
            error_[s][k] = move_.multiplier[s][k] * room_move(s, k);
    aim_at_centre(centre, 1.0);
    find_direction();
    const double length = longest(1.0).least();
    if (length >= (is_linear_ ? kShortLinearStep : kShortStep)) return;
    std::swap(move_, before_);
    aim_at_centre(centre, predicted);
    find_direction();
    if (!(longest(1.0).least() > length)) std::swap(move_, before_);
}

template <class Real>
void UnitInterior<Real>::centralise(Real centre) {
    StepLengths steps = longest(1.0);
    for (int attempt = 0; attempt < kCorrectors && steps.least() < kLongStep; ++attempt) {
        std::swap(move_, before_);
        aim_at_outliers(centre,
                        {std::min(1.0, steps.dual + kHope), std::min(1.0, steps.primal + kHope)});
        find_direction();
        const StepLengths longer = longest(1.0);
        if (longer.dual + longer.primal < steps.dual + steps.primal + 2 * kGain) {
            std::swap(move_, before_);
            return;
        }
        steps = longer;
    }
}

// R'y after a full step.
template <class Real>
void UnitInterior<Real>::look_ahead() {
    std::vector<Real> ahead(pair_.y.size()), rows(row_dual_.size());
    for (std::size_t k = 0; k < pair_.y.size(); ++k)
        ahead[k] = pair_.y[k] + move_.y[k];
    pair_.sum_over_rows(ahead, rows);
    system_->multiply_transposed(rows, pull_ahead_);
}

// Corrects the direction until what is left of the equations does not matter for the gap.
template <class Real>
void UnitInterior<Real>::refine() {
    const double enough = kHarmless * verdict_.mean_product * pair_.n_products / verdict_.size;
    std::vector<Real> left(pair_.x.size());
    std::pair<Direction, std::vector<Real>> kept;
    double least = kInfinity;
    look_ahead();
    for (int round = 0;; ++round) {
        for (std::size_t j = 0; j < left.size(); ++j)
            left[j] = Real(program_->rho[j]) * (pair_.x[j] + move_.x[j]) +
                      Real(program_->linear[j]) + pull_ahead_[j];
        double excess = 0;
        const double harm = pair_.charge(left, pair_.x, excess) / verdict_.size + excess;
        const bool is_best = harm < least;
        if (is_best) least = harm;
        if (harm <= enough) return;
        if (is_best) kept = {move_, pull_ahead_};
        if (round == kRefinements) {
            // Otherwise the system is too close to singular for corrections.
            if (!is_best && std::isfinite(least)) std::tie(move_, pull_ahead_) = kept;
            return;
        }
        improve(left);
    }
}

// Corrects the direction, and the duals of heavy rows along with it, by the factor alone.
template <class Real>
void UnitInterior<Real>::improve(std::span<const Real> left) {
    std::vector<Real> x(left.begin(), left.end()), unmatched(move_.miss.size());
    std::vector<Real> duals(unmatched.size()), change(unmatched.size());
    for (std::size_t r = 0; r < unmatched.size(); ++r)
        unmatched[r] = -(row_weight_[r] * move_.miss[r]);
    system_->solve(x, unmatched, duals);
    for (std::size_t j = 0; j < x.size(); ++j) {
        x[j] = -x[j];
        move_.x[j] += x[j];
    }
    system_->multiply(x, change);
    for (std::size_t r = 0; r < change.size(); ++r) {
        const bool is_heavy = leading(move_.miss[r]) != 0;
        if (is_heavy) {
            const Real more = -duals[r] / row_weight_[r] - change[r];
            change[r] += more;
            move_.miss[r] += more;
        }
        move_.change[r] += change[r];
    }
    change_rows(change, false);
    look_ahead();
}

template <class Real>
bool UnitInterior<Real>::step(Interrupt& interrupt) {
    verdict_ = pair_.evaluate();
    linearise();
    if (!system_->factorise(row_weight_, interrupt)) return false;
    const double mean = verdict_.mean_product;
    aim([](int, std::size_t) { return Real(0.0); });
    find_direction();
    const StepLengths predicted = longest(1.0);
    const double ratio = mean > 0 ? leading(mean_product(predicted)) / mean : 0.0;
    const Real centre = Real(mean * std::clamp(ratio * ratio * ratio, kLeastCentre, 1.0));
    correct(centre, predicted.least());
    centralise(centre);
    refine();
    if (!all_finite(move_.x) || !all_finite(pull_ahead_)) return false;
    const StepLengths steps = longest(kShare);
    const Real dual = Real(steps.dual), primal = Real(steps.primal);
    for (std::size_t j = 0; j < pair_.x.size(); ++j) {
        pair_.x[j] += primal * move_.x[j];
        // A full step removes the rounding of all earlier ones.
        pair_.pull[j] = (Real(1.0) - dual) * pair_.pull[j] + dual * pull_ahead_[j];
    }
    for (std::size_t k = 0; k < pair_.y.size(); ++k)
        pair_.y[k] += dual * move_.y[k];
    for (int s = 0; s < 2; ++s)
        for (std::size_t k = 0; k < pair_.y.size(); ++k)
            if (pair_.side[s].is_finite[k]) {
                pair_.side[s].room[k] += dual * room_move(s, k);
                pair_.side[s].multiplier[k] += primal * move_.multiplier[s][k];
            }
    if (move_.knows_duals)
        system_->multiply(pair_.x, pair_.value);
    else
        for (std::size_t r = 0; r < pair_.value.size(); ++r)
            pair_.value[r] += primal * move_.change[r];
    step_length_ = steps.least();
    return step_length_ > kShortest;
}

template <class Real>
Verdict UnitInterior<Real>::evaluate(std::span<const double> x) {
    const std::vector<Real> trial(x.begin(), x.end());
    std::vector<Real> value(pair_.value.size());
    system_->multiply(trial, value);
    return pair_.evaluate(trial, value);
}

template class UnitInterior<double>;
template class UnitInterior<Number>;

}  // namespace rectiline::interior
