// Loops over contiguous stretches that the simplex method spends its time in.
#pragma once

#include <cstdint>

namespace rectiline {

constexpr std::int64_t kMostSubtracted = 8, kMostAdded = 4;  // lines at a time

// out -= sum_i scale_i * lines_i
void subtract_lines(const double* const* lines, const double* scale, std::int64_t count,
                    std::int64_t size, double* out);

// out_o += sum_i scale_o,i * lines_i, for up to three outputs
void add_lines(const double* const* lines, const double* const* scale, std::int64_t count,
               std::int64_t outputs, std::int64_t size, double* const* out);

// out_k = line'with_k for up to three vectors
void dots(const double* line, const double* const* with, std::int64_t count, std::int64_t size,
          double* out);

double dot(const double* a, const double* b, std::int64_t size);

// line -= factor * pivot; returns the squared length of the result.
double update_line(double* line, const double* pivot, double factor, std::int64_t size);

}  // namespace rectiline
