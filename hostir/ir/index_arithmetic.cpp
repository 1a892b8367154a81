#include "hostir/ir/index_arithmetic.h"

#include <algorithm>

namespace hostir {
namespace {

bool divide(IndexExpr::Kind kind, int64_t a, int64_t b, int64_t& out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  int64_t q = a / b;
  if (a % b != 0 && ((a < 0) != (b < 0))) --q;
  out = kind == IndexExpr::Kind::kDiv ? q : a - q * b;
  return true;
}

}  // namespace

bool apply_index_op(IndexExpr::Kind kind, int64_t a, int64_t b, int64_t& out) {
  using Kind = IndexExpr::Kind;
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

}  // namespace hostir
