#include "interp/session/answers/locals.h"

#include <set>
#include <vector>

#include "hostir/support/text.h"
#include "interp/session/expressions/watch_expr.h"

namespace hostir::interp {

Expected<std::string> value_in_short(Session& session, const std::string& name, Rank rank) {
  ValueQuery query;
  query.value = name;
  query.rank = rank;
  HOSTIR_ASSIGN_OR_RETURN(const ValueReading reading, session.read(query));
  if (reading.undefined) return std::string("not written");
  HOSTIR_ASSIGN_OR_RETURN(const WatchExpr watch, parse_watch("%" + name));
  return watch_text(watch, reading.tensor);
}

std::vector<LocalInteger> local_integers(Session& session, Rank rank) {
  std::vector<LocalInteger> out;
  const SnapshotPtr snapshot = session.snapshot();
  if (!snapshot->program->code) return out;
  const Code& code = *snapshot->program->code;
  std::set<std::string> names;
  for (const RegisterInfo& info : code.registers) {
    const Function& function = *code.functions[info.function];
    if (function.name != snapshot->rank(rank).function || !info.value.valid()) continue;
    const Value& value = function.value(info.value);
    if (!std::holds_alternative<IndexType>(value.type) || !names.insert(value.name).second)
      continue;
    const auto text = value_in_short(session, value.name, rank);
    if (text) out.push_back({value.name, *text});
  }
  return out;
}

std::string locals_text(Session& session) {
  std::vector<std::vector<std::string>> rows;
  const SnapshotPtr snapshot = session.snapshot();
  for (const LocalInteger& integer : local_integers(session, snapshot->focus))
    rows.push_back({"%" + integer.name, "index", integer.text});
  const auto& memory = *snapshot->memory[static_cast<size_t>(snapshot->focus)];
  for (const AllocationSnapshot& a : memory.allocations) {
    if (!a.live) continue;
    const auto text = value_in_short(session, a.name, snapshot->focus);
    rows.push_back({"%" + a.name, to_string(a.type), text ? *text : text.error().message()});
  }
  if (!rows.empty()) return aligned(rows);
  return "Nothing is alive on rank " + std::to_string(snapshot->focus) + ".\n";
}

}  // namespace hostir::interp
