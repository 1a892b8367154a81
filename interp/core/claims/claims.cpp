#include "interp/core/claims/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/ir/access.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/communication_facts.h"

namespace hostir::interp::claims {

namespace {

constexpr size_t kMostAxesSearched = 8;

}  // namespace

tl::unexpected<Error> contradiction(std::string sentence, const Operand& operand) {
  return fail_at(ErrorKind::kInvalid, "partial_claim", std::move(sentence), operand.span);
}

AxisList without(const AxisList& axes, const AxisList& removed) {
  AxisList out;
  for (const AxisRef& a : axes) {
    if (!contains(removed, a)) out.push_back(a);
  }
  return out;
}

AxisList both(const AxisList& a, const AxisList& b) {
  AxisList out = a;
  for (const AxisRef& axis : without(b, a)) out.push_back(axis);
  return out;
}

AxisList cutting(const Mesh& mesh, const AxisList& axes) {
  AxisList out;
  for (const AxisRef& a : axes) {
    const auto at = mesh.axis_index(a.name);
    if (!a.whole() || (at && mesh.axes[*at].size > 1)) out.push_back(a);
  }
  return out;
}

AxisList spanned(const Mesh& mesh, const Communicator& comm) {
  if (!comm.axes.empty() || mesh.axes.size() > kMostAxesSearched) return comm.axes;
  const auto sorted = [](const auto& groups) {
    std::vector<std::vector<int64_t>> out;
    for (const auto& group : groups) {
      out.emplace_back(group.begin(), group.end());
      std::sort(out.back().begin(), out.back().end());
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto wanted = sorted(comm.groups);
  for (uint32_t set = 1; set < 1u << mesh.axes.size(); ++set) {
    AxisList axes;
    for (size_t a = 0; a < mesh.axes.size(); ++a) {
      if ((set >> a & 1) != 0) axes.push_back({.name = mesh.axes[a].name});
    }
    if (sorted(groups_over(mesh, axes)) == wanted) return axes;
  }
  return {};
}

bool split_alike(const Mesh& mesh, const std::vector<AxisList*>& lists) {
  // By axis: where sub-axes begin and end, each as the product of the sizes before it.
  std::map<std::string, std::set<int64_t>> borders;
  bool all_whole = true;
  for (const AxisList* list : lists) {
    for (const AxisRef& a : *list) {
      if (a.whole()) continue;
      borders[a.name].insert({a.pre, a.pre * a.size});
      all_whole = false;
    }
  }
  if (all_whole) return true;
  for (auto& [axis, at] : borders) {
    if (!mesh.axis_index(axis)) return false;
    at.insert({1, mesh.axis_size({.name = axis})});
    for (auto b = at.begin(), next = std::next(b); next != at.end(); ++b, ++next) {
      if (*next % *b != 0) return false;
    }
  }
  for (AxisList* list : lists) {
    AxisList split;
    for (const AxisRef& a : *list) {
      const auto known = borders.find(a.name);
      if (known == borders.end() || known->second.size() < 3) {
        split.push_back({.name = a.name});
        continue;
      }
      const int64_t end = a.whole() ? *known->second.rbegin() : a.pre * a.size;
      for (auto b = known->second.find(a.whole() ? 1 : a.pre); *b != end; ++b) {
        split.push_back({.name = a.name, .pre = *b, .size = *std::next(b) / *b});
      }
    }
    *list = std::move(split);
  }
  return true;
}

std::string text(const AxisList& axes) {
  std::string out;
  for (const AxisRef& a : axes) out += (out.empty() ? "" : ", ") + a.to_string();
  return "{" + out + "}";
}

std::string text(const Mesh& mesh, const AxisList& axes) { return text(merged_axes(mesh, axes)); }

std::string claim(const AxisList& axes, Reduction kind) {
  return axes.empty() ? "whole" : fmt::format("a partial {} over {}", name(kind), text(axes));
}

bool may_be_view(const Extents& a, const Extents& b) {
  return a.size() == b.size() && element_count(a) == element_count(b);
}

std::optional<int64_t> first_apart(const BoxOfWhole& a, const BoxOfWhole& b, int64_t count) {
  constexpr int64_t kMostLooks = 4096;
  const auto place_in_whole = [](const BoxOfWhole& of, int64_t place) {
    int64_t at = 0;
    const std::vector<int64_t> index = of.box.index_at(of.skip + place);
    for (size_t d = 0; d < index.size(); ++d) at = at * of.whole[d] + index[d];
    return at;
  };
  const int64_t stride = std::max<int64_t>(1, count / kMostLooks);
  for (int64_t i = 0; i < count; i += i < kMostLooks / 2 ? 1 : stride) {
    if (place_in_whole(a, i) != place_in_whole(b, i)) return i;
  }
  return std::nullopt;
}

std::string element_text(const BoxOfWhole& a, int64_t place) {
  return fmt::format("[{}] of {}", fmt::join(a.box.index_at(a.skip + place), ", "),
                     fmt::join(a.whole, "x"));
}

const ShardType* shard(const Code& code, LayoutIndex layout) {
  return layout == kNoLayout ? nullptr : std::get_if<ShardType>(&code.layouts[layout].type);
}

LayoutIndex after(const CodeInstruction& c, size_t operand) {
  return c.becomes[operand] == kNoLayout ? c.layouts[operand] : c.becomes[operand];
}

Sides sides_of(const CodeInstruction& c, const Instruction& source) {
  Sides sides;
  for (size_t o = 0; o < source.operands.size(); ++o) {
    if (c.operands[o] == kNoRegister) continue;
    const Access access = source.operands[o].access;
    if (reads(access)) sides.in = o;
    if (writes(access)) sides.out = o;
  }
  return sides;
}

std::string buffer_name(const Code& code, const CodeInstruction& c, size_t operand) {
  return code.register_name(c.operands[operand]);
}

namespace {

/// True if the rank enters the branch of the `where` that contains `inside`; nullopt if only the
/// run can tell.
std::optional<bool> enters(const Code& code, CodeIndex where, CodeIndex inside, Rank rank) {
  const CodeInstruction& c = code.instructions[where];
  int64_t holds = 0;
  if (code.source(where).attributes.has("mesh")) {
    holds = code.rank_tables[c.membership][static_cast<size_t>(rank)];
  } else {
    if (c.exprs.empty() || !code.exprs[c.exprs[0]].is_static()) return std::nullopt;
    if (!code.exprs[c.exprs[0]].evaluate(nullptr, code.rank_tables, rank, holds))
      return std::nullopt;
  }
  const bool in_first = inside < c.jump;
  return (holds != 0) == in_first;
}

}  // namespace

bool one_rank_of_each_group(const Code& code, CodeIndex index, const AxisList& axes) {
  std::vector<bool> executes(static_cast<size_t>(code.rank_count), true);
  for (CodeIndex at = code.instructions[index].parent; at != kNoCode;
       at = code.instructions[at].parent) {
    if (record(code.instructions[at].kind).role != HostRole::kBranch) continue;
    for (Rank r = 0; r < code.rank_count; ++r) {
      if (!enters(code, at, index, r).value_or(true)) executes[static_cast<size_t>(r)] = false;
    }
  }
  for (const std::vector<int64_t>& group : groups_over(*code.world, axes)) {
    const auto count = std::count_if(group.begin(), group.end(), [&](int64_t rank) {
      return executes[static_cast<size_t>(rank)];
    });
    if (count > 1) return false;
  }
  return true;
}

Aliases::Aliases(const Code& code) : group_(code.registers.size()) {
  for (uint32_t r = 0; r < group_.size(); ++r) group_[r] = r;
  const auto find = [&](uint32_t reg) {
    while (group_[reg] != reg) reg = group_[reg] = group_[group_[reg]];
    return reg;
  };
  const auto join = [&](uint32_t a, uint32_t b) {
    if (a < group_.size() && b < group_.size()) group_[find(a)] = find(b);
  };
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    if (c.role != CodeRole::kInstruction) continue;
    for (const auto* moves : {&c.moves, &c.exit_moves}) {
      for (const RegisterMove& m : *moves) join(m.to, m.from);
    }
    if (record(c.kind).role == HostRole::kView && !c.operands.empty() && !c.results.empty())
      join(c.results[0], c.operands[0]);
    for (size_t o = 0; o < c.operands.size(); ++o) {
      if (code.source(i).operands[o].becomes && c.operands[o] != kNoRegister)
        relabelled_.push_back(c.operands[o]);
    }
  }
  for (uint32_t r = 0; r < group_.size(); ++r) group_[r] = find(r);
}

bool Aliases::relabelled_elsewhere(uint32_t reg) const {
  return std::any_of(relabelled_.begin(), relabelled_.end(),
                     [&](uint32_t other) { return other != reg && group_[other] == group_[reg]; });
}

std::vector<bool> moved_buffers(const Code& code, const Aliases& aliases) {
  std::vector<bool> moved_group(code.registers.size(), false);
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    const CommunicationFacts* facts =
        c.role == CodeRole::kInstruction ? communication_facts(c.kind) : nullptr;
    if (facts == nullptr) continue;
    const bool routes = facts->point_to_point || facts->in == CommunicationFacts::Part::kFree ||
                        facts->in == CommunicationFacts::Part::kBlocks;
    for (size_t o = 0; routes && o < c.operands.size(); ++o) {
      const bool writes = code.source(i).operands[o].access >= Access::kWrite;
      if (writes && c.operands[o] != kNoRegister) moved_group[aliases.group(c.operands[o])] = true;
    }
  }
  std::vector<bool> moved;
  for (uint32_t r = 0; r < moved_group.size(); ++r) moved.push_back(moved_group[aliases.group(r)]);
  return moved;
}

}  // namespace hostir::interp::claims
