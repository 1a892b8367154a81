#include "interp/core/code/index_code.h"

#include <algorithm>
#include <array>

namespace hostir::interp {

namespace {
using Kind = IndexExpr::Kind;
}  // namespace

bool IndexCode::reads_only(const std::vector<bool>& known) const {
  return std::all_of(ops_.begin(), ops_.end(), [&](const Op& op) {
    return op.kind != Kind::kName || (op.arg < known.size() && known[op.arg]);
  });
}

bool IndexCode::is_static() const {
  return std::none_of(ops_.begin(), ops_.end(), [](const Op& o) { return o.kind == Kind::kName; });
}

bool IndexCode::evaluate_slow(const Register* registers,
                              const std::vector<std::vector<int64_t>>& tables, Rank rank,
                              int64_t& out) const {
  std::array<int64_t, kMaxDepth> stack{};
  size_t top = 0;
  for (const Op& op : ops_) {
    if (op.kind == Kind::kConst) {
      stack[top++] = op.value;
    } else if (op.kind == Kind::kName) {
      stack[top++] = registers[op.arg].value;
    } else if (op.kind == Kind::kRank) {
      stack[top++] = rank;
    } else if (op.kind == Kind::kCoord) {
      stack[top++] = tables[op.arg][static_cast<size_t>(rank)];
    } else {
      --top;
      if (!apply_index_op(op.kind, stack[top - 1], stack[top], stack[top - 1])) return false;
    }
  }
  out = stack[0];
  return top == 1;
}

}  // namespace hostir::interp
