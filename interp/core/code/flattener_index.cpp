#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/lists.h"
#include "interp/core/code/flattener.h"

namespace hostir::interp {

Expected<uint32_t> Flattener::coordinate_table(const Scope& scope, const std::string& axis) {
  const auto index = scope.mesh->axis_index(axis);
  if (!index) {
    return fail(ErrorKind::kInvalid, "code_mesh",
                fmt::format("unknown axis \"{}\" in mesh @{}", axis, scope.mesh->name));
  }
  const std::string key = "coord " + scope.mesh->name + " " + axis;
  const auto [at, added] = table_index_.try_emplace(key, code_.rank_tables.size());
  if (added) {
    std::vector<int64_t>& table = code_.rank_tables.emplace_back();
    for (Rank r = 0; r < code_.rank_count; ++r) {
      const auto position = scope.mesh->position_of(r);
      table.push_back(position ? scope.mesh->coord(*position, *index) : -1);
    }
  }
  return at->second;
}

Expected<uint32_t> Flattener::membership_table(const std::string& name) {
  const Mesh* mesh = program_.find_mesh(name);
  if (mesh == nullptr) {
    return fail(ErrorKind::kInvalid, "code_mesh", fmt::format("unknown mesh @{}", name));
  }
  const auto [at, added] = table_index_.try_emplace("in " + name, code_.rank_tables.size());
  if (added) {
    std::vector<int64_t>& table = code_.rank_tables.emplace_back();
    for (Rank r = 0; r < code_.rank_count; ++r) table.push_back(mesh->position_of(r) ? 1 : 0);
  }
  return at->second;
}

uint32_t Flattener::integer_register(const Scope& scope, std::string_view name) {
  for (auto it = scope.visible.rbegin(); it != scope.visible.rend(); ++it) {
    if (it->first == name) return scope.registers[it->second.index];
  }
  return kNoRegister;
}

Expected<size_t> Flattener::compile_ops(const Scope& scope, const IndexExpr& expr,
                                        std::vector<IndexCode::Op>& out) {
  using Kind = IndexExpr::Kind;
  const auto constant = [&](int64_t value) -> size_t {
    out.push_back({Kind::kConst, 0, value});
    return 1;
  };
  if (expr.kind() == Kind::kConst) return constant(expr.value());
  if (expr.kind() == Kind::kSize) {
    const auto value = code_.sizes.find(expr.symbol());
    if (!value) {
      return fail(ErrorKind::kInvalid, "code_size",
                  fmt::format("size ?{} has no value; --size {}=N gives it one", expr.symbol(),
                              expr.symbol()));
    }
    return constant(*value);
  }
  if (expr.kind() == Kind::kAxisSize) {
    const auto index = scope.mesh->axis_index(expr.symbol());
    if (!index) {
      return fail(ErrorKind::kInvalid, "code_mesh",
                  fmt::format("unknown axis \"{}\" in mesh @{}", expr.symbol(), scope.mesh->name));
    }
    return constant(scope.mesh->axes[*index].size);
  }
  if (expr.kind() == Kind::kRank) {
    out.push_back({Kind::kRank, 0, 0});
    return size_t{1};
  }
  if (expr.kind() == Kind::kCoord) {
    HOSTIR_ASSIGN_OR_RETURN(const uint32_t table, coordinate_table(scope, expr.symbol()));
    out.push_back({Kind::kCoord, table, 0});
    return size_t{1};
  }
  if (expr.kind() == Kind::kName) {
    const uint32_t reg = integer_register(scope, expr.symbol());
    if (reg != kNoRegister) {
      out.push_back({Kind::kName, reg, 0});
      return size_t{1};
    }
    return fail(ErrorKind::kInvalid, "code_name",
                fmt::format("%{} is not an integer that is known here", expr.symbol()));
  }
  HOSTIR_ASSIGN_OR_RETURN(const size_t left, compile_ops(scope, expr.args()[0], out));
  HOSTIR_ASSIGN_OR_RETURN(const size_t right, compile_ops(scope, expr.args()[1], out));
  out.push_back({expr.kind(), 0, 0});
  return std::max(left, right + 1);
}

std::vector<IndexExpr> values_named_in(const IndexExpr& expr) {
  std::vector<IndexExpr> named;
  expr.for_each_leaf([&](const IndexExpr& leaf) { add_once(named, leaf); });
  return named;
}

Expected<IndexCodeId> Flattener::compile_expr(const Scope& scope, const IndexExpr& expr) {
  const IndexExpr simple = expr.simplified(code_.sizes.lookup());
  std::vector<IndexCode::Op> ops;
  HOSTIR_ASSIGN_OR_RETURN(const size_t depth, compile_ops(scope, simple, ops));
  if (depth > IndexCode::kMaxDepth) {
    return fail(ErrorKind::kInvalid, "code_name",
                fmt::format("expression is nested deeper than {}: {}", IndexCode::kMaxDepth,
                            expr.to_string()));
  }
  code_.exprs.emplace_back(std::move(ops));
  return static_cast<IndexCodeId>(code_.exprs.size() - 1);
}

}  // namespace hostir::interp
