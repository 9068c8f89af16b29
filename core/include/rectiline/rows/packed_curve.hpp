// A curve with few knots in registers: what it is asked costs many rows no branches.
#pragma once

#include "rectiline/rows/curve.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/vectors.hpp"

namespace rectiline::rows {

template <int K, bool StraightEnds>
struct PackedCurve : CurveOfPieces<PackedCurve<K, StraightEnds>> {
    static constexpr bool kStraightEnds = StraightEnds;

    double lowest, highest, touched;
    Piece pieces[K + 1];

    explicit PackedCurve(const Curve& f)
        : lowest(f.lowest), highest(f.highest), touched(f.touched) {
        std::copy_n(f.pieces.begin(), K + 1, pieces);
    }
    RECTILINE_INLINE static constexpr int last_piece() { return K; }
};

// Calls kernel(curves): a shared curve if there is one for all rows and it has up to 3 knots.
template <class Kernel>
void with_curves(const RowFunctions& rows, Kernel&& kernel) {
    const Curve& f = rows.curves[0];
    const bool straight_ends = f.curvature[0] == 0 && f.curvature[f.n_knots] == 0;
    const bool is_packed = !rows.curve_index && with_count<3>(f.n_knots, [&]<int K>() {
        if (straight_ends)
            kernel(Shared{PackedCurve<K, true>(f)});
        else
            kernel(Shared{PackedCurve<K, false>(f)});
    });
    if (!is_packed) kernel(Own<Curve>{rows.curves, rows.curve_index});
}

}  // namespace rectiline::rows
