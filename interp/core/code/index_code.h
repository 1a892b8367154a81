// Integer expressions compiled for a rank: postfix code over registers, no names, no allocation.
//
// Sizes and axis sizes are already constants; `coord(a)` and sub-mesh membership are per-rank
// tables of the Code. `evaluate` returns false on overflow and division by zero.
#pragma once

#include <cstdint>
#include <vector>

#include "hostir/ir/index_arithmetic.h"
#include "interp/core/ids.h"
#include "interp/core/register.h"

namespace hostir::interp {

class IndexCode {
 public:
  static constexpr size_t kMaxDepth = 24;
  struct Op {
    IndexExpr::Kind kind = IndexExpr::Kind::kConst;  // kName: register, kCoord: table, kRank
    uint32_t arg = 0;
    int64_t value = 0;
  };

  IndexCode() = default;
  explicit IndexCode(int64_t constant) { ops_.push_back({IndexExpr::Kind::kConst, 0, constant}); }
  explicit IndexCode(std::vector<Op> ops) : ops_(std::move(ops)) {}

  bool is_constant() const { return ops_.size() == 1 && ops_[0].kind == IndexExpr::Kind::kConst; }
  /// True if the value depends only on the rank.
  bool is_static() const;
  /// True if every register it reads is marked in `known`.
  bool reads_only(const std::vector<bool>& known) const;

  bool evaluate(const Register* registers, const std::vector<std::vector<int64_t>>& tables,
                Rank rank, int64_t& out) const {
    if (is_constant()) {
      out = ops_[0].value;
      return true;
    }
    return evaluate_slow(registers, tables, rank, out);
  }

 private:
  bool evaluate_slow(const Register* registers, const std::vector<std::vector<int64_t>>& tables,
                     Rank rank, int64_t& out) const;
  std::vector<Op> ops_;
};
using IndexCodeId = uint32_t;

}  // namespace hostir::interp
