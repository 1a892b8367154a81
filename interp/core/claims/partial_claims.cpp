#include "interp/core/claims/partial_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/claims/claims.h"
#include "interp/core/communication_facts.h"

namespace hostir::interp {

namespace {

using claims::after;
using claims::AxisList;
using claims::buffer_name;
using claims::claim;
using claims::contradiction;
using claims::shard;
using claims::split_alike;
using claims::text;
using claims::without;
using Part = CommunicationFacts::Part;
using RootHas = CommunicationFacts::RootHas;

// ---- communication

bool combines(const OpRecord& op) {
  return std::any_of(op.attributes.begin(), op.attributes.end(), [](const AttributeSpec& a) {
    return a.type == AttributeSpec::Type::kReduction;
  });
}

/// A communication instruction between shards, and what its layouts claim. The axes of `over`,
/// `from` and `to` are split into the same sub-axes.
struct Communication {
  const Code& code;
  const Mesh& mesh;
  CodeIndex index;
  const CodeInstruction& c;
  const Instruction& source;
  const CommunicationFacts& facts;
  const OpRecord& op;
  AxisList over;
  size_t in;  // operands
  std::optional<size_t> out;
  Sharding from;
  std::optional<Sharding> to;  // nullopt: no shard
  Reduction kind;
};

std::optional<Communication> communication(const Code& code, CodeIndex index) {
  const CodeInstruction& c = code.instructions[index];
  const Instruction& source = code.source(index);
  const CommunicationFacts& facts = *communication_facts(c.kind);
  if (facts.point_to_point || c.comm == kNoComm) return std::nullopt;
  const auto [in, out] = claims::sides_of(c, source);
  const ShardType* before = in ? shard(code, c.layouts[*in]) : nullptr;
  const ShardType* result = out ? shard(code, after(c, *out)) : nullptr;
  if (before == nullptr) return std::nullopt;
  const Mesh* mesh = code.program->find_mesh(before->sharding->mesh);
  if (mesh == nullptr || (result != nullptr && result->sharding->mesh != before->sharding->mesh))
    return std::nullopt;
  Communication m{code,
                  *mesh,
                  index,
                  c,
                  source,
                  facts,
                  record(c.kind),
                  claims::cutting(*mesh, claims::spanned(*mesh, code.communicators[c.comm])),
                  *in,
                  out,
                  *before->sharding,
                  result == nullptr ? std::nullopt : std::optional<Sharding>(*result->sharding),
                  source.attributes.get_or<Reduction>("reduction", Reduction::kSum)};
  std::vector<AxisList*> lists = {&m.over};
  for (Sharding* s : {&m.from, m.to ? &*m.to : nullptr}) {
    if (s == nullptr) continue;
    lists.push_back(&s->unreduced);
    for (DimSharding& d : s->dims) lists.push_back(&d.axes);
  }
  if (m.over.empty() || !split_alike(*mesh, lists)) return std::nullopt;
  return m;
}

std::string described(const Communication& m) {
  const std::string what = combines(m.op) ? fmt::format(" {}", name(m.kind)) : std::string();
  return fmt::format("{}{} over {} of {}", m.op.mnemonic, what, text(m.mesh, m.over),
                     buffer_name(m.code, m.c, m.in));
}

// The dimension that one of these axes cuts into parts of more than one index. Parts of a single
// index are separate values stacked along the dimension, one per rank.
std::optional<size_t> cut_dimension(const Communication& m, const AxisRef& axis) {
  const LayoutTable& layout = m.code.layouts[m.c.layouts[m.in]];
  for (size_t d = 0; d < m.from.dims.size(); ++d) {
    const auto& axes = m.from.dims[d].axes;
    if (!contains(axes, axis)) continue;
    const bool parts =
        std::any_of(layout.by_rank.distinct().begin(), layout.by_rank.distinct().end(),
                    [&](const Placement& p) { return p.box.hi[d] - p.box.lo[d] > 1; });
    return parts ? std::optional(d) : std::nullopt;
  }
  return std::nullopt;
}

bool cuts(const Communication& m, const AxisRef& axis) {
  return std::any_of(m.from.dims.begin(), m.from.dims.end(),
                     [&](const DimSharding& d) { return contains(d.axes, axis); });
}

// A reduction must be over axes along which each position holds an addend. Along other axes it
// would count a whole value several times, or add different parts of a value.
std::optional<std::string> misplaced(const Communication& m) {
  // A plain buffer claims nothing about the result.
  if (!m.to && m.facts.root == RootHas::kNothing) return std::nullopt;
  for (const AxisRef& axis : without(m.over, m.from.unreduced)) {
    if (const auto d = cut_dimension(m, axis)) {
      return fmt::format(
          "{}: {} cuts dimension {} of it ({}), so this combines different parts of the value; "
          "gather it, or reduce over the axes over which it is partial",
          described(m), text({axis}), *d, m.from.dims_to_string());
    }
    const bool counts = m.kind == Reduction::kSum || m.kind == Reduction::kProd;
    if (!counts || cuts(m, axis)) continue;
    return fmt::format(
        "{}, which is already whole over {}, so each element is counted {} times; remove the "
        "reduction, or declare the value unreduced={}",
        described(m), text({axis}), m.mesh.axis_size(axis),
        text(m.mesh, claims::both({axis}, m.from.unreduced)));
  }
  return std::nullopt;
}

// By group of aliases: true if its contents depend on a parameter.
std::vector<bool> made_of_inputs(const Code& code, const claims::Aliases& aliases) {
  std::vector<bool> made(code.registers.size(), false);
  for (const uint32_t reg : code.parameters) made[aliases.group(reg)] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
      const CodeInstruction& c = code.instructions[i];
      if (c.role != CodeRole::kInstruction) continue;
      const std::vector<Operand>& operands = code.source(i).operands;
      const auto any = [&](auto&& what) {
        for (size_t o = 0; o < c.operands.size() && o < operands.size(); ++o) {
          if (c.operands[o] != kNoRegister) what(operands[o].access, aliases.group(c.operands[o]));
        }
      };
      bool from_inputs = false;
      any([&](Access access, uint32_t group) {
        from_inputs |= (access == Access::kRead || access == Access::kReadWrite) && made[group];
      });
      any([&](Access access, uint32_t group) {
        if (!from_inputs || access < Access::kWrite || made[group]) return;
        made[group] = changed = true;
      });
    }
  }
  return made;
}

Expected<void> check_communication(const Code& code, CodeIndex index) {
  const std::optional<Communication> found = communication(code, index);
  if (!found) return {};
  const Communication& m = *found;
  const auto held = [&m](const AxisList& axes, Reduction kind) {
    return claim(merged_axes(m.mesh, axes), kind);
  };
  const bool reduces = combines(m.op);
  const AxisList left = reduces ? without(m.from.unreduced, m.over) : m.from.unreduced;
  const bool takes_addends = without(m.from.unreduced, m.over).size() < m.from.unreduced.size();
  // The average of the addends is their sum up to a factor; gradients are often averaged.
  const bool same_kind = m.kind == m.from.unreduced_kind ||
                         (m.kind == Reduction::kAvg && m.from.unreduced_kind == Reduction::kSum);
  if (reduces && takes_addends && !same_kind) {
    return contradiction(
        fmt::format("{}, which is {}: its parts are combined by {}", described(m),
                    held(m.from.unreduced, m.from.unreduced_kind), name(m.from.unreduced_kind)),
        m.source.operands[m.in]);
  }
  if (takes_addends && m.facts.root == RootHas::kInput) {
    return contradiction(
        fmt::format("{}, which is {}: every rank would get the root's addend; reduce it first",
                    described(m), held(m.from.unreduced, m.from.unreduced_kind)),
        m.source.operands[m.in]);
  }
  if (!m.to) return {};
  const bool same =
      without(left, m.to->unreduced).empty() && without(m.to->unreduced, left).empty();
  if (same && (left.empty() || m.to->unreduced_kind == m.from.unreduced_kind)) return {};
  const std::string was = held(m.from.unreduced, m.from.unreduced_kind);
  const std::string effect =
      left.size() == m.from.unreduced.size()
          ? fmt::format("does not reduce {}, which stays {}", buffer_name(code, m.c, m.in), was)
          : fmt::format("makes {}, which was {}, {}", buffer_name(code, m.c, m.in), was,
                        held(left, m.from.unreduced_kind));
  return contradiction(
      fmt::format("{} over {} {}; the layout of {} says that it is {}", m.op.mnemonic,
                  text(m.mesh, m.over), effect, buffer_name(code, m.c, *m.out),
                  held(m.to->unreduced, m.to->unreduced_kind)),
      m.source.operands[*m.out]);
}

// ---- loops

// Layouts are tracked once, in text order. A later iteration starts with the layouts that the body
// left.
class LoopBody {
 public:
  LoopBody(const Code& code, CodeIndex loop) : code_(code), loop_(loop) {}

  Expected<void> check() {
    if (!comes_again()) return {};
    const CodeInstruction& loop = code_.instructions[loop_];
    for (CodeIndex i = loop_ + 1; i < loop.end; ++i) {
      const CodeInstruction& c = code_.instructions[i];
      if (c.role != CodeRole::kInstruction) continue;
      for (const uint32_t r : c.results) made_here_[r] = true;
      for (const RegisterMove& m : c.moves) made_here_[m.to] = true;
      for (size_t o = 0; o < c.operands.size(); ++o) use(i, o);
    }
    for (const auto& [reg, use] : uses_) HOSTIR_TRY(check(reg, use));
    return {};
  }

 private:
  struct Use {
    CodeIndex first = kNoCode;  // the first use
    size_t operand = 0;
    LayoutIndex last = kNoLayout;  // the layout after the last one
    CodeIndex changed = kNoCode;   // where it got that layout
  };

  // False if the text shows that there is at most one iteration.
  bool comes_again() const {
    const CodeInstruction& loop = code_.instructions[loop_];
    if (loop.exprs.size() < 2) return true;
    int64_t bounds[2] = {};
    for (size_t b = 0; b < 2; ++b) {
      const IndexCode& e = code_.exprs[loop.exprs[b]];
      if (!e.is_static() || !e.evaluate(nullptr, code_.rank_tables, 0, bounds[b])) return true;
    }
    return bounds[1] - bounds[0] > 1;
  }

  void use(CodeIndex index, size_t operand) {
    const CodeInstruction& c = code_.instructions[index];
    const uint32_t reg = c.operands[operand];
    if (reg == kNoRegister || c.layouts[operand] == kNoLayout || made_here_.contains(reg)) return;
    Use& known = uses_[reg];
    if (known.first == kNoCode) {
      known.first = index;
      known.operand = operand;
    }
    if (c.becomes[operand] != kNoLayout) known.changed = index;
    known.last = after(c, operand);
  }

  Expected<void> check(uint32_t reg, const Use& use) const {
    const CodeInstruction& first = code_.instructions[use.first];
    const Operand& operand = code_.source(use.first).operands[use.operand];
    const ShardType* taken = shard(code_, first.layouts[use.operand]);
    const ShardType* left = shard(code_, use.last);
    if (operand.access == Access::kWrite || taken == nullptr || left == nullptr) return {};
    const AxisList& a = taken->sharding->unreduced;
    const AxisList& b = left->sharding->unreduced;
    if (without(a, b).empty() && without(b, a).empty()) return {};
    return contradiction(
        fmt::format(
            "{} expects {} to be {}, but from the second iteration on it is {}: {} changes it",
            record(first.kind).mnemonic, code_.register_name(reg),
            claim(a, taken->sharding->unreduced_kind), claim(b, left->sharding->unreduced_kind),
            use.changed == kNoCode ? "the body" : code_.address(use.changed)),
        operand);
  }

  const Code& code_;
  const CodeIndex loop_;
  std::map<uint32_t, bool> made_here_;
  std::map<uint32_t, Use> uses_;
};

}  // namespace

Expected<void> check_partial_claims(const Code& code) {
  const claims::Aliases aliases(code);
  const std::vector<bool> moved = claims::moved_buffers(code, aliases);
  Error all;
  const auto keep = [&](const Expected<void>& checked) {
    if (checked) return;
    all.kind = checked.error().kind;
    for (const Diagnostic& d : checked.error().diagnostics) {
      // A function that is called twice reports an error only once.
      const bool known =
          std::any_of(all.diagnostics.begin(), all.diagnostics.end(), [&](const Diagnostic& e) {
            return e.message == d.message && e.span.begin == d.span.begin &&
                   e.span.file == d.span.file;
          });
      if (!known) all.diagnostics.push_back(d);
    }
  };
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    if (c.role != CodeRole::kInstruction) continue;
    const HostRole role = record(c.kind).role;
    if (communication_facts(c.kind) != nullptr) {
      keep(check_communication(code, i));
      keep(claims::check_routes(code, i, moved));
    } else if (role == HostRole::kView) {
      keep(claims::check_view(code, i, moved, aliases));
    } else if (role == HostRole::kLoop) {
      keep(LoopBody(code, i).check());
    } else {
      keep(claims::check_launch(code, i, moved));
      keep(claims::check_block_order(code, i));
    }
  }
  for (Error& misuse : claims::misused_plain_sums(code)) keep(tl::unexpected(std::move(misuse)));
  if (!all.diagnostics.empty()) return tl::unexpected(std::move(all));
  return {};
}

std::optional<std::string> received_addends(const Code& code, CodeIndex send, CodeIndex recv) {
  const auto buffer = [&](CodeIndex index, Access access) {
    const std::vector<Operand>& operands = code.source(index).operands;
    size_t o = 0;
    while (o < operands.size() && operands[o].access != access) ++o;
    return o;
  };
  const CodeInstruction& s = code.instructions[send];
  const CodeInstruction& r = code.instructions[recv];
  const size_t in = buffer(send, Access::kRead);
  const size_t out = buffer(recv, Access::kWrite);
  if (in >= s.operands.size() || out >= r.operands.size()) return std::nullopt;
  const ShardType* from = shard(code, s.layouts[in]);
  const ShardType* to = shard(code, after(r, out));
  if (from == nullptr || to == nullptr || from->sharding->mesh != to->sharding->mesh)
    return std::nullopt;
  const AxisList lost = without(from->sharding->unreduced, to->sharding->unreduced);
  if (lost.empty()) return std::nullopt;
  return fmt::format("{} recv gets {} of {} send, which is {}; the layout of {} says that it is {}",
                     code.address(recv), buffer_name(code, s, in), code.address(send),
                     claim(from->sharding->unreduced, from->sharding->unreduced_kind),
                     buffer_name(code, r, out),
                     claim(to->sharding->unreduced, to->sharding->unreduced_kind));
}

std::vector<MisplacedReduction> misplaced_reductions(const Code& code) {
  std::vector<MisplacedReduction> out;
  std::optional<claims::Aliases> aliases;
  std::vector<bool> moved;
  std::vector<bool> made;
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    if (c.role != CodeRole::kInstruction || communication_facts(c.kind) == nullptr ||
        !combines(record(c.kind)))
      continue;
    const std::optional<Communication> m = communication(code, i);
    auto sentence = m ? misplaced(*m) : std::nullopt;
    if (!sentence) continue;
    if (!aliases) {
      aliases.emplace(code);
      moved = claims::moved_buffers(code, *aliases);
      made = made_of_inputs(code, *aliases);
    }
    const uint32_t reg = c.operands[m->in];
    if (moved[reg] || !made[aliases->group(reg)]) continue;
    const auto same_text = [&](const MisplacedReduction& known) {
      return code.address(known.code) == code.address(i);
    };
    if (std::none_of(out.begin(), out.end(), same_text))
      out.push_back({i, m->in, code.address(i) + " " + *sentence});
  }
  return out;
}

}  // namespace hostir::interp
