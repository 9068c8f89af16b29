// A curve with few knots in registers: what it is asked costs many rows no branches.
#pragma once

#include "rectiline/rows/curve.hpp"
#include "rectiline/rows/rows.hpp"
#include "rectiline/support/small_count.hpp"

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

// Calls kernel(packed curve) if it has up to 3 knots; returns whether it has.
template <class Kernel>
bool with_packed(const Curve& f, Kernel&& kernel) {
    const bool straight_ends = f.curvature[0] == 0 && f.curvature[f.n_knots] == 0;
    return with_count<3>(f.n_knots, [&]<int K>() {
        if (straight_ends)
            kernel(PackedCurve<K, true>(f));
        else
            kernel(PackedCurve<K, false>(f));
    });
}

// The curves of rows: of all rows the same one, in registers, or of each row its own. Loops over
// rows are written once for both.
template <class Packed>
struct SharedCurve {
    Packed curve;
    RECTILINE_INLINE const Packed& operator[](std::int64_t) const { return curve; }
};
struct OwnCurves {
    RowFunctions rows;
    RECTILINE_INLINE const Curve& operator[](std::int64_t i) const { return rows.curve(i); }
};

// Calls kernel(curves): a shared curve if there is one for all rows and it has few knots.
template <class Kernel>
void with_curves(const RowFunctions& rows, Kernel&& kernel) {
    const bool is_packed =
        !rows.curve_index && with_packed(rows.curves[0], [&]<class Packed>(const Packed& packed) {
            kernel(SharedCurve<Packed>{packed});
        });
    if (!is_packed) kernel(OwnCurves{rows});
}

}  // namespace rectiline::rows
