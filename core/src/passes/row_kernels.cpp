#include "rectiline/passes/row_kernels.hpp"

namespace rectiline::passes {

void judge_each(const rows::RowFunctions& rows, std::int64_t first, double unit, Chunk& c,
                ChunkSums& out) {
    out = {};
    for (std::int64_t r = 0; r < c.count; ++r) {
        const std::int64_t i = first + r;
        const rows::Curve& f = rows.curve(i);
        const double weight = rows.weight[i], w = c.listed[r] > 0 ? 0.0 : weight;
        const double t = rows.argument(i, c.z[r]);
        const std::int64_t k = f.piece(rows.argument(i, c.z_split[r]));
        const bool from_right = k < f.n_knots && (k == 0 || f.left[k] <= 0);
        const std::int64_t j = from_right ? k : k - 1;
        const double q = f.curvature[k];
        const double frozen = (from_right ? f.left[j] : f.right[j]) + q * (t - f.knot[j]);
        const double s = std::clamp(frozen, f.lowest_slope(), f.highest_slope());
        const double own = f.slope(t);
        const double err = unit * (c.size[r] + std::fabs(rows.offset[i]));
        const double worst =
            std::max(rows::fenchel_young(f, s, t - err), rows::fenchel_young(f, s, t + err));
        c.crossed[r] = s != own ? 1.0 : 0.0;
        c.g[r] = rows.direction[i] * w * s;
        c.curved[r] = w * q;
        if (!(w > 0)) continue;
        out.loss += w * f(t);
        out.gap += w * worst;
        out.error += w * err;
        out.weight += w;
        out.steepest = std::max({out.steepest, std::fabs(s), std::fabs(own)});
        out.crossed += c.crossed[r];
        out.total += c.g[r], out.size += std::fabs(c.g[r]);
    }
}

void look_each(const rows::RowFunctions& rows, std::int64_t first, Chunk& c) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (std::int64_t r = 0; r < c.count; ++r) {
        const std::int64_t i = first + r;
        const rows::Curve& f = rows.curve(i);
        const double t = rows.argument(i, c.z[r]);
        double slack = infinity;
        for (std::int64_t k = 0; k < f.n_knots; ++k)
            if (f.left[k] != f.right[k] || f.curvature[k] != f.curvature[k + 1])
                slack = std::min(slack, std::fabs(t - f.knot[k]));
        c.slack[r] = rows.weight[i] > 0 ? slack : infinity;
        c.g_next[r] = rows.direction[i] * rows.weight[i] * f.slope(t) + 0.0 * t;
        c.curved_next[r] = rows.weight[i] * f.curvature[f.piece(t)];
    }
}

}  // namespace rectiline::passes
