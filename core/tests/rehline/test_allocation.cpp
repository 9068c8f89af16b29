// No allocation in the hot loop: many sweeps allocate no more than few.
#include "rectiline/rehline/rehline.hpp"

#include "check.hpp"
#include "samples.hpp"
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <vector>

namespace {
std::atomic<long> allocations{0};
}  // namespace

void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size ? size : 1)) return memory;
    throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
    return operator new(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

using namespace rectiline::rehline;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

long allocations_of(Rehline& loop, std::int64_t sweeps) {
    Interrupt never;
    const long before = allocations;
    const RehlineProgress done = loop.run(sweeps, -1.0, -1.0, never);  // a target out of reach
    CHECK(done.sweeps == sweeps);
    return allocations - before;
}

void check_layout(const DesignView& X, const DesignView& A, bool intercept, double l1) {
    const std::int64_t n = n_rows(X), d = n_columns(X), m = n_rows(A);
    const auto all = samples::curves();
    const samples::OwnedRows rows(all[1].view(), n, 6);
    const std::vector<double> rho(d, 10), sparse(d, l1), lower(d, -kInfinity), upper(d, kInfinity);
    const ColumnFunctions columns{d,      rho.data(), sparse.data(), lower.data(), upper.data(),
                                  l1 == 0};
    const std::vector<double> c(m, -0.1);
    const std::vector<std::uint8_t> equality(m, 0);
    RehlineOptions options;
    options.intercept_step = intercept ? 0.1 : 0.0;
    const LinearConstraints constraints{A, c, equality};
    Rehline loop(X, rows.view(), columns, constraints, options);
    allocations_of(loop, 5);
    const long few = allocations_of(loop, 10), many = allocations_of(loop, 1000);
    CHECK(many <= few);
    if (many > few) std::printf("  %ld allocations in 10 sweeps, %ld in 1000\n", few, many);
}

}  // namespace

int main() {
    const samples::Matrix X(600, 6, 3), A(2, 6, 4, 1.0);
    const samples::Dense<double> by_rows(X, X.d, 1), by_columns(X, 1, X.n);
    const samples::Dense<float> single(X, X.d, 1);
    const samples::Compressed<double, std::int32_t> compressed(X, true);
    const samples::Dense<double> rows(A, A.d, 1);
    const samples::Compressed<double, std::int64_t> sparse_rows(A, true);
    const DenseView<double> none{nullptr, 0, 6, 6, 1};
    for (const DesignView& view : {DesignView(by_rows.view), DesignView(by_columns.view),
                                   DesignView(single.view), DesignView(compressed.view)})
        for (const DesignView& constraints :
             {DesignView(none), DesignView(rows.view), DesignView(sparse_rows.view)})
            for (const bool intercept : {false, true})
                for (const double l1 : {0.0, 0.5})
                    check_layout(view, constraints, intercept, l1);
    return check::report();
}
