// Systems in single precision against those in double, and sums of rows that come and go against
// new ones. The routines are plain loops here.
#include "rectiline/path/busy_system.hpp"
#include "rectiline/support/dense_algebra.hpp"
#include "rectiline/support/random.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <cmath>
#include <vector>

using namespace rectiline::path;

namespace {

constexpr std::int64_t n = 240, p = 70, stride = 72;

void potrf(char*, int* order, float* A, int*, int* info) {
    const int m = *order;
    *info = 0;
    for (int j = 0; j < m; ++j) {
        for (int k = 0; k < j; ++k)
            for (int i = j; i < m; ++i)
                A[j * m + i] -= A[k * m + j] * A[k * m + i];
        if (!(A[j * m + j] > 0)) {
            *info = j + 1;
            return;
        }
        const float root = std::sqrt(A[j * m + j]);
        for (int i = j; i < m; ++i)
            A[j * m + i] /= root;
    }
}

void potrs(char*, int* order, int*, float* L, int*, float* x, int*, int* info) {
    const int m = *order;
    *info = 0;
    for (int j = 0; j < m; ++j) {
        x[j] /= L[j * m + j];
        for (int i = j + 1; i < m; ++i)
            x[i] -= L[j * m + i] * x[j];
    }
    for (int j = m - 1; j >= 0; --j) {
        for (int i = j + 1; i < m; ++i)
            x[j] -= L[j * m + i] * x[i];
        x[j] /= L[j * m + j];
    }
}

void syrk(char*, char*, int* order, int* depth, float* alpha, float* P, int*, float* beta, float* C,
          int*) {
    const int m = *order;
    for (int j = 0; j < m; ++j)
        for (int i = j; i < m; ++i) {
            float sum = 0;
            for (int k = 0; k < *depth; ++k)
                sum += P[k * m + i] * P[k * m + j];
            C[j * m + i] = *alpha * sum + (*beta == 0 ? 0.0f : *beta * C[j * m + i]);
        }
}

struct Data {
    std::vector<double> rows = std::vector<double>(n * stride, 0.0), width, stiffness, right;

    Data() {
        Random random(3);
        for (std::int64_t i = 0; i < n; ++i) {
            width.push_back(samples::uniform(random, 0.2, 2));
            for (std::int64_t j = 0; j < p; ++j)
                rows[i * stride + j] = samples::uniform(random, -1, 1);
        }
        for (std::int64_t j = 0; j < p; ++j) {
            stiffness.push_back(j % 3 == 0 ? 1e6 : samples::uniform(random, 0.5, 2));
            right.push_back(samples::uniform(random, -1, 1));
        }
        stiffness[3] = 0.7;
    }
};

double difference(const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0, size = 0;
    for (std::size_t j = 0; j < a.size(); ++j) {
        most = std::max(most, std::fabs(a[j] - b[j]));
        size = std::max(size, std::fabs(b[j]));
    }
    return most / size;
}

void check_single(const Data& data) {
    std::vector<std::int64_t> which;
    std::vector<double> weight, x(p), exact(p);
    for (std::int64_t i = 0; i < n; i += 2)
        which.push_back(i), weight.push_back(0.3 * data.width[i]);
    for (const bool all : {true, false}) {
        use_single_routines({});
        BusySystem plain, single;
        CHECK(plain.set(data.rows.data(), stride, p, which, weight.data(), data.stiffness.data(),
                        1e-6, 0.0, all));
        CHECK(!plain.is_single());
        plain.solve(data.right.data(), exact.data());
        use_single_routines({potrf, potrs, syrk});
        CHECK(single.set(data.rows.data(), stride, p, which, weight.data(), data.stiffness.data(),
                         1e-6, 0.0, all));
        CHECK(single.is_single() == all);  // few columns are busy otherwise
        single.solve(data.right.data(), x.data());
        CHECK(difference(x, exact) < (all ? 1e-4 : 1e-14));
    }
    std::vector<double> zero(p, 0.0);
    BusySystem single;
    CHECK(single.set(data.rows.data(), stride, p, which, weight.data(), data.stiffness.data(), 1e-6,
                     0.0, true));
    single.solve(zero.data(), x.data());
    CHECK(x == zero);
}

void check_again(const Data& data) {
    use_single_routines({potrf, potrs, syrk});
    std::vector<double> even(data.stiffness), x(p), exact(p);
    for (double& entry : even)
        entry = std::min(entry, 2.0);  // all columns busy
    BusySystem again, fresh;
    Random random(5);
    std::vector<char> inside(n, 0);
    for (int call = 0; call < 80; ++call) {
        const std::int64_t changes =
            call % 7 == 0 ? n / 2 : 1 + static_cast<std::int64_t>(random.below(12));
        for (std::int64_t k = 0; k < changes; ++k) {
            const auto i = static_cast<std::size_t>(random.below(n));
            inside[i] = !inside[i];
        }
        const double factor = samples::uniform(random, 0.1, 3);
        std::vector<std::int64_t> which;
        std::vector<double> weight;
        for (std::int64_t i = 0; i < n; ++i)
            if (inside[i]) which.push_back(i), weight.push_back(factor * data.width[i]);
        const double* stiffness = call % 5 == 3 ? data.stiffness.data() : even.data();
        CHECK(again.set_again(data.rows.data(), stride, p, which, data.width, factor, stiffness,
                              1e-4, 0.1));
        CHECK(fresh.set(data.rows.data(), stride, p, which, weight.data(), stiffness, 1e-4, 0.1,
                        false));
        again.solve(data.right.data(), x.data());
        fresh.solve(data.right.data(), exact.data());
        CHECK(difference(x, exact) < 1e-3);
    }
}

}  // namespace

int main() {
    const Data data;
    check_single(data);
    check_again(data);
    return check::report();
}
