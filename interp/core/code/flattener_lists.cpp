// Lists of host integers: `read` of ranges, and the counts of communication.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/integer_list.h"
#include "hostir/ops/record.h"
#include "interp/core/code/flattener.h"
#include "interp/core/code/integer_list.h"

namespace hostir::interp {

uint32_t list_size(const Code& code, uint32_t first) {
  const RegisterInfo& info = code.registers[first];
  uint32_t size = 1;
  if (!ops::is_integer_list(*code.functions[info.function], info.value)) return size;
  for (; first + size < code.registers.size(); ++size) {
    const RegisterInfo& next = code.registers[first + size];
    if (next.function != info.function || next.value != info.value || next.call != info.call) break;
  }
  return size;
}

Expected<void> Flattener::expression_list(const Scope& scope, const Attributes& attributes,
                                          std::string_view name, std::vector<IndexCodeId>& out) {
  const auto* list = attributes.get<ExprList>(name);
  if (list == nullptr) return {};
  for (const IndexExpr& e : *list) {
    if (name == "limits" && e == IndexExpr(-1)) {
      out.push_back(kNoExpr);
      continue;
    }
    const uint32_t reg =
        e.kind() == IndexExpr::Kind::kName ? integer_register(scope, e.symbol()) : kNoRegister;
    const uint32_t size = reg == kNoRegister ? 1 : list_size(code_, reg);
    if (size == 1) {
      HOSTIR_ASSIGN_OR_RETURN(const IndexCodeId code, compile_expr(scope, e));
      out.push_back(code);
      continue;
    }
    for (uint32_t i = 0; i < size; ++i) {
      out.push_back(static_cast<IndexCodeId>(code_.exprs.size()));
      code_.exprs.emplace_back(std::vector<IndexCode::Op>{{IndexExpr::Kind::kName, reg + i, 0}});
    }
  }
  return {};
}

Expected<void> Flattener::declare_list(Scope& scope, InstrId id, CodeInstruction& out) {
  const Instruction& read = scope.function->instr(id);
  HOSTIR_ASSIGN_OR_RETURN(const int64_t length, list_length(scope, read, out));
  HOSTIR_TRY(declare(scope, read.results[0], true));
  out.results.push_back(scope.registers[read.results[0].index]);
  for (int64_t i = 1; i < length; ++i) out.results.push_back(new_register(scope, read.results[0]));
  return {};
}

Expected<int64_t> Flattener::list_length(const Scope& scope, const Instruction& read,
                                         const CodeInstruction& code) {
  constexpr int64_t kMost = int64_t{1} << 20;
  const std::string name = "%" + scope.function->value(read.results[0]).name;
  int64_t length = -1;
  for (Rank rank = 0; rank < code_.rank_count; ++rank) {
    int64_t own = 1;
    for (size_t d = 0; d < code.exprs.size(); ++d) {
      HOSTIR_ASSIGN_OR_RETURN(const int64_t range,
                              range_length(scope, read, d, code.layouts[0], rank));
      if (__builtin_mul_overflow(own, range, &own) || own > kMost) own = kMost + 1;
    }
    if (own < 1 || own > kMost) {
      return fail_at(ErrorKind::kInvalid, "code_list",
                     own < 1 ? fmt::format("the list {} has no integers on rank {}; only sum, min "
                                           "and max take an empty range",
                                           name, rank)
                             : fmt::format("the list {} has more than {} integers", name, kMost),
                     read.name_span);
    }
    if (length >= 0 && own != length) {
      return fail_at(ErrorKind::kInvalid, "code_list",
                     fmt::format("the list {} has {} integers on rank 0 and {} on rank {}: a list "
                                 "is as long on every rank; `read sum` takes any range",
                                 name, length, own, rank),
                     read.name_span);
    }
    length = own;
  }
  return length;
}

// Subtracts the limits as text, so the ends themselves may be known only at run time.
Expected<int64_t> Flattener::range_length(const Scope& scope, const Instruction& read, size_t dim,
                                          LayoutIndex layout, Rank rank) {
  const IndexExpr& start = (*read.attributes.get<ExprList>("index"))[dim];
  const IndexExpr& limit = (*read.attributes.get<ExprList>("limits"))[dim];
  const bool open = limit == IndexExpr(-1);
  const std::string name = "%" + scope.function->value(read.results[0]).name;
  const auto unknown = [&](std::string_view why) {
    return fail_at(
        ErrorKind::kInvalid, "code_list",
        fmt::format("the length of the list {} depends on {}, and must be known before the "
                    "run; write a range of fixed length, or `read sum`",
                    name, why),
        read.name_span);
  };
  int64_t size = 0;
  if (open) {
    const LayoutTable& table = code_.layouts[layout];
    if (!table.is_static()) return unknown("a size that the host reads");
    size = table.by_rank[static_cast<size_t>(rank)].local()[dim];
  }
  const IndexExpr end = open ? IndexExpr(size) : limit;
  const IndexExpr length = IndexExpr::binary(IndexExpr::Kind::kSub, end, start).simplified();
  HOSTIR_ASSIGN_OR_RETURN(const IndexCodeId id, compile_expr(scope, length));
  if (!code_.exprs[id].is_static()) return unknown(length.to_string());
  if (!code_.exprs[id].evaluate(nullptr, code_.rank_tables, rank, size)) {
    return unknown("an expression that divides by zero or overflows");
  }
  return std::max<int64_t>(size, 0);
}

Expected<void> Flattener::check_counts(const Scope& scope, InstrId id,
                                       const CodeInstruction& code) const {
  const Instruction& source = scope.function->instr(id);
  if (code.comm == kNoComm) return {};
  const auto& groups = code_.communicators[code.comm].groups;
  for (const auto& [name, count] :
       {std::pair{"counts", code.exprs.size()}, std::pair{"receives", code.more_exprs.size()}}) {
    if (!source.attributes.has(name)) continue;
    const bool fits = std::any_of(groups.begin(), groups.end(),
                                  [n = count](const auto& group) { return group.size() == n; });
    if (fits || groups.empty()) continue;
    return fail_at(ErrorKind::kInvalid, "all_to_all_c4",
                   fmt::format("{} over {} members has {} {}", record(code.kind).mnemonic,
                               groups.front().size(), count, name),
                   source.name_span);
  }
  return {};
}

}  // namespace hostir::interp
