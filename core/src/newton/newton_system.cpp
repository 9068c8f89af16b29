#include "rectiline/newton/newton_system.hpp"

#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/vectors.hpp"

namespace rectiline::newton {
namespace {

constexpr std::int64_t kSmallOrder = 64;      // the matrix is always cheap
constexpr std::int64_t kLargestOrder = 3000;  // the matrix is affordable
constexpr double kLargestRows = 5e7;          // entries of a dense copy of J
constexpr double kTinyDiagonal = 1e-7;        // against the curvature of its column
constexpr double kAccepted = 1e-6;            // relative residual of an accepted solution
constexpr double kRefined = 1e-11;            // relative residual that needs no refinement
constexpr int kMostRefinements = 4;
constexpr std::int64_t kMostIterations = 400;  // of conjugate gradients
constexpr double kResidual = 1e-4;             // relative, where they stop
constexpr double kLooseResidual = 0.3;         // the same where a better step is worth no more
constexpr double kColumnShare = 0.3, kInterceptShare = 0.01;  // of curvatures in preconditioners
constexpr double kPerEntryOfProduct = 11;  // multiply-adds of a library in the time of an entry
// Below this order the matrix of sparse rows is cheaper: census_kdd, 503 columns, takes 0.25 s with
// the matrix and 0.74 s with products; mnist, 784 columns, a quarter of the time with products.
constexpr std::int64_t kLeastOrderForProducts = 600;
constexpr double kMostFilled = 0.5;     // share of a row
constexpr std::int64_t kPerEntry = 40;  // multiply-adds in the time of copying an entry

double largest(std::span<const double> v) {
    double most = 0;
    for (const double entry : v)
        most = std::max(most, std::fabs(entry));
    return most;
}

}  // namespace

NewtonSystem::Way NewtonSystem::choose(const Parts& parts) {
    const std::int64_t order = parts.terms.order();
    if (!parts.frozen.quadratic.empty() || order <= kSmallOrder) return Way::matrix;
    const double n_rows =
        static_cast<double>(parts.rows.n_free()) + static_cast<double>(parts.active.size());
    const double p = static_cast<double>(order);
    const double entries = static_cast<double>(parts.rows.free_entries());
    const double mean = entries / std::max(1.0, static_cast<double>(parts.rows.n_free()));
    const double matrix = 0.5 * entries * mean + p * p * p / 6.0;
    const double rows = 0.5 * n_rows * n_rows * p + n_rows * n_rows * n_rows / 6.0;
    // A dense copy of sparse rows would undo their advantage: products with them cost little.
    const bool rows_fit = n_rows * p <= kLargestRows && mean > 0.1 * p;
    if (rows_fit && rows < 0.5 * matrix) return Way::rows;
    if (order <= kLargestOrder) return Way::matrix;
    return rows_fit && n_rows < p ? Way::rows : Way::cg;
}

bool NewtonSystem::solve(const Parts& parts, std::span<const double> v, std::span<double> x,
                         Interrupt& interrupt, Way way) {
    if (way == Way::automatic) {
        way = choose(parts);
        is_loose_ = way == Way::matrix && try_products(parts, v, x, interrupt);
        if (is_loose_) return true;
        if (interrupt.stopped()) return false;
    }
    if (way == Way::rows) {
        if (by_rows(parts, v, x, interrupt)) return true;
        if (interrupt.stopped()) return false;
        way = parts.terms.order() <= kLargestOrder ? Way::matrix : Way::cg;
    }
    if (way == Way::matrix) return by_matrix(parts, v, x, interrupt);
    by_conjugate_gradients(parts, v, x, kMostIterations, kResidual, interrupt);
    return all_finite(x) && largest(x) > 0;
}

// Whether so few products solve the system that they cost less than its matrix. A loose solution is
// as good a direction where nothing is stiff. Once they have failed they are not tried again.
bool NewtonSystem::try_products(const Parts& parts, std::span<const double> v, std::span<double> x,
                                Interrupt& interrupt) {
    const std::int64_t p = parts.terms.order();
    if (!tries_products_ || !parts.is_smooth || p < kLeastOrderForProducts) return false;
    if (!parts.frozen.quadratic.empty() || !parts.active.empty()) return false;
    const auto entries = static_cast<double>(parts.rows.free_entries());
    const double mean = entries / std::max(1.0, static_cast<double>(parts.rows.n_free()));
    const double order = static_cast<double>(p);
    if (mean >= kMostFilled * order) return false;  // a library is quick with dense rows
    // In the time of one entry of a product, as squares of sparse rows are added entry by entry.
    const double matrix = 0.5 * entries * mean + order * order * order / 6 / kPerEntryOfProduct;
    const auto most = static_cast<std::int64_t>(matrix / (2 * entries + order));
    const std::int64_t taken = by_conjugate_gradients(parts, v, x, std::min(most, kMostIterations),
                                                      kLooseResidual, interrupt);
    tries_products_ = taken < most || interrupt.stopped();
    return tries_products_ && all_finite(x) && largest(x) > 0;
}

bool NewtonSystem::by_matrix(const Parts& parts, std::span<const double> v, std::span<double> x,
                             Interrupt& interrupt) {
    const NewtonTerms& terms = parts.terms;
    const std::int64_t p = terms.order();
    const std::size_t size = static_cast<std::size_t>(p * p);
    H_.resize(size), factor_.resize(size), base_.resize(p);
    if (!parts.rows.gram(H_, interrupt)) return false;
    terms.contract_matrix(H_);
    if (!parts.frozen.quadratic.empty())
        for (std::size_t e = 0; e < size; ++e)
            H_[e] += parts.frozen.quadratic[e];
    for (const std::int64_t r : parts.active) {
        const double* row = terms.row(r);
        for (std::int64_t i = 0; i < p; ++i)
            if (row[i] != 0) axpy(parts.constraint_weight * row[i], row, H_.data() + i * p, p);
    }
    double level = 0;
    for (std::int64_t j = 0; j < p; ++j) {
        base_[j] = H_[j * p + j] + parts.diagonal[j];
        level = std::max(level, base_[j]);
    }
    for (int attempt = 0; attempt < 8 && !interrupt.poll_ahead(p * p * p / 6); ++attempt) {
        factor_ = H_;
        for (std::int64_t j = 0; j < p; ++j)
            factor_[j * p + j] = base_[j] + bump_ * level;
        if (cholesky(factor_.data(), p)) {
            std::copy(v.begin(), v.end(), x.begin());
            cholesky_solve(factor_.data(), p, x.data(), 1);
            if (all_finite(x)) return true;
        }
        bump_ = std::max(100 * bump_, 1e-15);
    }
    return false;
}

// P: J and the active constraints in scaled variables, times the roots of their weights.
bool NewtonSystem::set_rows(const Parts& parts, Interrupt& interrupt) {
    const NewtonTerms& terms = parts.terms;
    const std::int64_t p = terms.order(), n_free = parts.rows.n_free();
    const std::int64_t n = n_free + std::ssize(parts.active);
    if (interrupt.poll_ahead(kPerEntry * n * p)) return false;
    P_.resize(n * p);
    parts.rows.free_rows(std::span<double>(P_).first(n_free * p));
    for (std::int64_t k = 0; k < n_free && !interrupt.poll(kPerEntry * p); ++k) {
        const std::span<double> row(P_.data() + k * p, p);
        terms.contract(row, row);
        const double root = std::sqrt(parts.rows.free_weight()[k]);
        for (double& entry : row)
            entry *= root;
    }
    const double root = std::sqrt(parts.constraint_weight);
    double* row = P_.data() + n_free * p;
    for (const std::int64_t r : parts.active)
        for (std::int64_t j = 0; j < p; ++j)
            *row++ = root * terms.row(r)[j];
    image_.resize(n);
    return !interrupt.stopped();
}

bool NewtonSystem::by_rows(const Parts& parts, std::span<const double> v, std::span<double> x,
                           Interrupt& interrupt) {
    const std::int64_t p = parts.terms.order();
    if (!set_rows(parts, interrupt)) return false;
    const std::int64_t n = std::ssize(image_);
    const std::span<const double> D = parts.diagonal;
    std::vector<double>& squares = preconditioner_;
    squares.assign(p, 0.0);
    for (std::int64_t k = 0; k < n && !interrupt.poll(kPerEntry * p); ++k)
        for (std::int64_t j = 0; j < p; ++j)
            squares[j] += P_[k * p + j] * P_[k * p + j];
    explicit_.clear();
    base_.resize(p);
    for (std::int64_t j = 0; j < p; ++j) {
        if (!(D[j] > kTinyDiagonal * squares[j])) explicit_.push_back(j);
        base_[j] = D[j] > kTinyDiagonal * squares[j] ? 1.0 / std::sqrt(D[j]) : 0.0;
    }
    scaled_.resize(P_.size());
    for (std::int64_t k = 0; k < n && !interrupt.poll(kPerEntry * p); ++k)
        for (std::int64_t j = 0; j < p; ++j)
            scaled_[k * p + j] = P_[k * p + j] * base_[j];
    kernel_.resize(n * n);
    if (interrupt.stopped() || !square_of_rows(scaled_.data(), n, p, kernel_.data(), interrupt))
        return false;
    for (std::int64_t k = 0; k < n; ++k)
        kernel_[k * n + k] += 1.0;
    if (interrupt.poll_ahead(n * n * n / 6) || !cholesky(kernel_.data(), n)) return false;
    const std::int64_t e = std::ssize(explicit_);
    if (e > 0) {
        explicit_columns_.resize(n * e);
        for (std::int64_t c = 0; c < e; ++c)
            for (std::int64_t k = 0; k < n; ++k)
                explicit_columns_[c * n + k] = P_[k * p + explicit_[c]];
        scaled_ = explicit_columns_;
        cholesky_solve(kernel_.data(), n, scaled_.data(), e);  // K^-1 C
        schur_.resize(e * e);
        for (std::int64_t a = 0; a < e; ++a)
            for (std::int64_t b = a; b < e; ++b)
                schur_[a * e + b] =
                    dot(explicit_columns_.data() + a * n, scaled_.data() + b * n, n);
        for (std::int64_t a = 0; a < e; ++a)
            schur_[a * e + a] += D[explicit_[a]];
        if (!cholesky(schur_.data(), e)) return false;
    }
    residual_.assign(v.begin(), v.end());
    step_.resize(p);
    std::fill(x.begin(), x.end(), 0.0);
    const double size = largest(v);
    double left = 1.0;
    for (int round = 0; round <= kMostRefinements && left > kRefined; ++round) {
        if (interrupt.poll(4 * n * p)) return false;
        if (!solve_rows(D, residual_, step_)) return false;
        for (std::int64_t j = 0; j < p; ++j)
            x[j] += step_[j];
        for (std::int64_t k = 0; k < n; ++k)
            image_[k] = dot(P_.data() + k * p, x.data(), p);
        for (std::int64_t j = 0; j < p; ++j)
            residual_[j] = v[j] - D[j] * x[j];
        for (std::int64_t k = 0; k < n; ++k)
            axpy(-image_[k], P_.data() + k * p, residual_.data(), p);
        const double now = largest(residual_) / std::max(size, 1e-300);
        if (!(now < 0.5 * left)) return now <= kAccepted;
        left = now;
    }
    return left <= kAccepted;
}

// One solution with the factors at hand, for the right-hand side v.
bool NewtonSystem::solve_rows(std::span<const double> D, std::span<const double> v,
                              std::span<double> x) {
    const std::int64_t p = std::ssize(v);
    const std::int64_t n = std::ssize(image_);
    const std::int64_t e = std::ssize(explicit_);
    for (std::int64_t j = 0; j < p; ++j)
        x[j] = base_[j] > 0 ? v[j] / D[j] : 0.0;
    for (std::int64_t k = 0; k < n; ++k)
        image_[k] = dot(P_.data() + k * p, x.data(), p);
    cholesky_solve(kernel_.data(), n, image_.data(), 1);
    if (e > 0) {
        product_.resize(e);
        for (std::int64_t a = 0; a < e; ++a)
            product_[a] = v[explicit_[a]] - dot(explicit_columns_.data() + a * n, image_.data(), n);
        cholesky_solve(schur_.data(), e, product_.data(), 1);
        for (std::int64_t a = 0; a < e; ++a)
            axpy(product_[a], scaled_.data() + a * n, image_.data(), n);
    }
    // x = D^-1 (v - P'u)
    std::copy(v.begin(), v.end(), x.begin());
    for (std::int64_t k = 0; k < n; ++k)
        axpy(-image_[k], P_.data() + k * p, x.data(), p);
    for (std::int64_t j = 0; j < p; ++j)
        x[j] = base_[j] > 0 ? x[j] / D[j] : 0.0;
    for (std::int64_t a = 0; a < e; ++a)
        x[explicit_[a]] = product_[a];
    return all_finite(x);
}

void NewtonSystem::multiply(const Parts& parts, std::span<const double> x, std::span<double> out) {
    const NewtonTerms& terms = parts.terms;
    const std::int64_t p = terms.order();
    user_.resize(p);
    product_.assign(p, 0.0);
    terms.expand(x, user_);
    parts.rows.add_free_product(user_, product_);
    terms.contract(product_, out);
    for (std::int64_t j = 0; j < p; ++j)
        out[j] += parts.diagonal[j] * x[j];
    for (const std::int64_t r : parts.active) {
        const double* row = terms.row(r);
        axpy(parts.constraint_weight * dot(row, x.data(), p), row, out.data(), p);
    }
    if (!parts.frozen.quadratic.empty())
        for (std::int64_t i = 0; i < p; ++i)
            out[i] += dot(parts.frozen.quadratic.data() + i * p, x.data(), p);
}

std::int64_t NewtonSystem::by_conjugate_gradients(const Parts& parts, std::span<const double> v,
                                                  std::span<double> x, std::int64_t most,
                                                  double share, Interrupt& interrupt) {
    // The scaled columns have mean square one over all rows, so every column of J has about the
    // same curvature: the sum of the weights. A few eigenvalues that are too large cost a product
    // each, many that are too small cost more.
    preconditioner_.assign(parts.diagonal.begin(), parts.diagonal.end());
    for (std::int64_t j = 0; j < std::ssize(preconditioner_); ++j) {
        const double share = j < parts.terms.d ? kColumnShare : kInterceptShare;
        preconditioner_[j] = std::max(preconditioner_[j] + share * parts.rows.curvature(), 1e-300);
    }
    const std::int64_t work = 2 * parts.rows.free_entries() + std::ssize(v);
    return iterative_.solve(
        [&](std::span<const double> move, std::span<double> out) { multiply(parts, move, out); }, v,
        preconditioner_, share, most, [&] { return interrupt.poll(work); }, x);
}

}  // namespace rectiline::newton
