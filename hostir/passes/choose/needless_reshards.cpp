#include "hostir/passes/choose/needless_reshards.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

void explain_kept(Origin value, const Sharding& held, const Sharding& annotated,
                  Explanation& explanation) {
  for (ExplainRecord& record : explanation) {
    if (!value.valid() || record.id.value != value.value ||
        record.sentence.find(kAnnotationUse) == std::string::npos)
      continue;
    record.what = "stays";
    record.sentence =
        fmt::format("its op produces it as {}, and no op needs the annotated sharding {}",
                    held.dims_to_string(), annotated.dims_to_string());
  }
}

}  // namespace

void drop_needless_reshards(Resharded& made, MeshMoves& moves, std::span<const ValueId> keep,
                            Explanation& explanation) {
  if (made.annotated.empty()) return;
  Function& f = made.function;
  std::set<InstrId> needless;
  const auto uses = uses_of(f);
  const auto cost_ns = [&](ValueId from, ValueId to) {
    const TensorType& type = tensor_type(f, from);
    return moves.cost_ns(type, *type.sharding, *tensor_type(f, to).sharding);
  };
  for (const ValueId annotated : made.annotated) {
    const std::vector<InstrId>& users = uses[annotated.index];
    const auto moves_on = [&](InstrId user) { return f.instr(user).kind == OpKind::reshard; };
    const InstrId by = f.value(annotated).defined_by;
    const bool is_moved = by.valid() && moves_on(by);  // a constant is made again, not moved
    if (!is_moved || contains(keep, f.value(annotated).origin.value) ||
        !std::ranges::all_of(users, moves_on))
      continue;
    const ValueId held = f.instr(by).operands.front().value;
    double over_it = cost_ns(held, annotated);
    double past_it = 0;
    for (const InstrId user : users) {
      over_it += cost_ns(annotated, f.instr(user).results.front());
      past_it += cost_ns(held, f.instr(user).results.front());
    }
    if (past_it >= over_it) continue;
    needless.insert(by);
    for (const InstrId user : users) f.instr(user).operands.front().value = held;
    explain_kept(f.value(annotated).origin, *tensor_type(f, held).sharding,
                 *tensor_type(f, annotated).sharding, explanation);
    // The op's own result takes the name.
    f.value(held).name = std::exchange(f.value(annotated).name, {});
  }
  std::erase_if(f.region(f.body).instructions, [&](InstrId id) { return needless.contains(id); });
}

}  // namespace hostir
