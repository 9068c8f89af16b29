#include "rectiline/rows/scales.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace rectiline::rows {
namespace {

double upper_median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace

double offset_spread(const RowFunctions& rows, bool about_median) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(rows.n));
    for (std::int64_t i = 0; i < rows.n; ++i)
        if (rows.weight[i] > 0) values.push_back(rows.offset[i]);
    if (values.empty()) return 0.0;
    const double center = about_median ? upper_median(values) : 0.0;
    double total = 0;
    for (double& value : values)
        value = std::abs(value - center), total += value;
    const double spread = upper_median(values);
    return spread != 0 ? spread : total / static_cast<double>(values.size());
}

void slope_boxes(const RowFunctions& rows, std::span<const double> least,
                 std::span<const double> most, std::span<double> low, std::span<double> high) {
    assert(std::ssize(low) == rows.n && std::ssize(high) == rows.n);
    for (std::int64_t i = 0; i < rows.n; ++i) {
        const std::size_t c = rows.curve_index ? rows.curve_index[i] : 0;
        const double w = rows.weight[i];
        const double a = w > 0 ? w * least[c] : 0.0, b = w > 0 ? w * most[c] : 0.0;
        low[i] = rows.direction[i] > 0 ? a : -b;
        high[i] = rows.direction[i] > 0 ? b : -a;
    }
}

}  // namespace rectiline::rows
