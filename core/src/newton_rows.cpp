#include "rectiline/newton_rows.hpp"

#include "rectiline/gram.hpp"
#include "rectiline/newton_kernels.hpp"
#include "rectiline/products.hpp"
#include "rectiline/row_access.hpp"
#include "rectiline/threads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rectiline {
namespace {

constexpr std::int64_t kChunk = 16384;  // rows per chunk of the passes that do not touch X

std::int64_t chunk_count(std::int64_t n) {
    return (n + kChunk - 1) / kChunk;
}

template <class Part>
double sum_chunks(std::int64_t n, int n_threads, const Part& part) {
    const std::int64_t count = chunk_count(n);
    std::vector<double> sums(static_cast<std::size_t>(count), 0.0);
    parallel_chunks(n >= 4 * kChunk ? n_threads : 1, count, [&](std::int64_t c) {
        sums[c] = part(c * kChunk, std::min(n, (c + 1) * kChunk));
    });
    double total = 0;
    for (const double value : sums)
        total += value;
    return total;
}

}  // namespace

struct NewtonRows::Storage {
    std::vector<double> values, direction, offset, weight;
    std::vector<std::int64_t> indices, pointers;
    std::vector<std::uint8_t> curve_index;
};

NewtonRows::NewtonRows(DesignView X, RowFunctions rows, bool intercept, int n_threads)
    : X_(X),
      rows_(rows),
      intercept_(intercept),
      n_threads_(n_threads),
      t_(static_cast<std::size_t>(rows.n)),
      dt_(static_cast<std::size_t>(rows.n), 0.0),
      s_(static_cast<std::size_t>(rows.n), 0.0),
      multiplier_(static_cast<std::size_t>(rows.n), 0.0),
      imaged_(static_cast<std::size_t>(rows.n), 0.0),
      change_(static_cast<std::size_t>(rows.n)),
      image_(static_cast<std::size_t>(order()), 0.0),
      newton_weight_(static_cast<std::size_t>(rows.n)) {
    std::copy(rows.offset, rows.offset + rows.n, t_.begin());
}

std::unique_ptr<NewtonRows> NewtonRows::subset(const std::int64_t* index, std::int64_t count,
                                               double weight_factor) const {
    auto storage = std::make_shared<Storage>();
    const std::int64_t d = n_columns(X_);
    const auto gather = [&](const double* from, std::vector<double>& to, double factor) {
        to.resize(static_cast<std::size_t>(count));
        for (std::int64_t k = 0; k < count; ++k)
            to[k] = factor * from[index[k]];
    };
    gather(rows_.direction, storage->direction, 1.0);
    gather(rows_.offset, storage->offset, 1.0);
    gather(rows_.weight, storage->weight, weight_factor);
    if (rows_.curve_index) {
        storage->curve_index.resize(static_cast<std::size_t>(count));
        for (std::int64_t k = 0; k < count; ++k)
            storage->curve_index[k] = rows_.curve_index[index[k]];
    }
    DesignView X = std::visit(
        [&]<class View>(const View& view) -> DesignView {
            if constexpr (requires { view.row_stride; }) {
                storage->values.resize(static_cast<std::size_t>(count * d));
                for (std::int64_t k = 0; k < count; ++k) {
                    if (k + kRowsAhead < count) view.prefetch_row(index[k + kRowsAhead]);
                    for (std::int64_t j = 0; j < d; ++j)
                        storage->values[k * d + j] =
                            static_cast<double>(view.row(index[k])[j * view.column_stride]);
                }
                return DenseView<double>{storage->values.data(), count, d, d, 1};
            } else {
                storage->pointers.assign(1, 0);
                for (std::int64_t k = 0; k < count; ++k) {
                    const auto start = view.pointers[index[k]], end = view.pointers[index[k] + 1];
                    storage->values.insert(storage->values.end(), view.values + start,
                                           view.values + end);
                    storage->indices.insert(storage->indices.end(), view.indices + start,
                                            view.indices + end);
                    storage->pointers.push_back(static_cast<std::int64_t>(storage->values.size()));
                }
                return SparseView<double, std::int64_t>{storage->values.data(),
                                                        storage->indices.data(),
                                                        storage->pointers.data(),
                                                        count,
                                                        d,
                                                        true};
            }
        },
        X_);
    RowFunctions rows{count,
                      rows_.curves,
                      rows_.curve_index ? storage->curve_index.data() : nullptr,
                      storage->direction.data(),
                      storage->offset.data(),
                      storage->weight.data()};
    auto out = std::make_unique<NewtonRows>(X, rows, intercept_, n_threads_);
    out->storage_ = std::move(storage);
    for (std::int64_t k = 0; k < count; ++k) {
        out->t_[k] = t_[index[k]];
        out->s_[k] = s_[index[k]];
        out->multiplier_[k] = multiplier_[index[k]];
    }
    return out;
}

void NewtonRows::place(const double* b) {
    multiply(X_, b, t_.data(), n_threads_);
    const double b0 = intercept_ ? b[n_columns(X_)] : 0.0;
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        t_[i] = rows_.direction[i] * (t_[i] + b0) + rows_.offset[i];
        dt_[i] = 0;
    }
}

void NewtonRows::place_at(const double* z) {
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        t_[i] = rows_.direction[i] * z[i] + rows_.offset[i];
        dt_[i] = 0;
    }
}

void NewtonRows::aim(const double* db) {
    multiply(X_, db, dt_.data(), n_threads_);
    const double db0 = intercept_ ? db[n_columns(X_)] : 0.0;
    for (std::int64_t i = 0; i < rows_.n; ++i)
        dt_[i] = rows_.direction[i] * (dt_[i] + db0);
}

void NewtonRows::set_multiplier(const double* g) {
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        const Curve& f = rows_.curve(i);
        const double slope =
            g && rows_.weight[i] > 0 ? rows_.direction[i] * g[i] / rows_.weight[i] : 0.0;
        multiplier_[i] = std::clamp(slope, f.lowest_slope(), f.highest_slope());
    }
}

void NewtonRows::prepare_ramps(double S) const {
    if (ramps_for_ == S) return;
    ramps_.clear();
    std::int64_t n_curves = 1;
    if (rows_.curve_index)
        n_curves = 1 + *std::max_element(rows_.curve_index, rows_.curve_index + rows_.n);
    for (std::int64_t k = 0; k < n_curves; ++k)
        ramps_.emplace_back(rows_.curves[k], S);
    ramps_for_ = S;
}

double NewtonRows::derivative(double step, double S) const {
    prepare_ramps(S);
    const double inverse_S = std::isinf(S) ? 0.0 : 1.0 / S;
    return sum_chunks(rows_.n, n_threads_, [&](std::int64_t first, std::int64_t last) {
        double sum = 0;
        if (!rows_.curve_index && with_ramp_count(ramps_[0].start.size(), [&]<int M>() {
                sum = derivative_pass<M>(ramps_[0], last - first, t_.data() + first,
                                         dt_.data() + first, multiplier_.data() + first,
                                         rows_.weight + first, step, inverse_S);
            }))
            return sum;
        for (std::int64_t i = first; i < last; ++i) {
            const Ramps& r = ramps_[rows_.curve_index ? rows_.curve_index[i] : 0];
            sum += rows_.weight[i] * dt_[i] *
                   r.slope(t_[i] + step * dt_[i] + multiplier_[i] * inverse_S);
        }
        return sum;
    });
}

double NewtonRows::settle(double step, double S) {
    prepare_ramps(S);
    const double inverse_S = std::isinf(S) ? 0.0 : 1.0 / S;
    const std::int64_t n = rows_.n, chunks = chunk_count(n);
    const int n_threads = n >= 4 * kChunk ? n_threads_ : 1;
    std::vector<Settled> parts(static_cast<std::size_t>(chunks));
    parallel_chunks(n_threads, chunks, [&](std::int64_t c) {
        const std::int64_t first = c * kChunk, last = std::min(n, first + kChunk);
        const SettleArrays arrays{t_.data() + first,          dt_.data() + first,
                                  s_.data() + first,          newton_weight_.data() + first,
                                  multiplier_.data() + first, rows_.weight + first};
        if (!rows_.curve_index && with_ramp_count(ramps_[0].start.size(), [&]<int M>() {
                const Curve& f = rows_.curves[0];
                parts[c] = settle_pass<M>(ramps_[0], last - first, arrays, step, inverse_S,
                                          f.lowest_slope(), f.highest_slope());
            }))
            return;
        parts[c] = settle_rows(ramps_, rows_, first, last, arrays, step, inverse_S);
    });
    double squares = 0;
    std::vector<std::int64_t> begin(static_cast<std::size_t>(chunks) + 1, 0);
    for (std::int64_t c = 0; c < chunks; ++c) {
        squares += parts[c].squares;
        begin[c + 1] = begin[c] + parts[c].n_free;
    }
    free_.resize(static_cast<std::size_t>(begin[chunks]));
    free_weight_.resize(static_cast<std::size_t>(begin[chunks]));
    parallel_chunks(n_threads, chunks, [&](std::int64_t c) {
        std::int64_t at = begin[c];
        for (std::int64_t i = c * kChunk; at < begin[c + 1]; ++i)
            if (newton_weight_[i] > 0) free_[at] = i, free_weight_[at++] = newton_weight_[i];
    });
    return 0.5 * inverse_S * squares;
}

RowValues NewtonRows::values() const {
    const std::int64_t n = rows_.n, chunks = chunk_count(n);
    std::vector<RowValues> parts(static_cast<std::size_t>(chunks), RowValues{0, 0});
    parallel_chunks(n >= 4 * kChunk ? n_threads_ : 1, chunks, [&](std::int64_t c) {
        const std::int64_t first = c * kChunk, last = std::min(n, first + kChunk);
        if (!rows_.curve_index && with_knot_count(rows_.curves[0], [&]<int K>() {
                parts[c] = value_pass(PackedCurve<K>(rows_.curves[0]), last - first,
                                      t_.data() + first, s_.data() + first, rows_.weight + first);
            }))
            return;
        RowValues sum{0, 0};
        for (std::int64_t i = first; i < last; ++i) {
            const double weight = rows_.weight[i];
            if (weight == 0) continue;
            const Curve& f = rows_.curve(i);
            sum.loss += weight * f(t_[i]);
            sum.fenchel_young += weight * fenchel_young(f, s_[i], t_[i]);
        }
        parts[c] = sum;
    });
    RowValues total{0, 0};
    for (const RowValues& part : parts)
        total.loss += part.loss, total.fenchel_young += part.fenchel_young;
    return total;
}

void NewtonRows::adopt() {
    multiplier_ = s_;
}

const std::vector<double>& NewtonRows::image() {
    const std::int64_t n = rows_.n, d = n_columns(X_);
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < n; ++i)
        changed += s_[i] != imaged_[i];
    constexpr std::int64_t kRefreshEvery = 16;  // removes the rounding of repeated updates
    const bool full = !image_valid_ || ++images_ % kRefreshEvery == 0 || 2 * changed > n;
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        change_[i] = rows_.weight[i] * rows_.direction[i] * (full ? s_[i] : s_[i] - imaged_[i]);
        sum += change_[i];
    }
    // Products skip zero weights, so an update costs only the rows whose slope changed.
    image_change_.resize(static_cast<std::size_t>(d));
    multiply_transposed(X_, change_.data(), image_change_.data(), n_threads_);
    if (full) std::fill(image_.begin(), image_.end(), 0.0);
    for (std::int64_t j = 0; j < d; ++j)
        image_[j] += image_change_[j];
    if (intercept_) image_[d] += sum;
    imaged_ = s_;
    image_valid_ = true;
    return image_;
}

void NewtonRows::gram(double* H) {
    const auto add = [&](const std::vector<std::int64_t>& rows, const std::vector<double>& weight,
                         double* out) {
        weighted_gram(X_, rows.data(), weight.data(), static_cast<std::int64_t>(rows.size()),
                      intercept_, out, n_threads_);
    };
    const std::size_t size = static_cast<std::size_t>(order() * order());
    constexpr std::int64_t kRefreshEvery = 8;  // removes the rounding of repeated updates
    bool update = gram_weight_.size() == newton_weight_.size() && ++grams_ % kRefreshEvery != 0;
    if (update) {
        risen_.clear(), risen_by_.clear(), fallen_.clear(), fallen_by_.clear();
        const std::size_t most = free_.size() / 3;  // beyond, a new sum is cheaper and exact
        for (std::int64_t i = 0; i < rows_.n && update; ++i) {
            const double change = newton_weight_[i] - gram_weight_[i];
            if (change > 0)
                risen_.push_back(i), risen_by_.push_back(change);
            else if (change < 0)
                fallen_.push_back(i), fallen_by_.push_back(-change);
            update = risen_.size() + fallen_.size() <= most;
        }
    }
    if (update) {
        gram_part_.resize(size);
        if (!risen_.empty()) {
            add(risen_, risen_by_, gram_part_.data());
            for (std::size_t e = 0; e < size; ++e)
                gram_[e] += gram_part_[e];
        }
        if (!fallen_.empty()) {
            add(fallen_, fallen_by_, gram_part_.data());
            for (std::size_t e = 0; e < size; ++e)
                gram_[e] -= gram_part_[e];
        }
    } else {
        gram_.resize(size);
        add(free_, free_weight_, gram_.data());
    }
    gram_weight_ = newton_weight_;
    std::copy(gram_.begin(), gram_.end(), H);
}

std::int64_t NewtonRows::free_entries() const {
    std::int64_t total = 0;
    with_row_access(X_, [&](auto& access) {
        for (const std::int64_t i : free_)
            total += access.length(i);
    });
    return total;
}

void NewtonRows::free_rows(double* P) const {
    const std::int64_t width = order();
    std::fill(P, P + n_free() * width, 0.0);
    with_row_access(X_, [&](auto& access) {
        access.reserve();
        for (std::int64_t k = 0; k < n_free(); ++k) {
            double* row = P + k * width;
            access.load(&free_[k], 1);
            access.for_each(0, free_[k], [&](std::int64_t j, double x) { row[j] = x; });
            if (intercept_) row[width - 1] = 1.0;
        }
    });
}

void NewtonRows::free_times(const double* b, double* out) const {
    const double b0 = intercept_ ? b[order() - 1] : 0.0;
    with_row_access(X_, [&](auto& access) {
        access.reserve();
        for (std::int64_t k = 0; k < n_free(); ++k) {
            access.load(&free_[k], 1);
            out[k] = access.dot(0, free_[k], b) + b0;
        }
    });
}

void NewtonRows::add_free_transposed(const double* u, double* q) const {
    double sum = 0;
    with_row_access(X_, [&](auto& access) {
        access.reserve();
        for (std::int64_t k = 0; k < n_free(); ++k) {
            access.load(&free_[k], 1);
            access.axpy(0, free_[k], u[k], q);
            sum += u[k];
        }
    });
    if (intercept_) q[order() - 1] += sum;
}

void NewtonRows::dual(double* g) const {
    for (std::int64_t i = 0; i < rows_.n; ++i)
        g[i] = rows_.direction[i] * rows_.weight[i] * s_[i];
}

void NewtonRows::arguments(double* t) const {
    std::copy(t_.begin(), t_.end(), t);
}

void NewtonRows::slack(double* out) const {
    for (std::int64_t i = 0; i < rows_.n; ++i) {
        const Curve& f = rows_.curve(i);
        double nearest = std::numeric_limits<double>::infinity();
        for (std::int64_t k = 0; rows_.weight[i] > 0 && k < f.n_knots; ++k)
            nearest = std::min(nearest, std::fabs(t_[i] - f.knot[k]));
        out[i] = nearest;
    }
}

bool NewtonRows::freeze(const std::uint8_t* keep, double* linear, double* quadratic,
                        double* low_sum, double* high_sum, double* g) {
    const std::int64_t n = rows_.n, d = n_columns(X_);
    std::vector<double> weight;
    std::vector<std::int64_t> curved;
    double sum = 0;
    *low_sum = *high_sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        g[i] = 0;
        if (rows_.weight[i] == 0) continue;
        const Curve& f = rows_.curve(i);
        if (keep[i]) {
            const double a = rows_.weight[i] * f.lowest_slope(),
                         b = rows_.weight[i] * f.highest_slope();
            *low_sum += rows_.direction[i] > 0 ? a : -b;
            *high_sum += rows_.direction[i] > 0 ? b : -a;
            continue;
        }
        g[i] = rows_.direction[i] * rows_.weight[i] * f.slope(t_[i]);
        sum += g[i];
        const double q = f.curvature[f.piece(t_[i])];
        if (q > 0) curved.push_back(i), weight.push_back(rows_.weight[i] * q);
    }
    // Most rows stay on the piece that the last call froze them on: add what changed.
    std::int64_t changed = n;
    if (frozen_.size() == static_cast<std::size_t>(n)) {
        changed = 0;
        for (std::int64_t i = 0; i < n; ++i)
            changed += g[i] != frozen_[i];
    }
    if (2 * changed < n) {
        for (std::int64_t i = 0; i < n; ++i)
            change_[i] = g[i] - frozen_[i];
        multiply_transposed(X_, change_.data(), linear, n_threads_);
        for (std::int64_t j = 0; j < d; ++j)
            frozen_image_[j] += linear[j];
    } else {
        frozen_image_.resize(static_cast<std::size_t>(d));
        multiply_transposed(X_, g, frozen_image_.data(), n_threads_);
    }
    frozen_.assign(g, g + n);
    std::copy(frozen_image_.begin(), frozen_image_.end(), linear);
    if (intercept_) linear[d] = sum;
    if (curved.empty()) return false;
    weighted_gram(X_, curved.data(), weight.data(), static_cast<std::int64_t>(curved.size()),
                  intercept_, quadratic, n_threads_);
    return true;
}

}  // namespace rectiline
