#include "interp/core/partial_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hostir/ops/record.h"
#include "interp/core/engine.h"

namespace hostir::interp {

namespace {

using AxisList = std::vector<AxisRef>;

tl::unexpected<Error> contradiction(std::string sentence, const Operand& operand) {
  return fail_at(ErrorKind::kInvalid, "partial_claim", std::move(sentence), operand.span);
}

bool contains(const AxisList& axes, const AxisRef& axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

AxisList without(const AxisList& axes, const AxisList& removed) {
  AxisList out;
  for (const AxisRef& a : axes) {
    if (!contains(removed, a)) out.push_back(a);
  }
  return out;
}

bool whole_axes(const AxisList& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const AxisRef& a) { return a.whole(); });
}

std::string text(const AxisList& axes) {
  std::string out;
  for (const AxisRef& a : axes) out += (out.empty() ? "" : ", ") + a.to_string();
  return "{" + out + "}";
}

// "a partial sum over {tp}", "whole".
std::string claim(const AxisList& axes, Reduction kind) {
  return axes.empty() ? "whole" : fmt::format("a partial {} over {}", name(kind), text(axes));
}

const ShardType* shard(const Code& code, LayoutIndex layout) {
  return layout == kNoLayout ? nullptr : std::get_if<ShardType>(&code.layouts[layout].type);
}

LayoutIndex after(const CodeInstruction& c, size_t operand) {
  return c.becomes[operand] == kNoLayout ? c.layouts[operand] : c.becomes[operand];
}

std::string buffer_name(const Code& code, const CodeInstruction& c, size_t operand) {
  return code.register_name(c.operands[operand]);
}

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
  if (reduces_claim && kind != from.unreduced_kind) {
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

// ---- kernels

/// What is known of a value in a kernel on the ranks that launch it.
struct Held {
  enum class Kind : uint8_t { kUnknown, kWhole, kPartial } kind = Kind::kUnknown;
  Reduction reduction = Reduction::kSum;
  AxisList axes;          // of kPartial: over these at least
  std::string parameter;  // of kPartial: where it came from
  const Operand* from = nullptr;
};

struct Launch {
  const Code& code;
  const CodeInstruction& c;
  const Instruction& source;
  const Function& kernel;
  std::vector<size_t> in;   // operands by parameter
  std::vector<size_t> out;  // operands by result
  bool sharded = false;     // some dimension of an input is cut: contractions may be partial
};

bool is_sharded(const Sharding& sharding) {
  return std::any_of(sharding.dims.begin(), sharding.dims.end(),
                     [](const DimSharding& d) { return !d.axes.empty(); });
}

std::optional<Launch> launch_of(const Code& code, CodeIndex index) {
  const CodeInstruction& c = code.instructions[index];
  const Instruction& source = code.source(index);
  const auto* symbol = source.attributes.get<Symbol>("kernel");
  const Function* kernel = symbol == nullptr ? nullptr : code.program->find_function(symbol->name);
  if (kernel == nullptr || kernel->kind != FunctionKind::kKernel) return std::nullopt;
  Launch launch{code, c, source, *kernel, {}, {}, false};
  // Updates come behind reads and behind writes, on both sides.
  for (const Access access : {Access::kRead, Access::kWrite, Access::kReadWrite}) {
    for (size_t o = 0; o < source.operands.size(); ++o) {
      if (source.operands[o].access != access) continue;
      if (access != Access::kWrite) launch.in.push_back(o);
      if (access != Access::kRead) launch.out.push_back(o);
    }
  }
  const bool fits =
      launch.in.size() == kernel->params.size() && launch.out.size() == kernel->results.size();
  return fits ? std::optional(std::move(launch)) : std::nullopt;
}

std::vector<Held> held_by_parameters(Launch& launch) {
  std::vector<Held> held(launch.kernel.values.size());
  for (size_t p = 0; p < launch.in.size(); ++p) {
    const ShardType* type = shard(launch.code, launch.c.layouts[launch.in[p]]);
    launch.sharded = launch.sharded || type == nullptr || is_sharded(type->sharding);
    if (type == nullptr) continue;
    Held& h = held[launch.kernel.params[p].value.index];
    h.kind = type->sharding.is_partial() ? Held::Kind::kPartial : Held::Kind::kWhole;
    h.reduction = type->sharding.unreduced_kind;
    h.axes = type->sharding.unreduced;
    h.parameter = buffer_name(launch.code, launch.c, launch.in[p]);
    h.from = &launch.source.operands[launch.in[p]];
  }
  return held;
}

tl::unexpected<Error> misuse(const Launch& launch, const Held& partial, std::string_view what) {
  return contradiction(
      fmt::format("{} is {}, and kernel @{} {}", partial.parameter,
                  claim(partial.axes, partial.reduction), launch.kernel.name, what),
      *partial.from);
}

// Of one op of the kernel's body: what its results are, or why its operands may not be partial.
Expected<Held> apply(const Launch& launch, const Instruction& i, const std::vector<Held>& held) {
  const std::vector<Type> types = operand_types(launch.kernel, i);
  const OpCall call = {.kind = i.kind,
                       .operands = types,
                       .attributes = i.attributes,
                       .instruction = &i,
                       .function = &launch.kernel,
                       .program = launch.code.program.get(),
                       .written = {}};
  const OpRecord& op = record(i.kind);
  const auto of = [&](size_t o) -> const Held& { return held[i.operands[o].value.index]; };
  Held result;
  result.kind = Held::Kind::kWhole;
  for (size_t o = 0; o < i.operands.size(); ++o) {
    if (!i.operands[o].value.valid() || of(o).kind == Held::Kind::kWhole) continue;
    if (of(o).kind == Held::Kind::kUnknown) {
      if (result.kind == Held::Kind::kWhole) result.kind = Held::Kind::kUnknown;
      continue;
    }
    const Held& partial = of(o);
    const PartialUse use = partial_use(call, o, partial.reduction);
    if (use == PartialUse::kReduceFirst) {
      return misuse(launch, partial,
                    fmt::format("uses it in {}: {} of the parts is not {} of the whole; reduce it "
                                "before",
                                op.mnemonic, op.mnemonic, op.mnemonic));
    }
    for (size_t other = 0; other < i.operands.size(); ++other) {
      if (other == o || !i.operands[other].value.valid()) continue;
      const bool joined = partial_use(call, other, partial.reduction) == use;
      if (use == PartialUse::kAllAlike && joined && of(other).kind == Held::Kind::kWhole) {
        return misuse(launch, partial,
                      fmt::format("combines it in {} with a whole value, which every rank would "
                                  "add again",
                                  op.mnemonic));
      }
      if (use == PartialUse::kOthersWhole && of(other).kind == Held::Kind::kPartial) {
        return misuse(launch, partial,
                      fmt::format("multiplies it in {} by another partial value", op.mnemonic));
      }
    }
    result = partial;
  }
  const bool sums = op.shape == OpShape::kContraction || op.shape == OpShape::kReduction;
  if (sums && launch.sharded && result.kind == Held::Kind::kWhole)
    result.kind = Held::Kind::kUnknown;
  return result;
}

Expected<void> check_results(const Launch& launch, const Instruction& ret,
                             const std::vector<Held>& held) {
  for (size_t r = 0; r < launch.out.size() && r < ret.operands.size(); ++r) {
    const Held& h = held[ret.operands[r].value.index];
    const ShardType* type = shard(launch.code, after(launch.c, launch.out[r]));
    if (h.kind != Held::Kind::kPartial || type == nullptr) continue;
    const Sharding& to = type->sharding;
    if (!whole_axes(h.axes) || !whole_axes(to.unreduced)) continue;
    const bool said = without(h.axes, to.unreduced).empty() && to.unreduced_kind == h.reduction;
    if (said) continue;
    return contradiction(
        fmt::format("kernel @{} makes this of {}, which is {}; the layout of {} says that it is {}",
                    launch.kernel.name, h.parameter, claim(h.axes, h.reduction),
                    buffer_name(launch.code, launch.c, launch.out[r]),
                    claim(to.unreduced, to.unreduced_kind)),
        launch.source.operands[launch.out[r]]);
  }
  return {};
}

Expected<void> check_launch(Launch launch) {
  std::vector<Held> held = held_by_parameters(launch);
  const bool any = std::any_of(held.begin(), held.end(),
                               [](const Held& h) { return h.kind == Held::Kind::kPartial; });
  if (!any) return {};
  for (const InstrId id : launch.kernel.region(launch.kernel.body).instructions) {
    const Instruction& i = launch.kernel.instr(id);
    if (i.results.empty()) return check_results(launch, i, held);
    HOSTIR_ASSIGN_OR_RETURN(const Held result, apply(launch, i, held));
    for (const ValueId value : i.results) held[value.index] = result;
  }
  return {};
}

}  // namespace

Expected<void> check_partial_claims(const Code& code) {
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].role != CodeRole::kInstruction) continue;
    if (communication_facts(code.instructions[i].kind) != nullptr)
      HOSTIR_TRY(check_communication(code, i));
    else if (auto launch = launch_of(code, i))
      HOSTIR_TRY(check_launch(std::move(*launch)));
  }
  return {};
}

}  // namespace hostir::interp
