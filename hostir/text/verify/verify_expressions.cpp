// Verifies sizes and index expressions: which names they may use, and where.
#include "hostir/ops/integer_list.h"
#include "hostir/text/verify/verify_function.h"

namespace hostir::text {

namespace {

constexpr const char* kWhereSizesAreEqual =
    "the global shape of a shard, and what a function takes and returns, is the same on every rank";

bool is_of_rank(const IndexExpr& leaf) {
  return leaf.kind() == IndexExpr::Kind::kRank || leaf.kind() == IndexExpr::Kind::kCoord;
}

}  // namespace

bool FunctionVerifier::check_sizes(const Shape& shape, SourceSpan span, Sizes sizes) {
  for (const IndexExpr& size : shape) {
    bool ok = true;
    size.for_each_leaf([&](const IndexExpr& leaf) {
      const bool global = leaf.kind() == IndexExpr::Kind::kSize;
      // A loop of a fusion is written out, so its variable is a number by then.
      const bool variable =
          leaf.kind() == IndexExpr::Kind::kName && function_.kind != FunctionKind::kKernel;
      const bool known = variable || (is_host() && leaf.kind() == IndexExpr::Kind::kAxisSize) ||
                         (sizes == Sizes::kMayDiffer && is_of_rank(leaf));
      if (global || !ok) return;
      ok = known && check_leaf(leaf, span);
      if (!known) {
        context_.error("type_c3",
                       leaf.to_string() + " is not a size: " +
                           (is_host() ? kWhereSizesAreEqual : "sizes are the same on every rank"),
                       span);
      }
    });
    const IndexExpr simple = size.simplified();
    if (ok && simple.is_const() && simple.value() < 0) {
      context_.error("type_c3", "size " + simple.to_string() + " is negative", span);
      ok = false;
    }
    if (!ok) return false;
  }
  return true;
}

bool FunctionVerifier::check_leaf(const IndexExpr& leaf, SourceSpan span) {
  const bool axis =
      leaf.kind() == IndexExpr::Kind::kCoord || leaf.kind() == IndexExpr::Kind::kAxisSize;
  const bool rank_known = leaf.kind() == IndexExpr::Kind::kRank;
  if ((axis || rank_known) && !is_host()) {
    context_.error("host_c4", leaf.to_string() + " is known in host functions only", span);
    return false;
  }
  if (axis) {
    const Mesh* mesh = context_.program.find_mesh(function_.mesh);
    return !mesh || check_axes(context_, *mesh, {AxisRef{leaf.symbol()}}, span);
  }
  if (leaf.kind() != IndexExpr::Kind::kName) return true;
  if (names_list(leaf)) {
    context_.error("host_c4",
                   leaf.to_string() +
                       " is a list of integers, which only counts(..) and receives(..) take; read "
                       "one element, or the sum, min or max",
                   span);
    return false;
  }
  // The parser has resolved the name. Several regions may reuse it, so accept any integer value.
  bool unknown = false;
  for (const Value& value : function_.values) {
    if (value.name != leaf.symbol()) continue;
    if (std::holds_alternative<IndexType>(value.type)) return true;
    unknown = unknown || std::holds_alternative<NoType>(value.type);
  }
  if (unknown) return false;
  context_.error("host_c4",
                 leaf.to_string() + (is_host() ? " is not an integer of the host"
                                               : " is not a loop variable; to index by a computed "
                                                 "value, use take or dynamic_slice"),
                 span);
  return false;
}

bool FunctionVerifier::names_list(const IndexExpr& leaf) const {
  if (leaf.kind() != IndexExpr::Kind::kName) return false;
  const auto at = visible_.find(leaf.symbol());
  return at != visible_.end() && ops::is_integer_list(function_, at->second);
}

bool FunctionVerifier::check_expression(const IndexExpr& expr, SourceSpan span) {
  bool ok = true;
  expr.for_each_leaf([&](const IndexExpr& leaf) { ok = ok && check_leaf(leaf, span); });
  return ok;
}

bool FunctionVerifier::check_no_lists(const Instruction& instruction) {
  for (const Operand& operand : instruction.operands) {
    if (!operand.value.valid() || !ops::is_integer_list(function_, operand.value)) continue;
    context_.error("host_c4",
                   "%" + function_.value(operand.value).name +
                       " is a list of integers, which only counts(..) and receives(..) take",
                   operand.span);
    return false;
  }
  return true;
}

}  // namespace hostir::text
