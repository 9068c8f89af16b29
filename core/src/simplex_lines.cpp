#include "rectiline/simplex_lines.hpp"

#include "rectiline/multiversion.hpp"

namespace rectiline {

RECTILINE_MULTIVERSION void subtract8(const double* const* lines, const double* scale,
                                      std::int64_t size, double* out) {
    const double *a = lines[0], *b = lines[1], *c = lines[2], *d = lines[3];
    const double *e = lines[4], *f = lines[5], *g = lines[6], *h = lines[7];
    const double s0 = scale[0], s1 = scale[1], s2 = scale[2], s3 = scale[3];
    const double s4 = scale[4], s5 = scale[5], s6 = scale[6], s7 = scale[7];
#pragma omp simd
    for (std::int64_t k = 0; k < size; ++k)
        out[k] -= ((s0 * a[k] + s1 * b[k]) + (s2 * c[k] + s3 * d[k])) +
                  ((s4 * e[k] + s5 * f[k]) + (s6 * g[k] + s7 * h[k]));
}

RECTILINE_MULTIVERSION void subtract1(const double* a, double scale, std::int64_t size,
                                      double* out) {
#pragma omp simd
    for (std::int64_t k = 0; k < size; ++k)
        out[k] -= scale * a[k];
}

RECTILINE_MULTIVERSION void add3(const double* a, const double* b, const double* c, const double* d,
                                 const double* x, const double* y, const double* z,
                                 std::int64_t size, double* p, double* q, double* r) {
    const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
    const double y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3];
    const double z0 = z[0], z1 = z[1], z2 = z[2], z3 = z[3];
#pragma omp simd
    for (std::int64_t k = 0; k < size; ++k) {
        const double a0 = a[k], b0 = b[k], c0 = c[k], d0 = d[k];
        p[k] += (x0 * a0 + x1 * b0) + (x2 * c0 + x3 * d0);
        q[k] += (y0 * a0 + y1 * b0) + (y2 * c0 + y3 * d0);
        r[k] += (z0 * a0 + z1 * b0) + (z2 * c0 + z3 * d0);
    }
}

RECTILINE_MULTIVERSION void dots3(const double* line, const double* x, const double* y,
                                  const double* z, std::int64_t size, double* out) {
    double p = 0, q = 0, r = 0;
#pragma omp simd reduction(+ : p, q, r)
    for (std::int64_t k = 0; k < size; ++k) {
        p += line[k] * x[k];
        q += line[k] * y[k];
        r += line[k] * z[k];
    }
    out[0] = p;
    out[1] = q;
    out[2] = r;
}

RECTILINE_MULTIVERSION double dot(const double* a, const double* b, std::int64_t size) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < size; ++k)
        sum += a[k] * b[k];
    return sum;
}

RECTILINE_MULTIVERSION double update_line(double* line, const double* pivot, double factor,
                                          std::int64_t size) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < size; ++k) {
        line[k] -= factor * pivot[k];
        sum += line[k] * line[k];
    }
    return sum;
}

}  // namespace rectiline
