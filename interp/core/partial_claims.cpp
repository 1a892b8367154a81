#include "interp/core/partial_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hostir/ops/record.h"
#include "interp/core/claims.h"
#include "interp/core/engine.h"

namespace hostir::interp {

namespace {

using claims::after;
using claims::AxisList;
using claims::buffer_name;
using claims::claim;
using claims::contradiction;
using claims::shard;
using claims::text;
using claims::whole_axes;
using claims::without;

// ---- communication

bool combines(const OpRecord& op) {
  return std::any_of(op.attributes.begin(), op.attributes.end(), [](const AttributeSpec& a) {
    return a.type == AttributeSpec::Type::kReduction;
  });
}

Expected<void> check_communication(const Code& code, CodeIndex index) {
  const CodeInstruction& c = code.instructions[index];
  const Instruction& source = code.source(index);
  const CommunicationFacts& facts = *communication_facts(c.kind);
  const bool routes = facts.point_to_point || facts.in == CommunicationFacts::Part::kFree;
  if (routes || facts.root != CommunicationFacts::RootHas::kNothing || c.comm == kNoComm) return {};
  const AxisList& over = code.communicators[c.comm].axes;
  if (over.empty() || !whole_axes(over)) return {};
  std::optional<size_t> in, out;
  for (size_t o = 0; o < source.operands.size(); ++o) {
    const Access access = source.operands[o].access;
    if (access == Access::kRead || access == Access::kReadWrite) in = o;
    if (access == Access::kWrite || access == Access::kReadWrite) out = o;
  }
  if (!in || !out) return {};
  const ShardType* before = shard(code, c.layouts[*in]);
  const ShardType* result = shard(code, after(c, *out));
  if (before == nullptr || result == nullptr) return {};
  const Sharding& from = before->sharding;
  const Sharding& to = result->sharding;
  if (from.mesh != to.mesh || !whole_axes(from.unreduced) || !whole_axes(to.unreduced)) return {};
  const OpRecord& op = record(c.kind);
  const bool reduces = combines(op);
  const AxisList left = reduces ? without(from.unreduced, over) : from.unreduced;
  const bool reduces_claim = left.size() < from.unreduced.size();
  const auto kind = source.attributes.get_or<Reduction>("reduction", Reduction::kSum);
  // The average of the addends is their sum but for a factor, as of gradients.
  const bool same_kind = kind == from.unreduced_kind ||
                         (kind == Reduction::kAvg && from.unreduced_kind == Reduction::kSum);
  if (reduces_claim && !same_kind) {
    return contradiction(
        fmt::format("{} {} over {} of {}, which is {}", op.mnemonic, name(kind), text(over),
                    buffer_name(code, c, *in), claim(from.unreduced, from.unreduced_kind)),
        source.operands[*in]);
  }
  const bool same = without(left, to.unreduced).empty() && without(to.unreduced, left).empty();
  if (same && (left.empty() || to.unreduced_kind == from.unreduced_kind)) return {};
  const std::string was = claim(from.unreduced, from.unreduced_kind);
  const std::string effect =
      left.size() == from.unreduced.size()
          ? fmt::format("leaves {} what it was, {}", buffer_name(code, c, *in), was)
          : fmt::format("makes {}, which was {}, {}", buffer_name(code, c, *in), was,
                        claim(left, from.unreduced_kind));
  return contradiction(
      fmt::format("{} over {} {}; the layout of {} says that it is {}", op.mnemonic, text(over),
                  effect, buffer_name(code, c, *out), claim(to.unreduced, to.unreduced_kind)),
      source.operands[*out]);
}

}  // namespace

Expected<void> check_partial_claims(const Code& code) {
  const std::vector<bool> moved = claims::moved_buffers(code);
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].role != CodeRole::kInstruction) continue;
    if (communication_facts(code.instructions[i].kind) != nullptr)
      HOSTIR_TRY(check_communication(code, i));
    else
      HOSTIR_TRY(claims::check_launch(code, i, moved));
  }
  return {};
}

}  // namespace hostir::interp
