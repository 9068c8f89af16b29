// The rooms of the core, one folder and one namespace each. A room uses the names of the rooms that
// are listed for it here without naming the room, and includes no headers of any other.
//
// At the border of a room vectors are std::span. Views of several arrays of one length
// (RowFunctions, ColumnFunctions, DenseView) hold the length once, and loops over rows take
// pointers.
//
// What nearly every file of the core is written with (integers of a given size, spans, vectors, the
// algorithms on them, elementary functions) is included here and nowhere else.
#pragma once

#include "rectiline/support/multiversion.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rectiline {

namespace support {
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
}

namespace design {  // views of X and products with it
using namespace support;
}

namespace rows {  // the cost of each row: curves, their slopes and conjugates, sums over rows
using namespace support;
}

namespace columns {  // the cost of each coefficient
using namespace support;
}

namespace proof {  // products and sums with a bound on their rounding, for certificates
using namespace columns;
using namespace design;
using namespace rows;
using namespace support;
}  // namespace proof

namespace sparse {  // factors of sparse symmetric matrices
using namespace support;
}

namespace interior {  // the interior point method, in doubles and twofold numbers
using namespace proof;
using namespace sparse;
using namespace support;
}  // namespace interior

namespace simplex {  // linear programs with boxed columns
using namespace support;
}

namespace inference {  // bases of quantile regressions, for intervals of their coefficients
using namespace support;
}

namespace prox {  // proximal steps of penalties that are not sums over columns
using namespace design;
using namespace support;
}  // namespace prox

namespace newton {  // the semismooth Newton method of multipliers, also at many strengths in a row
using namespace columns;
using namespace design;
using namespace rows;
using namespace support;
}  // namespace newton

namespace rehline {  // dual coordinate ascent
using namespace columns;
using namespace design;
using namespace rows;
using namespace support;
}  // namespace rehline

namespace passes {  // one pass over a block of rows that are frozen on their pieces
using namespace design;
using namespace rows;
using namespace support;
}  // namespace passes

}  // namespace rectiline
