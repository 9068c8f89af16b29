// Curves and matrices that several tests share.
#pragma once

#include "rectiline/design/design.hpp"
#include "rectiline/newton/newton_terms.hpp"
#include "rectiline/rows/curve.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/random.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace samples {

inline double uniform(rectiline::support::Random& random, double low, double high) {
    return low + (high - low) * static_cast<double>(random.next() >> 11) / 9007199254740992.0;
}

// A curve that owns its arrays.
struct OwnedCurve {
    std::string name;
    std::vector<double> knot, value, left, right, curvature;

    rectiline::rows::Curve view() const {
        return {static_cast<std::int64_t>(knot.size()),
                knot.data(),
                value.data(),
                left.data(),
                right.data(),
                curvature.data()};
    }
};

inline std::vector<OwnedCurve> curves() {
    return {
        {"hinge", {1}, {0}, {-1}, {0}, {0, 0}},
        {"absolute", {0}, {0}, {-1}, {1}, {0, 0}},
        {"pinball 0.9", {0}, {0}, {-0.1}, {0.9}, {0, 0}},
        {"epsilon", {-0.5, 0.5}, {0, 0}, {-1, 0}, {0, 1}, {0, 0, 0}},
        {"squared error", {0}, {0}, {0}, {0}, {1, 1}},
        {"squared hinge", {1}, {0}, {0}, {0}, {2, 0}},
        {"huber", {-0.7, 0.7}, {0.245, 0.245}, {-0.7, 0.7}, {-0.7, 0.7}, {0, 1, 0}},
        {"smoothed hinge", {0.5, 1}, {0.25, 0}, {-1, 0}, {-1, 0}, {0, 2, 0}},
        {"expectile", {0}, {0}, {0}, {0}, {0.2, 0.8}},
        // -2t | 1 - t | 1 | (t^2 + 1)/2 with kinks at -1, 0 and 1
        {"mixed", {-1, 0, 1}, {2, 1, 1}, {-2, -1, 0}, {-1, 0, 1}, {0, 0, 0, 1}},
        // a kink inside curved pieces: t^2/2 - 3t | t^2 + t, joined at 0
        {"curved kink", {0}, {0}, {-3}, {1}, {1, 2}},
        {"constant", {0}, {5}, {0}, {0}, {0, 0}},
    };
}

// A dense matrix in any layout, and the same matrix compressed.
struct Matrix {
    std::int64_t n, d;
    std::vector<double> entries;  // row by row

    Matrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed, double density = 0.6)
        : n(rows), d(columns), entries(static_cast<std::size_t>(rows * columns)) {
        rectiline::support::Random random(seed);
        for (double& x : entries)
            x = uniform(random, 0, 1) < density ? uniform(random, -2, 2) : 0.0;
    }
    double operator()(std::int64_t i, std::int64_t j) const { return entries[i * d + j]; }
};

template <class T>
struct Dense {
    std::vector<T> data;
    rectiline::design::DenseView<T> view;

    // Element (i, j) lies at i * row_stride + j * column_stride.
    Dense(const Matrix& X, std::int64_t row_stride, std::int64_t column_stride)
        : data(static_cast<std::size_t>((X.n - 1) * row_stride + (X.d - 1) * column_stride + 1),
               T(777)) {
        for (std::int64_t i = 0; i < X.n; ++i)
            for (std::int64_t j = 0; j < X.d; ++j)
                data[i * row_stride + j * column_stride] = static_cast<T>(X(i, j));
        view = {data.data(), X.n, X.d, row_stride, column_stride};
    }
};

template <class T, class I>
struct Compressed {
    std::vector<T> values;
    std::vector<I> indices, pointers;
    rectiline::design::SparseView<T, I> view;

    Compressed(const Matrix& X, bool by_rows) {
        pointers.push_back(0);
        for (std::int64_t line = 0; line < (by_rows ? X.n : X.d); ++line) {
            for (std::int64_t k = 0; k < (by_rows ? X.d : X.n); ++k) {
                const double x = by_rows ? X(line, k) : X(k, line);
                if (x == 0) continue;
                values.push_back(static_cast<T>(x));
                indices.push_back(static_cast<I>(k));
            }
            pointers.push_back(static_cast<I>(values.size()));
        }
        view = {values.data(), indices.data(), pointers.data(), X.n, X.d, by_rows};
    }
};

// Rows with random directions, offsets and weights (some of them zero) on one curve.
struct OwnedRows {
    rectiline::rows::Curve curve;
    std::vector<double> direction, offset, weight;

    OwnedRows(const rectiline::rows::Curve& f, std::int64_t n, std::uint64_t seed) : curve(f) {
        rectiline::support::Random random(seed);
        for (std::int64_t i = 0; i < n; ++i) {
            direction.push_back(random.below(2) == 0 ? -1.0 : 1.0);
            offset.push_back(uniform(random, -1, 1));
            weight.push_back(random.below(6) == 0 ? 0.0 : uniform(random, 0.1, 3));
        }
    }
    rectiline::rows::RowFunctions view() const {
        return {static_cast<std::int64_t>(direction.size()),
                &curve,
                nullptr,
                direction.data(),
                offset.data(),
                weight.data()};
    }
};

// Columns of the Newton method in the user's units, under a ridge and an l1 term; the intercept, if
// there is one, comes last and costs nothing.
struct OwnedTerms {
    std::vector<double> scale, rho, l1, lower, upper, stiffness;
    std::vector<std::int64_t> kinked;
    rectiline::newton::NewtonTerms view;

    OwnedTerms(std::int64_t d, bool intercept, double ridge, double pull)
        : scale(static_cast<std::size_t>(d + intercept), 1.0),
          rho(scale.size(), ridge),
          l1(scale.size(), pull),
          lower(scale.size(), -std::numeric_limits<double>::infinity()),
          upper(scale.size(), std::numeric_limits<double>::infinity()) {
        if (intercept) rho.back() = l1.back() = 0;
        for (std::int64_t j = 0; j < d && pull > 0; ++j)
            kinked.push_back(j), stiffness.push_back(20.0 * pull);
        view = {d, scale, {}, rho, l1, lower, upper, kinked, stiffness, {}, {}, {}, 0.0};
        view.proximal.assign(scale.size(), 0.0);
    }
};

}  // namespace samples
