#include "rectiline/prox/proximal_multipliers.hpp"

#include "rectiline/design/products.hpp"
#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/vectors.hpp"

#include <utility>

namespace rectiline::prox {

namespace {

constexpr int kMostRidges = 40;  // tried in turn, each a hundred times the last

constexpr int kHalvings = 25;
constexpr int kActiveSets = 12;
constexpr std::int64_t kPerEntry = 40;  // multiply-adds in the time of copying an entry

// y += a X(:, j)
void add_column(const DesignView& X, std::int64_t j, double a, double* y) {
    std::visit(
        [&](const auto& view) {
            if constexpr (requires { view.row_stride; }) {
                add_multiple(a, view.data + j * view.column_stride, y, view.n);
            } else {
                sparse_axpy(a, view.line(j), y);
            }
        },
        X);
}

template <class T>
double inner(const std::vector<T>& a, const std::vector<T>& b) {
    return dot(a.data(), b.data(), std::ssize(a));
}

}  // namespace

UnitModel::UnitModel(const std::vector<std::int64_t>& row, const std::vector<double>& sign,
                     std::int64_t n_rows)
    : row_(row), sign_(sign), n_(n_rows), diagonal_(row.size()) {}

std::span<double> UnitModel::vectors(std::int64_t count) {
    count_ = count;
    F_.resize(count * n_);
    return F_;
}

void UnitModel::multiply(std::span<const double> move, std::span<double> image) {
    weight_.assign(n_, 0.0);
    by_row_.assign(n_, 0.0);
    for (std::size_t u = 0; u < row_.size(); ++u)
        weight_[row_[u]] += sign_[u] * move[u];
    for (std::int64_t c = 0; c < count_; ++c) {
        const double* f = F_.data() + c * n_;
        add_multiple(product(f, weight_.data(), n_), f, by_row_.data(), n_);
    }
    for (std::size_t u = 0; u < row_.size(); ++u)
        image[u] = diagonal_[u] * move[u] + sign_[u] * by_row_[row_[u]];
}

bool UnitModel::solve(const std::vector<std::int64_t>& free, std::vector<double>& right,
                      Interrupt& interrupt) {
    if (interrupt.poll_ahead(kPerEntry * count_ * std::ssize(free))) return false;
    // Units on one row share it: their weights add up.
    weight_.assign(n_, 0.0);
    by_row_.assign(n_, 0.0);
    for (std::size_t k = 0; k < free.size(); ++k) {
        const std::int64_t u = free[k];
        weight_[row_[u]] += 1.0 / diagonal_[u];
        by_row_[row_[u]] += sign_[u] * right[k] / diagonal_[u];
    }
    used_.clear();
    for (std::int64_t i = 0; i < n_; ++i)
        if (weight_[i] > 0.0) used_.push_back(i);
    for (const std::int64_t i : used_)
        weight_[i] = std::sqrt(weight_[i]);
    const std::int64_t depth = std::ssize(used_);
    P_.resize(count_ * depth);
    core_.resize(count_);
    for (std::int64_t c = 0; c < count_; ++c) {
        const double* f = F_.data() + c * n_;
        double* p = P_.data() + c * depth;
        for (std::int64_t t = 0; t < depth; ++t)
            p[t] = f[used_[t]] * weight_[used_[t]];
        core_[c] = product(f, by_row_.data(), n_);
    }
    if (!solve_core(depth, interrupt)) return false;
    std::fill(by_row_.begin(), by_row_.end(), 0.0);
    for (std::int64_t c = 0; c < count_; ++c)
        add_multiple(core_[c], F_.data() + c * n_, by_row_.data(), n_);
    for (std::size_t k = 0; k < free.size(); ++k) {
        const std::int64_t u = free[k];
        right[k] = (right[k] - sign_[u] * by_row_[row_[u]]) / diagonal_[u];
    }
    return true;
}

std::int64_t UnitModel::work(std::size_t n_free) const {
    return count_ * count_ * static_cast<std::int64_t>(n_free) + 2 * count_ * n_;
}

bool UnitModel::solve_core(std::int64_t depth, Interrupt& interrupt) {
    const std::int64_t size = count_;
    if (size == 0) return true;
    square_.resize(size * size);
    double ridge = 0.0;
    for (int attempt = 0; attempt < kMostRidges; ++attempt) {
        if (depth == 0) std::fill(square_.begin(), square_.end(), 0.0);
        if (!square_of_rows(P_.data(), size, depth, square_.data(), interrupt)) return false;
        double trace = 0.0;
        for (std::int64_t i = 0; i < size; ++i) {
            double& one = square_[i * size + i];
            one = (one + 1.0) * (1.0 + 1e-13) + ridge;
            trace += one;
        }
        if (interrupt.poll_ahead(size * size * size / 6)) return false;
        if (cholesky(square_.data(), size) || !(trace < HUGE_VAL)) break;
        const double mean = trace / static_cast<double>(size);
        ridge = std::max(100.0 * ridge, mean > 0.0 ? 1e-8 * mean : 1e-300);
    }
    cholesky_solve(square_.data(), size, core_.data(), 1);
    return true;
}

ProximalMultipliers::ProximalMultipliers(ProximalUnits units, std::int64_t n_rows,
                                         std::int64_t n_ones, double one_scale)
    : units_(std::move(units)),
      n_(n_rows),
      n_ones_(n_ones),
      one_scale_(one_scale),
      X_(DenseView<double>{}),
      model_(units_.row, units_.sign, n_rows) {
    const std::size_t count = units_.row.size(), rows = static_cast<std::size_t>(n_rows);
    for (auto* one : {&gradient_, &residual_, &move_, &product_, &trial_.dual})
        one->resize(count);
    slopes_.resize(rows);
    z_.resize(rows);
    end_.resize(count);
}

void ProximalMultipliers::set_columns(const DesignView& X, std::unique_ptr<ClusteredProx> penalty) {
    X_ = X;
    penalty_ = std::move(penalty);
    image_.resize(penalty_->size());
    v_.resize(image_.size());
    trial_.b.resize(image_.size());
}

// Fills b, b0 and the value of a state from its dual variables.
void ProximalMultipliers::evaluate(State& state) {
    std::fill(slopes_.begin(), slopes_.end(), 0.0);
    double value = 0.0, away = 0.0, total = 0.0;
    for (std::size_t u = 0; u < units_.row.size(); ++u) {
        const double a = state.dual[u], moved = a - anchor_dual_[u];
        slopes_[units_.row[u]] += units_.sign[u] * a;
        value += (0.5 * units_.bend[u] * a - units_.lift[u]) * a;
        away += moved * moved;
    }
    multiply_transposed(X_, slopes_, image_);
    for (std::size_t j = 0; j < v_.size(); ++j)
        v_[j] = anchor_b_[j] - how_.step * image_[j];
    value += penalty_->prox(v_, how_.step, state.b, state.clusters);
    state.b0 = anchor_b0_;
    if (n_ones_ > 0) {
        const double step0 = how_.step * one_scale_ * one_scale_;
        for (std::int64_t i = 0; i < n_ones_; ++i)
            total += slopes_[i];
        state.b0 -= step0 * total;
        value += state.b0 * state.b0 / (2.0 * step0);
    }
    state.value = value + away / (2.0 * how_.room);
}

void ProximalMultipliers::set_gradient(const State& state) {
    multiply(X_, state.b, z_);
    for (std::int64_t i = 0; i < n_ones_; ++i)
        z_[i] += state.b0;
    for (std::size_t u = 0; u < units_.row.size(); ++u)
        gradient_[u] = units_.bend[u] * state.dual[u] - units_.lift[u] -
                       units_.sign[u] * z_[units_.row[u]] +
                       (state.dual[u] - anchor_dual_[u]) / how_.room;
}

double ProximalMultipliers::projected_gradient(const State& state) {
    double worst = 0.0;
    for (std::size_t u = 0; u < units_.row.size(); ++u) {
        const double a = state.dual[u];
        residual_[u] = a - std::clamp(a - gradient_[u], units_.low[u], units_.high[u]);
        worst = std::max(worst, std::fabs(residual_[u]));
    }
    return worst;
}

bool ProximalMultipliers::set_model(const State& state, Interrupt& interrupt) {
    const Clusters& clusters = state.clusters;
    const std::int64_t count = clusters.count() + (n_ones_ > 0);
    if (interrupt.poll_ahead(kPerEntry * count * n_)) return false;
    const std::span<double> F = model_.vectors(count);
    std::fill(F.begin(), F.end(), 0.0);
    const double root = std::sqrt(how_.step);
    for (std::int64_t c = 0; c < clusters.count(); ++c) {
        const std::int64_t first = clusters.starts[c], last = clusters.starts[c + 1];
        const double share = root / std::sqrt(static_cast<double>(last - first));
        for (std::int64_t k = first; k < last; ++k) {
            const std::int64_t j = clusters.places[k];
            add_column(X_, j, std::copysign(share, state.b[j]), F.data() + c * n_);
        }
    }
    if (n_ones_ > 0) {
        double* ones = F.data() + clusters.count() * n_;
        std::fill(ones, ones + n_ones_, root * one_scale_);
    }
    for (std::size_t u = 0; u < units_.row.size(); ++u)
        model_.diagonal()[u] = units_.bend[u] + 1.0 / how_.room;
    return true;
}

// The step to the minimiser of the quadratic model over the box, by a primal-dual active set
// method: units outside their box are put on the end they passed, units held at an end with a
// multiplier of the wrong sign are freed.
bool ProximalMultipliers::set_move(const State& state, Interrupt& interrupt) {
    const std::size_t count = units_.row.size();
    for (std::size_t u = 0; u < count; ++u) {
        const bool low = state.dual[u] <= units_.low[u] && gradient_[u] > 0.0;
        const bool high = state.dual[u] >= units_.high[u] && gradient_[u] < 0.0;
        end_[u] = static_cast<std::int8_t>(low ? -1 : high ? 1 : 0);
    }
    for (int round = 0; round < kActiveSets; ++round) {
        free_.clear();
        bool held = false;
        for (std::size_t u = 0; u < count; ++u) {
            move_[u] = 0.0;
            if (end_[u] == 0)
                free_.push_back(static_cast<std::int64_t>(u));
            else
                move_[u] = (end_[u] < 0 ? units_.low[u] : units_.high[u]) - state.dual[u];
            held |= move_[u] != 0.0;
        }
        right_.resize(free_.size());
        if (held) model_.multiply(move_, product_);
        for (std::size_t k = 0; k < free_.size(); ++k)
            right_[k] = -(gradient_[free_[k]] + (held ? product_[free_[k]] : 0.0));
        if (!free_.empty() && !model_.solve(free_, right_, interrupt)) return false;
        work_ += static_cast<double>(model_.work(free_.size()));
        for (std::size_t k = 0; k < free_.size(); ++k)
            move_[free_[k]] = right_[k];
        model_.multiply(move_, product_);
        bool changed = false;
        for (std::size_t u = 0; u < count; ++u) {
            const double multiplier = gradient_[u] + product_[u];
            std::int8_t end = 0;
            if (end_[u] == 0) {
                if (move_[u] < units_.low[u] - state.dual[u])
                    end = -1;
                else if (move_[u] > units_.high[u] - state.dual[u])
                    end = 1;
            } else if (end_[u] < 0 ? multiplier >= 0.0 : multiplier <= 0.0) {
                end = end_[u];
            }
            changed |= end != end_[u];
            end_[u] = end;
        }
        if (!changed || interrupt.poll(model_.work(free_.size()))) break;
    }
    for (std::size_t u = 0; u < count; ++u)
        move_[u] =
            std::clamp(move_[u], units_.low[u] - state.dual[u], units_.high[u] - state.dual[u]);
    return true;
}

// Halves the step until the value falls enough; false if it never does.
bool ProximalMultipliers::search(State& state, double slope) {
    double length = 1.0;
    for (int k = 0; k < kHalvings; ++k, length *= 0.5) {
        for (std::size_t u = 0; u < move_.size(); ++u)
            trial_.dual[u] = state.dual[u] + length * move_[u];
        evaluate(trial_);
        const double enough = 1e-4 * length * slope + 1e-14 * std::fabs(state.value);
        if (trial_.value <= state.value + enough) {
            std::swap(state, trial_);
            return true;
        }
    }
    return false;
}

std::int64_t ProximalMultipliers::advance(std::span<double> dual, std::span<double> b, double& b0,
                                          const ProximalSteps& how, Interrupt& interrupt) {
    const std::int64_t d = n_columns();
    how_ = how;
    anchor_dual_.assign(dual.begin(), dual.end());
    anchor_b_.assign(b.begin(), b.end());
    anchor_b0_ = b0;
    State state;
    state.dual = anchor_dual_;
    state.b.resize(d);
    evaluate(state);
    std::int64_t taken = 0;
    while (taken < how_.most) {
        set_gradient(state);
        const std::int64_t rank = std::min(state.clusters.count(), n_);
        const std::int64_t work = n_ * (d + rank * rank);
        if (projected_gradient(state) <= how_.tolerance || interrupt.poll(work)) break;
        work_ += static_cast<double>(n_ * d);
        if (!set_model(state, interrupt) || !set_move(state, interrupt)) break;
        double slope = inner(gradient_, move_);
        if (!(slope < 0.0)) {
            for (std::size_t u = 0; u < move_.size(); ++u)
                move_[u] = -residual_[u];
            slope = inner(gradient_, move_);
        }
        ++taken;
        if (!search(state, slope)) break;
    }
    if (taken == 0 && interrupt.stopped()) return 0;  // no nearer the inner answer: b would drift
    std::copy(state.dual.begin(), state.dual.end(), dual.begin());
    std::copy(state.b.begin(), state.b.end(), b.begin());
    b0 = state.b0;
    return taken;
}

}  // namespace rectiline::prox
