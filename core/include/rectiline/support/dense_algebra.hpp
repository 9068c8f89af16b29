// Cholesky factors and symmetric products of small dense matrices. The fast routines are supplied
// by the caller (the bindings take those that SciPy ships); without them plain loops are used, so
// that the core builds and is tested on its own. Matrices are column-major or, being symmetric, may
// be read as such; only the lower triangle (of the column-major reading) is used and filled.
#pragma once

#include "rectiline/support/interrupt.hpp"

namespace rectiline::support {

// Fortran routines with 32-bit integers.
struct DenseRoutines {
    using Factor = void (*)(char*, int*, double*, int*, int*);
    using Solve = void (*)(char*, int*, int*, double*, int*, double*, int*, int*);
    using Square = void (*)(char*, char*, int*, int*, double*, double*, int*, double*, double*,
                            int*);
    Factor potrf = nullptr;
    Solve potrs = nullptr;
    Square syrk = nullptr;
};

// Call before any solver runs.
void use_dense_routines(const DenseRoutines& routines);

// Overwrites the lower triangle of A (n x n) with its factor; false when A is not positive
// definite.
bool cholesky(double* A, std::int64_t n);
// Overwrites the n_right columns of B (n x n_right) with the solutions.
void cholesky_solve(const double* L, std::int64_t n, double* B, std::int64_t n_right);
// Lower triangle of C (n x n) = P P', P given by rows of length k, `stride` apart; `adds`: C +=.
void square_of_rows(const double* P, std::int64_t n, std::int64_t k, std::int64_t stride, double* C,
                    bool adds = false);
// The same for rows next to one another, in slices of columns between which it can be interrupted;
// false if it was.
bool square_of_rows(const double* P, std::int64_t n, std::int64_t k, double* C,
                    Interrupt& interrupt);
// The row of the largest entry of a column of A (n x n, by rows), from row `first` on.
std::int64_t pivot_row(std::span<const double> A, std::int64_t n, std::int64_t first,
                       std::int64_t column);
// Inverts A (n x n, by rows) in place with row exchanges; false if no pivot exceeds `least`, or
// when it is interrupted. A is spoilt then.
bool invert(std::span<double> A, std::int64_t n, double least, Interrupt& interrupt);
// line -= factor * pivot; returns the squared length of the result.
double update_line(double* line, const double* pivot, double factor, std::int64_t size);

}  // namespace rectiline::support
