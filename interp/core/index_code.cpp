#include "interp/core/index_code.h"

#include <algorithm>
#include <array>

namespace hostir::interp {

namespace {
using Kind = IndexExpr::Kind;

bool divide(Kind kind, int64_t a, int64_t b, int64_t& out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  int64_t q = a / b;
  if (a % b != 0 && ((a < 0) != (b < 0))) --q;
  out = kind == Kind::kDiv ? q : a - q * b;
  return true;
}
}  // namespace

bool apply_index_op(Kind kind, int64_t a, int64_t b, int64_t& out) {
  switch (kind) {
    case Kind::kAdd:
      return !__builtin_add_overflow(a, b, &out);
    case Kind::kSub:
      return !__builtin_sub_overflow(a, b, &out);
    case Kind::kMul:
      return !__builtin_mul_overflow(a, b, &out);
    case Kind::kDiv:
    case Kind::kMod:
      return divide(kind, a, b, out);
    case Kind::kMin:
      out = std::min(a, b);
      return true;
    case Kind::kMax:
      out = std::max(a, b);
      return true;
    case Kind::kEq:
      out = a == b;
      return true;
    case Kind::kNe:
      out = a != b;
      return true;
    case Kind::kLt:
      out = a < b;
      return true;
    case Kind::kLe:
      out = a <= b;
      return true;
    case Kind::kGt:
      out = a > b;
      return true;
    case Kind::kGe:
      out = a >= b;
      return true;
    case Kind::kAnd:
      out = a != 0 && b != 0;
      return true;
    case Kind::kOr:
      out = a != 0 || b != 0;
      return true;
    case Kind::kConst:
    case Kind::kSize:
    case Kind::kName:
    case Kind::kRank:
    case Kind::kCoord:
    case Kind::kAxisSize:
      return false;
  }
  return false;
}

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
