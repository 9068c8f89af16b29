#include "rectiline/rehline/dual_ascent.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/design/row_access.hpp"

namespace rectiline::rehline {

namespace {

template <class Rows>
RECTILINE_MULTIVERSION double step_constraints(Rows& access, const LinearConstraints& constraints,
                                               std::span<const double> curvature,
                                               std::span<double> dual, const DualMove& move) {
    double gap = 0;
    for (std::int64_t k = 0; k < std::ssize(dual); ++k) {
        if (!(curvature[k] > 0)) continue;  // zero rows cannot move anything
        access.load({&k, 1});
        const double value = access.dot(0, k, move.coef.data()) + constraints.c[k], old = dual[k];
        const double free = old - value / curvature[k];
        const double next = constraints.equality[k] ? free : std::max(0.0, free);
        if (next == old) continue;
        gap += std::fabs((next - old) * value);
        dual[k] = next;
        move(access, 0, k, next - old);
    }
    return gap;
}

constexpr double kResidual = 0.02;       // relative accuracy of the conjugate gradients
constexpr std::int64_t kPerEntry = 100;  // multiply-adds in the time of collecting an entry

// The piece of weight * phi*(a / weight) that holds a strictly inside: its ends, its curvature and
// the slope there (an argument of phi). False at an end.
struct DualPiece {
    double low, high, curvature, argument;
};

bool piece_of(const Curve& f, double a, double weight, DualPiece& piece) {
    const double s = a / weight, margin = 1e-13 * (1 + std::fabs(s));
    const auto is_inside = [&](double low, double high) {
        return s > low + margin && s < high - margin;
    };
    for (std::int64_t k = 0; k <= f.n_knots; ++k) {
        const auto& own = f.pieces[k];
        if (own.curvature > 0 && is_inside(own.first_slope, own.last_slope)) {
            const double argument = k == 0 ? own.to + (s - own.last_slope) / own.curvature
                                           : own.from + (s - own.first_slope) / own.curvature;
            piece = {weight * own.first_slope, weight * own.last_slope,
                     1.0 / (weight * own.curvature), argument};
            return true;
        }
        if (k < f.n_knots && is_inside(f.left[k], f.right[k])) {
            piece = {weight * f.left[k], weight * f.right[k], 0.0, f.knot[k]};
            return true;
        }
    }
    return false;
}

// d b_j / d q_j: 0 where an l1 term or a bound holds b_j.
double column_derivative(const ColumnFunctions& columns, std::int64_t j, double b) {
    if (columns.plain) return 1.0 / columns.rho[j];
    const bool held =
        (b == 0 && columns.l1[j] > 0) || b <= columns.lower[j] || b >= columns.upper[j];
    return held ? 0.0 : 1.0 / columns.rho[j];
}

}  // namespace

ConstraintDuals::ConstraintDuals(LinearConstraints constraints, const ColumnFunctions& columns)
    : constraints_(constraints),
      dual_(constraints.c.size(), 0.0),
      curvature_(curvature_of_rows(constraints.A, columns)),
      slack_(dual_.size()) {}

void ConstraintDuals::restart(std::span<const double> dual) {
    for (std::size_t k = 0; k < dual_.size(); ++k)
        dual_[k] = constraints_.equality[k] ? dual[k] : std::max(0.0, dual[k]);
}

std::int64_t ConstraintDuals::sweep(const DualMove& move, double& gap) {
    if (dual_.empty()) return 0;
    with_row_access(constraints_.A, [&](auto& access) {
        gap += step_constraints(access, constraints_, curvature_, dual_, move);
    });
    return 2 * (size() + n_stored(constraints_.A));
}

double ConstraintDuals::complementarity(std::span<const double> coef) {
    if (dual_.empty()) return 0.0;
    multiply(constraints_.A, coef, slack_);
    double sum = 0;
    for (std::size_t k = 0; k < dual_.size(); ++k)
        sum += std::fabs(dual_[k] * (slack_[k] + constraints_.c[k]));
    return sum;
}

void ConstraintDuals::push(std::span<double> q) const {
    multiply_transposed(constraints_.A, dual_, q);
}

std::vector<double> curvature_of_rows(const DesignView& X, const ColumnFunctions& columns) {
    std::vector<double> inverse(columns.d), curvature(n_rows(X));
    for (std::int64_t j = 0; j < columns.d; ++j)
        inverse[j] = 1.0 / columns.rho[j];
    row_squares(X, inverse, curvature);
    return curvature;
}

Coefficients::Coefficients(ColumnFunctions columns)
    : columns_(columns), q_(columns.d), coef_(q_.size()), part_(q_.size()) {}

DualMove Coefficients::mover() {
    return {columns_, q_, coef_, columns_.d > 0 ? 1.0 / columns_.rho[0] : 0.0};
}

void Coefficients::follow(const DesignView& X, std::span<const double> g,
                          const ConstraintDuals& constraints) {
    multiply_transposed(X, g, part_);
    for (std::int64_t j = 0; j < columns_.d; ++j)
        q_[j] = -part_[j];
    if (constraints.size() > 0) {
        constraints.push(part_);
        for (std::int64_t j = 0; j < columns_.d; ++j)
            q_[j] += part_[j];
    }
    for (std::int64_t j = 0; j < columns_.d; ++j)
        coef_[j] = columns_[j].minimiser(q_[j]);
}

double Coefficients::penalty() const {
    double sum = 0;
    for (std::int64_t j = 0; j < columns_.d; ++j)
        sum += columns_.value(j, coef_[j]);
    return sum;
}

bool FreeDuals::collect(const DesignView& X, const RowFunctions& rows,
                        const ColumnFunctions& columns, std::span<const std::int64_t> active,
                        double intercept, std::span<const double> a, std::span<const double> coef,
                        Interrupt& interrupt) {
    free_.clear(), low_.clear(), high_.clear(), curvature_.clear(), gradient_.clear();
    index_.clear(), value_.clear(), column_of_.clear(), column_weight_.clear();
    pointer_.assign(1, 0);
    slot_of_.assign(columns.d, -1);
    with_row_access(X, [&](auto& access) {
        for (const std::int64_t i : active) {
            DualPiece piece;
            if (!piece_of(rows.curve(i), a[i], rows.weight[i], piece)) continue;
            access.load({&i, 1});
            const double t = rows.argument(i, access.dot(0, i, coef.data()) + intercept);
            free_.push_back(i);
            low_.push_back(piece.low), high_.push_back(piece.high);
            curvature_.push_back(piece.curvature);
            gradient_.push_back(piece.argument - t);
            access.for_each(0, i, [&](std::int64_t j, double x) {
                if (x == 0) return;
                if (slot_of_[j] < 0) {
                    const double weight = column_derivative(columns, j, coef[j]);
                    if (weight == 0) return;
                    slot_of_[j] = std::ssize(column_of_);
                    column_of_.push_back(j);
                    column_weight_.push_back(weight);
                }
                index_.push_back(slot_of_[j]);
                value_.push_back(x * rows.direction[i]);
            });
            pointer_.push_back(std::ssize(index_));
            if (interrupt.poll(kPerEntry * access.length(i))) return;
        }
    });
    return !interrupt.stopped();
}

// image = (H + N M N' + t0 e e') move
void FreeDuals::multiply(const RowFunctions& rows, double t0, std::span<const double> move,
                         std::span<double> image) {
    double balance = 0;
    column_image_.assign(column_of_.size(), 0.0);
    for (std::size_t k = 0; k < move.size(); ++k) {
        if (t0 > 0) balance += rows.direction[free_[k]] * move[k];
        for (std::int64_t e = pointer_[k]; e < pointer_[k + 1]; ++e)
            column_image_[index_[e]] += move[k] * value_[e];
    }
    for (std::size_t j = 0; j < column_image_.size(); ++j)
        column_image_[j] *= column_weight_[j];
    for (std::size_t k = 0; k < move.size(); ++k) {
        image[k] = curvature_[k] * move[k] + t0 * balance * rows.direction[free_[k]];
        for (std::int64_t e = pointer_[k]; e < pointer_[k + 1]; ++e)
            image[k] += value_[e] * column_image_[index_[e]];
    }
}

std::int64_t FreeDuals::find_direction(const RowFunctions& rows, double t0,
                                       std::int64_t max_iterations, Interrupt& interrupt) {
    const std::size_t m = free_.size();
    delta_.resize(m), descent_.resize(m), diagonal_.resize(m);
    for (std::size_t k = 0; k < m; ++k) {
        double sum = curvature_[k] + t0;
        for (std::int64_t e = pointer_[k]; e < pointer_[k + 1]; ++e)
            sum += value_[e] * value_[e] * column_weight_[index_[e]];
        diagonal_[k] = sum > 0 ? sum : 1.0;
        descent_[k] = -gradient_[k];
    }
    const std::int64_t work = 2 * std::ssize(value_);
    return solver_.solve([&](std::span<const double> move,
                             std::span<double> image) { multiply(rows, t0, move, image); },
                         descent_, diagonal_, kResidual, max_iterations,
                         [&] { return interrupt.poll(work); }, delta_);
}

std::int64_t FreeDuals::count(const RowFunctions& rows, std::span<const std::int64_t> active,
                              std::span<const double> a) const {
    std::int64_t n_free = 0;
    DualPiece piece;
    for (const std::int64_t i : active)
        n_free += piece_of(rows.curve(i), a[i], rows.weight[i], piece);
    return n_free;
}

FreeDualStep FreeDuals::step(const DesignView& X, const RowFunctions& rows,
                             const ColumnFunctions& columns, std::span<const std::int64_t> active,
                             double intercept, double t0, std::int64_t max_iterations,
                             std::span<double> a, std::span<double> q, std::span<double> coef,
                             Interrupt& interrupt) {
    FreeDualStep out{count(rows, active, a), 0, 0, false, 0.0};
    // With more free duals than columns the quadratic is singular and every step runs into its
    // ends.
    if (out.n_free == 0 || out.n_free > columns.d) return out;
    if (!collect(X, rows, columns, active, intercept, a, coef, interrupt)) return out;
    out.iterations = find_direction(rows, t0, max_iterations, interrupt);
    const std::size_t m = free_.size();
    double descent = 0, longest = kInfinity;
    for (std::size_t k = 0; k < m; ++k) {
        descent += gradient_[k] * delta_[k];
        const double room = delta_[k] > 0 ? high_[k] - a[free_[k]] : low_[k] - a[free_[k]];
        if (delta_[k] != 0) longest = std::min(longest, room / delta_[k]);
    }
    trial_.resize(m);
    dq_.resize(columns.d);
    constexpr int kHalvings = 8;
    double length = 1.0;
    for (int attempt = 0; attempt < kHalvings; ++attempt, length *= 0.5) {
        if (attempt > 0 && interrupt.poll(std::ssize(value_))) break;
        if (attempt + 1 == kHalvings)
            length = std::min(length, longest);  // inside all pieces: exact
        std::fill(dq_.begin(), dq_.end(), 0.0);
        out.n_clipped = 0, out.balance_change = 0;
        double change = 0;
        with_row_access(X, [&](auto& access) {
            for (std::size_t k = 0; k < m; ++k) {
                const std::int64_t i = free_[k];
                const double wanted = a[i] + length * delta_[k];
                trial_[k] = std::clamp(wanted, low_[k], high_[k]);
                out.n_clipped += trial_[k] != wanted;
                const double move = trial_[k] - a[i];
                if (move == 0) continue;
                change += gradient_[k] * move + 0.5 * curvature_[k] * move * move;
                out.balance_change += rows.direction[i] * move;
                access.load({&i, 1});
                access.axpy(0, i, -move * rows.direction[i], dq_.data());
            }
        });
        // h*(q + dq) - h*(q) - b'dq, column by column and without cancellation
        for (std::int64_t j = 0; j < columns.d; ++j)
            if (dq_[j] != 0) change += columns[j].fenchel_young(coef[j], q[j] + dq_[j]);
        change += 0.5 * t0 * out.balance_change * out.balance_change;
        if (change < 0 && (change <= 0.05 * length * descent || length <= longest)) {
            out.improved = true;
            break;
        }
    }
    if (!out.improved) {
        out.balance_change = 0;
        return out;
    }
    for (std::size_t k = 0; k < m; ++k)
        a[free_[k]] = trial_[k];
    for (std::int64_t j = 0; j < columns.d; ++j)
        if (dq_[j] != 0) {
            q[j] += dq_[j];
            coef[j] = columns[j].minimiser(q[j]);
        }
    return out;
}

}  // namespace rectiline::rehline
