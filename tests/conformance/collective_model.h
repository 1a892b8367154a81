// What a collective does to the buffers of its members, in plain loops over numbers.
//
// Every rank has two buffers, `x` and `y`, of `rows` rows of `kColumns` elements. The model is not
// shared with any backend: it is what the backends are compared with.
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

/// Rows [lo, hi) of `rows` that position `at` of `members` holds: c = ceil(rows / members).
struct Rows {
  int64_t lo = 0;
  int64_t hi = 0;
};
Rows block_of(int64_t rows, int64_t members, int64_t at);

/// One collective of one group: which buffers it reads and writes.
struct CollectiveModel {
  std::string op;
  Reduction reduction = Reduction::kSum;
  int32_t root = 0;
  bool in_place = false;  // the output is the input, or a part of it, or the other way round
  std::vector<std::pair<int, int>> pairs;       // permute
  std::vector<std::vector<int64_t>> sent_rows;  // all_to_all with counts: [from][to]
};

/// Applies it to the buffers of the members, in group order.
void apply(const CollectiveModel& model, int64_t rows, std::vector<RankBuffers*> members);

}  // namespace hostir::conformance
