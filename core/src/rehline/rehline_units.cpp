#include "rectiline/rehline/rehline_units.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/design/row_access.hpp"

#include <algorithm>
#include <cmath>

namespace rectiline::rehline {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What one sweep over a family reads, moves and sums.
struct FamilySweep {
    const RowFunctions& rows;
    const double* curvature;
    const UnitFamily& family;
    DualMove move;
    double* dual;
    double loss = 0, gap = 0;
    double highest = -kInfinity, lowest = kInfinity;  // M and m: extreme projected gradients
};

// One exact step for each unit of the block in order. Units that stay active are written to `kept`,
// which may lie at or before the block; returns their number.
template <bool curved, class Rows>
RECTILINE_MULTIVERSION std::int64_t step_units(Rows& access, const UnitFamily::Visit* block,
                                               std::int64_t count, UnitFamily::Visit* kept,
                                               FamilySweep& s) {
    constexpr double quad = curved ? 1.0 : 0.0;
    const double above = s.family.shrink_above, below = s.family.shrink_below;
    double loss = 0, gap = 0, highest = s.highest, lowest = s.lowest;
    std::int64_t n_kept = 0;
    for (std::int64_t slot = 0; slot < count; ++slot) {
        if (slot + kLookAhead < count) access.prefetch(block[slot + kLookAhead].row);
        const UnitFamily::Visit visit = block[slot];
        const std::int64_t i = visit.row;
        const std::int64_t kind = s.rows.curve_index ? s.rows.curve_index[i] : 0;
        const UnitFamily::Unit& unit = s.family.units[kind * s.family.most + visit.unit];
        const double factor = s.family.factor[i], direction = s.rows.direction[i];
        const double cap = curved ? factor * unit.cap : 1.0, slope = factor * unit.slope;
        double& dual = s.dual[visit.unit * s.rows.n + i];
        const double old = dual;
        const double t = direction * access.dot(slot, i, s.move.coef.data()) + s.rows.offset[i];
        const double z = factor * (unit.slope * t + unit.offset);

        // the gap's share of this unit, at the point the sweep meets it
        const double best = curved ? std::clamp(z, 0.0, cap) : (z > 0 ? 1.0 : 0.0);
        const double excess = best - old;
        loss += best * (z - 0.5 * quad * best);
        gap += excess * ((z - quad * best) + 0.5 * quad * excess);

        const double gradient = quad * old - z;
        const bool resting = (old == 0 && gradient >= 0) || (old == cap && gradient <= 0);
        if (resting && (old == 0 ? gradient > above : gradient < below)) continue;
        kept[n_kept++] = visit;
        const double projected = resting ? 0.0 : gradient;
        highest = std::max(highest, projected), lowest = std::min(lowest, projected);
        if (resting) continue;
        const double denominator = quad + slope * slope * s.curvature[i];
        const double next = std::clamp(old - gradient / denominator, 0.0, cap);
        if (next == old) continue;
        dual = next;
        s.move(access, slot, i, (old - next) * slope * direction);
    }
    s.loss += loss, s.gap += gap, s.highest = highest, s.lowest = lowest;
    return n_kept;
}

std::int64_t count_of(const LossUnits& loss, bool curved) {
    return static_cast<std::int64_t>(curved ? loss.rehu_s.size() : loss.relu_u.size());
}

UnitFamily make_family(bool curved, const std::vector<LossUnits>& losses,
                       const RowFunctions& rows) {
    UnitFamily family{curved, 0, {}, {}, {}, {}};
    for (const LossUnits& loss : losses)
        family.most = std::max(family.most, count_of(loss, curved));
    const std::size_t n = family.most > 0 ? static_cast<std::size_t>(rows.n) : 0;
    family.units.resize(losses.size() * static_cast<std::size_t>(family.most));
    for (std::size_t kind = 0; kind < losses.size(); ++kind) {
        const LossUnits& loss = losses[kind];
        UnitFamily::Unit* unit = family.units.data() + kind * static_cast<std::size_t>(family.most);
        for (std::int64_t l = 0; l < count_of(loss, curved); ++l)
            unit[l] = curved ? UnitFamily::Unit{loss.rehu_s[l], loss.rehu_t[l], loss.rehu_tau[l]}
                             : UnitFamily::Unit{loss.relu_u[l], loss.relu_v[l], 1.0};
    }
    family.factor.resize(n);
    for (std::size_t i = 0; i < n; ++i)
        family.factor[i] = curved ? std::sqrt(rows.weight[i]) : rows.weight[i];
    family.dual.assign(n * static_cast<std::size_t>(family.most), 0.0);
    return family;
}

// The bars of Algorithm 2 for the next sweep.
double bar_above(double highest) {
    return highest > 0 ? highest : kInfinity;
}
double bar_below(double lowest) {
    return lowest < 0 ? lowest : -kInfinity;
}

}  // namespace

struct RehlineUnits::Sums {
    double loss = 0, gap = 0;
    ConstraintSums constraints = {};
};

RehlineUnits::RehlineUnits(DesignView X, RowFunctions rows, const std::vector<LossUnits>& losses,
                           ColumnFunctions columns, LinearConstraints constraints,
                           RehlineUnitsOptions options)
    : X_(X),
      rows_(rows),
      constraints_(constraints, columns),
      coefficients_(columns),
      options_(options),
      random_(options.seed),
      curvature_(static_cast<std::size_t>(rows.n)),
      relus_(make_family(false, losses, rows)),
      rehus_(make_family(true, losses, rows)),
      scratch_(static_cast<std::size_t>(rows.n)) {
    std::vector<double> inverse(static_cast<std::size_t>(columns.d));
    for (std::int64_t j = 0; j < columns.d; ++j)
        inverse[j] = 1.0 / columns.rho[j];
    row_squares(X_, inverse, curvature_);
    for (std::int64_t i = 0; i < rows.n; ++i)
        fixed_loss_ += rows.weight[i] * losses[rows.curve_index ? rows.curve_index[i] : 0].constant;
    settle_fixed_units(relus_);
    settle_fixed_units(rehus_);
    take_all_back();
    refresh();
}

const UnitFamily::Unit& RehlineUnits::unit(const UnitFamily& family, std::int64_t i,
                                           std::int64_t l) const {
    const std::int64_t kind = rows_.curve_index ? rows_.curve_index[i] : 0;
    return family.units[static_cast<std::size_t>(kind * family.most + l)];
}

bool RehlineUnits::movable(const UnitFamily& family, std::int64_t i, std::int64_t l) const {
    const double slope = family.factor[i] * unit(family, i, l).slope;
    return slope * slope * curvature_[i] > 0;
}

// A unit whose argument no coefficient moves (a zero row, slope or weight) has its dual there.
void RehlineUnits::settle_fixed_units(UnitFamily& family) {
    std::int64_t n_movable = 0;
    for (std::int64_t l = 0; l < family.most; ++l)
        for (std::int64_t i = 0; i < rows_.n; ++i) {
            if (movable(family, i, l)) {
                ++n_movable;
                continue;
            }
            const UnitFamily::Unit& one = unit(family, i, l);
            if (rows_.weight[i] == 0 || one.cap == 0) continue;
            const double z = family.factor[i] * (one.slope * rows_.offset[i] + one.offset);
            double& dual = family.dual[l * rows_.n + i];
            if (family.curved) {
                dual = std::clamp(z, 0.0, family.factor[i] * one.cap);
                fixed_loss_ += dual * (z - 0.5 * dual);
            } else {
                dual = z > 0 ? 1.0 : 0.0;
                fixed_loss_ += dual * z;
            }
        }
    family.n_movable = n_movable;
    family.active.reserve(static_cast<std::size_t>(n_movable));
}

void RehlineUnits::take_back(UnitFamily& family) {
    family.active.clear();
    for (std::int64_t l = 0; l < family.most; ++l)
        for (std::int64_t i = 0; i < rows_.n; ++i)
            if (movable(family, i, l)) family.active.push_back({i, l});
    family.shrink_above = kInfinity, family.shrink_below = -kInfinity;
}

void RehlineUnits::take_all_back() {
    constraints_.take_all_back();
    constraints_shrink_above_ = kInfinity;
    take_back(relus_);
    take_back(rehus_);
}

bool RehlineUnits::all_active() const {
    const auto whole = [](const UnitFamily& family) {
        return static_cast<std::int64_t>(family.active.size()) == family.n_movable;
    };
    return constraints_.all_active() && whole(relus_) && whole(rehus_);
}

void RehlineUnits::restart(std::span<const double> relu, std::span<const double> rehu,
                           std::span<const double> constraint_dual) {
    const auto set = [this](UnitFamily& family, std::span<const double> dual) {
        for (std::int64_t l = 0; !dual.empty() && l < family.most; ++l)
            for (std::int64_t i = 0; i < rows_.n; ++i) {
                if (!movable(family, i, l)) continue;
                const double scale = family.curved ? family.factor[i] : 1.0;
                const double cap = scale * unit(family, i, l).cap;
                family.dual[l * rows_.n + i] = std::clamp(dual[l * rows_.n + i], 0.0, cap);
            }
    };
    set(relus_, relu);
    set(rehus_, rehu);
    if (!constraint_dual.empty()) constraints_.restart(constraint_dual);
    take_all_back();
    refresh();
}

void RehlineUnits::refresh() {
    sample_dual(scratch_);
    coefficients_.follow(X_, scratch_, constraints_);
    sweeps_since_refresh_ = 0;
}

void RehlineUnits::sample_dual(std::span<double> g) const {
    std::fill(g.begin(), g.end(), 0.0);
    for (const UnitFamily* family : {&relus_, &rehus_})
        for (std::int64_t l = 0; l < family->most; ++l)
            for (std::int64_t i = 0; i < rows_.n; ++i)
                g[i] += rows_.direction[i] * family->factor[i] * unit(*family, i, l).slope *
                        family->dual[l * rows_.n + i];
}

// False when interrupted; units not met yet stay in the set.
template <class Rows>
bool RehlineUnits::sweep_family(Rows& access, UnitFamily& family, Sums& sums,
                                Interrupt& interrupt) {
    const std::int64_t count = static_cast<std::int64_t>(family.active.size());
    UnitFamily::Visit* const active = family.active.data();
    if (options_.shuffle) random_.shuffle(active, count);
    FamilySweep s{rows_, curvature_.data(), family, coefficients_.mover(), family.dual.data()};
    std::int64_t block_rows[kRowBlock];
    std::int64_t n_kept = 0, done = 0;
    bool finished = true;
    while (done < count && finished) {
        const UnitFamily::Visit* const block = active + done;
        const std::int64_t size = std::min(kRowBlock, count - done);
        for (std::int64_t k = 0; k < size; ++k)
            block_rows[k] = block[k].row;
        access.load(std::span(block_rows).first(static_cast<std::size_t>(size)));
        n_kept += family.curved ? step_units<true>(access, block, size, active + n_kept, s)
                                : step_units<false>(access, block, size, active + n_kept, s);
        done += size;
        finished = !interrupt.poll(2 * size * access.length(block_rows[0]));
    }
    std::copy(active + done, active + count, active + n_kept);
    family.active.resize(static_cast<std::size_t>(n_kept + count - done));
    sums.loss += s.loss, sums.gap += s.gap;
    if (options_.shrink)
        family.shrink_above = bar_above(s.highest), family.shrink_below = bar_below(s.lowest);
    return finished;
}

template <class Rows>
bool RehlineUnits::sweep(Rows& access, Sums& sums, Interrupt& interrupt) {
    if (options_.shuffle) constraints_.shuffle(random_);
    const std::int64_t work =
        constraints_.sweep(coefficients_.mover(), constraints_shrink_above_, sums.constraints);
    if (interrupt.poll(1 + work)) return false;
    if (options_.shrink) constraints_shrink_above_ = bar_above(sums.constraints.steepest);
    return sweep_family(access, relus_, sums, interrupt) &&
           sweep_family(access, rehus_, sums, interrupt);
}

RehlineProgress RehlineUnits::run(std::int64_t max_sweeps, double absolute, double relative,
                                  Interrupt& interrupt) {
    RehlineProgress progress{0, kInfinity, watch_.objective, kInfinity, 0, 0, false, false};
    with_row_access(X_, [&](auto& access) {
        access.reserve();
        while (progress.sweeps < max_sweeps) {
            if (sweeps_since_refresh_ >= kRefreshEvery) refresh();
            const bool everything = all_active();
            progress.n_active =
                static_cast<std::int64_t>(relus_.active.size() + rehus_.active.size());
            progress.visits += progress.n_active;
            Sums sums;
            const bool finished = sweep(access, sums, interrupt);
            ++progress.sweeps, ++sweeps_since_refresh_;
            progress.gap = sums.gap + sums.constraints.gap + constraints_.complementarity(coef());
            progress.violation = sums.constraints.violation;
            if (everything && finished)
                progress.objective = watch_.objective =
                    fixed_loss_ + sums.loss + coefficients_.penalty();
            if (!finished) {
                progress.interrupted = true;
                break;
            }
            const bool closed = watch_.closed(progress.gap, everything, absolute, relative);
            if (closed && everything) {
                progress.reached = true;
                break;
            }
            // The estimate missed what was set aside: look at it again.
            if (closed || relus_.active.size() + rehus_.active.size() == 0) take_all_back();
        }
        if (!all_active()) take_all_back();
    });
    return progress;
}

}  // namespace rectiline::rehline
