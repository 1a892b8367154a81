// The effect of a collective on its members' buffers, in plain loops over numbers.
//
// Every rank has two buffers, `x` and `y`, with `rows` rows of `kColumns` elements. The model
// shares no code with any backend, because it is the reference for all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostir/ir/dtype.h"

namespace hostir::conformance {

inline constexpr int64_t kColumns = 2;
using Numbers = std::vector<double>;

struct RankBuffers {
  Numbers x;
  Numbers y;
};

/// Rows [lo, hi) out of `rows` held by position `at` of `members`; blocks of ceil(rows / members).
struct Rows {
  int64_t lo = 0;
  int64_t hi = 0;
};
Rows block_of(int64_t rows, int64_t members, int64_t at);

/// One collective in one group, with the buffers it reads and writes.
struct CollectiveModel {
  std::string op;
  Reduction reduction = Reduction::kSum;
  int32_t root = 0;
  bool in_place = false;                   // one of input and output is the other, or a part of it
  std::vector<std::pair<int, int>> pairs;  // permute
  std::vector<std::vector<int64_t>> sent_rows;  // all_to_all with counts: [from][to]
};

/// Applies it to the buffers of the members, in group order.
void apply(const CollectiveModel& model, int64_t rows, std::vector<RankBuffers*> members);

}  // namespace hostir::conformance
