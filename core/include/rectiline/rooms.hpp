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

namespace support {  // loops over vectors, threads, small dense matrices; every room uses its names
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
}
using namespace support;

namespace design {}     // namespace design
namespace rows {}       // namespace rows
namespace columns {}    // namespace columns
namespace sparse {}     // namespace sparse
namespace simplex {}    // namespace simplex
namespace inference {}  // namespace inference

namespace proof {  // products and sums with a bound on their rounding, for certificates
using namespace columns;
using namespace design;
using namespace rows;
}  // namespace proof

namespace interior {  // the interior point method, in doubles and twofold numbers
using namespace proof;
using namespace sparse;
}  // namespace interior

namespace prox {  // proximal steps of penalties that are not sums over columns
using namespace design;
}

namespace newton {  // the semismooth Newton method of multipliers, also at many strengths in a row
using namespace columns;
using namespace design;
using namespace rows;
}  // namespace newton

namespace rehline {  // dual coordinate ascent
using namespace columns;
using namespace design;
using namespace rows;
}  // namespace rehline

namespace passes {  // one pass over a block of rows that are frozen on their pieces
using namespace design;
using namespace rows;
}  // namespace passes

}  // namespace rectiline
