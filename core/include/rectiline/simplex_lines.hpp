// Loops over contiguous stretches that the simplex method spends its time in.
#pragma once

#include <cstdint>

namespace rectiline {

// out -= sum_k scale_k * lines_k for eight lines
void subtract8(const double* const* lines, const double* scale, std::int64_t size, double* out);

// out -= scale * a
void subtract1(const double* a, double scale, std::int64_t size, double* out);

// p += x0 a + x1 b + x2 c + x3 d, and the same with y for q and z for r
void add3(const double* a, const double* b, const double* c, const double* d, const double* x,
          const double* y, const double* z, std::int64_t size, double* p, double* q, double* r);

// out = (line'x, line'y, line'z)
void dots3(const double* line, const double* x, const double* y, const double* z, std::int64_t size,
           double* out);

double dot(const double* a, const double* b, std::int64_t size);

// line -= factor * pivot; returns the squared length of the result.
double update_line(double* line, const double* pivot, double factor, std::int64_t size);

}  // namespace rectiline
