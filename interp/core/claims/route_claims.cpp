// Checks ops that move values unchanged against the layouts of their source and target.
//
// permute and all_to_all move blocks between ranks, views give the same bytes another type. Where
// both layouts are shards of one global shape, the box that is sent must be the box in the
// receiver's layout; if one shape is a view of the other, it must hold the same elements. If both
// layouts are the same, values are moved on purpose (a ring, a dispatch of tokens), and only
// replicas must stay equal. A view of other global sizes must hold the same elements in row-major
// order of the whole.

#include <fmt/format.h>

#include <map>
#include <optional>
#include <utility>

#include "hostir/ir/box_text.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/core/claims/claims.h"
#include "interp/core/communication_facts.h"

namespace hostir::interp::claims {

namespace {

using Part = CommunicationFacts::Part;

struct Moved {
  const Code& code;
  CodeIndex index;
  const CodeInstruction& c;
  const Instruction& source;
  size_t in;
  size_t out;
  const LayoutTable& from;
  const LayoutTable& to;
};

const LayoutTable* placed_shard(const Code& code, LayoutIndex layout) {
  if (shard(code, layout) == nullptr || !code.layouts[layout].is_static()) return nullptr;
  return &code.layouts[layout];
}

std::optional<Moved> moved_by(const Code& code, CodeIndex index) {
  const CodeInstruction& c = code.instructions[index];
  const Instruction& source = code.source(index);
  const auto [in, out] = sides_of(c, source);
  if (!in || !out) return std::nullopt;
  const LayoutTable* from = placed_shard(code, c.layouts[*in]);
  const LayoutTable* to = placed_shard(code, after(c, *out));
  if (from == nullptr || to == nullptr) return std::nullopt;
  return Moved{code, index, c, source, *in, *out, *from, *to};
}

// (source, target) positions; nullopt if they differ by rank or are known only at run time.
std::optional<std::vector<std::pair<int64_t, int64_t>>> pairs_of(const Moved& m, int64_t members) {
  std::vector<std::pair<int64_t, int64_t>> out;
  if (const auto* pairs = m.source.attributes.get<IntLists>("pairs")) {
    for (const auto& pair : *pairs) {
      if (pair.size() != 2) return std::nullopt;
      for (const int64_t p : pair) {
        if (p < 0 || p >= members) return std::nullopt;
      }
      out.emplace_back(pair[0], pair[1]);
    }
    return out;
  }
  if (m.c.position_expr == kNoExpr) return std::nullopt;
  const IndexCode& shift = m.code.exprs[m.c.position_expr];
  std::optional<int64_t> by;
  for (Rank r = 0; r < m.code.rank_count; ++r) {
    int64_t value = 0;
    if (!shift.is_static() || !shift.evaluate(nullptr, m.code.rank_tables, r, value) ||
        (by && *by != value))
      return std::nullopt;
    by = value;
  }
  if (!by) return std::nullopt;
  for (int64_t p = 0; p < members; ++p)
    out.emplace_back(p, ((p + *by % members) % members + members) % members);
  return out;
}

const Extents& whole(const LayoutTable& table) { return table.by_rank[0].global; }

// True if a box of the source is the same part as a box of the target, which may be a view of the
// whole with other sizes. Boxes of different volumes differ only within one shape: elsewhere the
// sizes prove nothing, and the run compares them.
bool same_part(const Moved& m, const Box& sent, const Box& wanted) {
  if (whole(m.from) == whole(m.to)) return sent == wanted;
  if (sent.volume() != wanted.volume()) return true;
  return !first_apart({sent, whole(m.from)}, {wanted, whole(m.to)}, sent.volume());
}

tl::unexpected<Error> wrong_box(const Moved& m, Rank from, const Box& sent, Rank to,
                                const Box& wanted) {
  const bool one_shape = whole(m.from) == whole(m.to);
  const auto in = [&](size_t operand, const LayoutTable& table) {
    const std::string name = buffer_name(m.code, m.c, operand);
    return one_shape ? name : fmt::format("{} ({})", name, fmt::join(whole(table), "x"));
  };
  return fail_at(
      ErrorKind::kInvalid, "collective_layout",
      fmt::format("{} {}: rank {} sends {} of {} to rank {}, whose {} declares {} there{}; check "
                  "that positions and layouts agree, or pack the blocks",
                  m.code.address(m.index), record(m.c.kind).mnemonic, from, to_string(sent),
                  in(m.in, m.from), to, in(m.out, m.to), to_string(wanted),
                  one_shape ? "" : ", other elements in row-major order"),
      m.source.operands[m.out].span);
}

bool same_boxes(const Moved& m) {
  for (size_t r = 0; r < m.from.by_rank.size(); ++r) {
    const Placement& a = m.from.by_rank[r];
    const Placement& b = m.to.by_rank[r];
    if (!same_part(m, a.box, b.box)) return false;
    if (a.blocks.size() != b.blocks.size()) return false;
    for (size_t k = 0; k < a.blocks.size(); ++k) {
      if (!same_part(m, a.blocks[k], b.blocks[k])) return false;
    }
  }
  return true;
}

// A position that nobody sends to gets zeros, so it must not be a replica of one that receives
// data.
Expected<void> check_zeros(const Moved& m, const std::vector<Rank>& members,
                           const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  std::vector<bool> gets(members.size(), false);
  for (const auto& pair : pairs) gets[static_cast<size_t>(pair.second)] = true;
  for (size_t p = 0; p < members.size(); ++p) {
    const Box& box = m.to.by_rank[static_cast<size_t>(members[p])].box;
    if (gets[p] || box.empty()) continue;
    for (size_t q = 0; q < members.size(); ++q) {
      if (!gets[q] || m.to.by_rank[static_cast<size_t>(members[q])].box != box) continue;
      return contradiction(
          fmt::format("{}: no rank sends to position {} (rank {}), which gets zeros; the layout of "
                      "{} says that it holds the same as rank {}",
                      record(m.c.kind).mnemonic, p, members[p], buffer_name(m.code, m.c, m.out),
                      members[q]),
          m.source.operands[m.out]);
    }
  }
  return {};
}

Expected<void> check_permute(const Moved& m) {
  const bool alike = same_boxes(m);
  const bool partial = shard(m.code, after(m.c, m.out))->sharding->is_partial();
  for (const std::vector<Rank>& members : m.code.communicators[m.c.comm].groups) {
    const auto pairs = pairs_of(m, static_cast<int64_t>(members.size()));
    if (!pairs) return {};
    if (!partial) HOSTIR_TRY(check_zeros(m, members, *pairs));
    for (const auto& [source, target] : *pairs) {
      const Rank s = members[static_cast<size_t>(source)];
      const Rank t = members[static_cast<size_t>(target)];
      const Box& sent = m.from.by_rank[static_cast<size_t>(s)].box;
      const Box& wanted = m.to.by_rank[static_cast<size_t>(t)].box;
      if (alike || sent.empty() || wanted.empty() || same_part(m, sent, wanted)) continue;
      return wrong_box(m, s, sent, t, wanted);
    }
  }
  return {};
}

// The box of the k-th of n equal blocks of a buffer; nullopt if they are not equal or not boxes.
std::optional<Box> block_box(const Placement& p, size_t k, size_t n) {
  if (!p.blocks.empty()) {
    if (p.blocks.size() != n) return std::nullopt;
    return p.blocks[k];
  }
  if (p.box.lo.empty()) return std::nullopt;
  const int64_t rows = p.box.hi[0] - p.box.lo[0];
  const auto parts = static_cast<int64_t>(n);
  if (rows % parts != 0) return std::nullopt;
  Box box = p.box;
  box.lo[0] += static_cast<int64_t>(k) * (rows / parts);
  box.hi[0] = box.lo[0] + rows / parts;
  return box;
}

Expected<void> check_all_to_all(const Moved& m) {
  if (!m.c.exprs.empty() || !m.c.more_exprs.empty() || same_boxes(m)) return {};
  for (const std::vector<Rank>& members : m.code.communicators[m.c.comm].groups) {
    const size_t n = members.size();
    for (size_t p = 0; p < n; ++p) {
      for (size_t q = 0; q < n; ++q) {
        const auto sent = block_box(m.from.by_rank[static_cast<size_t>(members[p])], q, n);
        const auto wanted = block_box(m.to.by_rank[static_cast<size_t>(members[q])], p, n);
        if (!sent || !wanted) return {};
        if (sent->volume() != wanted->volume() || sent->empty()) continue;
        if (same_part(m, *sent, *wanted)) continue;
        return wrong_box(m, members[p], *sent, members[q], *wanted);
      }
    }
  }
  return {};
}

// Where a subview begins in its operand on a rank; nullopt if only the run can tell.
std::optional<Extents> static_starts(const Code& code, const CodeInstruction& c, Rank rank) {
  Extents starts;
  for (const IndexCodeId e : c.exprs) {
    int64_t start = 0;
    if (!code.exprs[e].is_static() ||
        !code.exprs[e].evaluate(nullptr, code.rank_tables, rank, start))
      return std::nullopt;
    starts.push_back(start);
  }
  return starts;
}

bool is_parameter(const Code& code, uint32_t reg) { return contains(code.parameters, reg); }

// The box of the global value that a view of type `y` covers if it begins at `starts` in part `x`.
Box taken_by(const Placement& x, const Placement& y, const Extents& starts) {
  Box taken = y.box;
  for (size_t d = 0; d < starts.size(); ++d) {
    taken.lo[d] = x.box.lo[d] + starts[d];
    taken.hi[d] = taken.lo[d] + y.box.hi[d] - y.box.lo[d];
  }
  return taken;
}

// A subview may have the type of another value. Ranks that hold the same part of that value must
// have taken the same elements.
Expected<void> check_equal_subviews(const Code& code, CodeIndex index, const LayoutTable& from,
                                    const LayoutTable& to) {
  const CodeInstruction& c = code.instructions[index];
  std::map<std::pair<Extents, Extents>, std::pair<size_t, Box>> first;  // by box of the view
  for (size_t r = 0; r < from.by_rank.size() && r < to.by_rank.size(); ++r) {
    const Placement& x = from.by_rank[r];
    const Placement& y = to.by_rank[r];
    if (!x.blocks.empty() || !y.blocks.empty() || y.box.empty() || x.box.empty()) continue;
    const std::optional<Extents> starts = static_starts(code, c, static_cast<Rank>(r));
    if (!starts || starts->size() != y.box.lo.size()) return {};
    const Box taken = taken_by(x, y, *starts);
    const auto [at, is_first] = first.try_emplace({y.box.lo, y.box.hi}, r, taken);
    const auto& [other, other_taken] = at->second;
    if (is_first || other_taken == taken) continue;
    return fail_at(
        ErrorKind::kInvalid, "view_layout",
        fmt::format(
            "subview of {} takes elements {} of the whole on rank {} and {} on rank {}, but "
            "the type of {}, {}, says that both hold the same",
            code.register_name(c.operands[0]), to_string(other_taken), other, to_string(taken), r,
            code.register_name(c.results[0]), sharding_of(to.type)->to_string()),
        code.source(index).operands[0].span);
  }
  return {};
}

// A view of a part must cover the part that the view's type declares. `from`: the operand's layout,
// either a shard's or that of a plain parameter that holds the whole value.
Expected<void> check_subview(const Code& code, CodeIndex index, const LayoutTable& from,
                             const LayoutTable& to) {
  const CodeInstruction& c = code.instructions[index];
  for (size_t r = 0; r < from.by_rank.size() && r < to.by_rank.size(); ++r) {
    const Placement& x = from.by_rank[r];
    const Placement& y = to.by_rank[r];
    if (!x.blocks.empty() || !y.blocks.empty()) return {};
    if (x.global != y.global) {
      // What is in a parameter is known; other buffers may hold blocks of several ranks.
      return is_parameter(code, c.operands[0]) ? check_equal_subviews(code, index, from, to)
                                               : Expected<void>();
    }
    const std::optional<Extents> starts = static_starts(code, c, static_cast<Rank>(r));
    if (!starts || starts->size() != y.box.lo.size()) return {};
    const Box taken = taken_by(x, y, *starts);
    if (y.box.volume() == 0 || taken == y.box) continue;
    return fail_at(ErrorKind::kInvalid, "view_layout",
                   fmt::format("subview of {} takes elements {} of the whole on rank {}, but the "
                               "type of {}, {}, says that it holds {} there; a view does not move "
                               "elements",
                               code.register_name(c.operands[0]), to_string(taken), r,
                               code.register_name(c.results[0]), sharding_of(to.type)->to_string(),
                               to_string(y.box)),
                   code.source(index).operands[0].span);
  }
  return {};
}

}  // namespace

Expected<void> check_routes(const Code& code, CodeIndex index, const std::vector<bool>& moved) {
  const CommunicationFacts& facts = *communication_facts(code.instructions[index].kind);
  const bool routes = facts.in == Part::kFree || facts.in == Part::kBlocks;
  if (!routes || facts.point_to_point || code.instructions[index].comm == kNoComm) return {};
  const std::optional<Moved> m = moved_by(code, index);
  if (!m || (moved[m->c.operands[m->in]] && m->in != m->out)) return {};
  // The same position may be different ranks on two meshes.
  if (sharding_of(m->from.type)->mesh != sharding_of(m->to.type)->mesh) return {};
  if (!may_be_view(whole(m->from), whole(m->to))) return {};
  return facts.in == Part::kFree ? check_permute(*m) : check_all_to_all(*m);
}

Expected<void> check_view(const Code& code, CodeIndex index, const std::vector<bool>& moved,
                          const Aliases& aliases) {
  const CodeInstruction& c = code.instructions[index];
  if (c.operands.empty() || c.operands[0] == kNoRegister) return {};
  const uint32_t reg = c.operands[0];
  const LayoutTable* from = placed_shard(code, c.layouts[0]);
  const LayoutTable* to = placed_shard(code, c.result_layout);
  if (to == nullptr || aliases.relabelled_elsewhere(reg)) return {};
  const bool is_part = code.source(index).attributes.has("starts");
  if (from == nullptr) {
    const bool given = is_parameter(code, reg);
    const bool placed = c.layouts[0] != kNoLayout && code.layouts[c.layouts[0]].is_static();
    if (!given || !placed || !is_part || moved[reg]) return {};
    return check_subview(code, index, code.layouts[c.layouts[0]], *to);
  }
  const Sharding& a = *shard(code, c.layouts[0])->sharding;
  const Sharding& b = *shard(code, c.result_layout)->sharding;
  const Operand& operand = code.source(index).operands[0];
  const std::string_view op = record(c.kind).mnemonic;
  if (a.mesh != b.mesh) return {};
  if (!without(a.unreduced, b.unreduced).empty() || !without(b.unreduced, a.unreduced).empty()) {
    return contradiction(
        fmt::format("{} of {}, which is {}; the type of {} says that it is {}: a view does not "
                    "reduce; use a reduction",
                    op, code.register_name(reg), claim(a.unreduced, a.unreduced_kind),
                    code.register_name(c.results[0]), claim(b.unreduced, b.unreduced_kind)),
        operand);
  }
  if (is_part && !moved[reg]) return check_subview(code, index, *from, *to);
  if (!is_part && !moved[reg]) {
    for (size_t r = 0; r < from->by_rank.size() && r < to->by_rank.size(); ++r) {
      const Placement& x = from->by_rank[r];
      const Placement& y = to->by_rank[r];
      if (!x.blocks.empty() || !y.blocks.empty()) return {};
      if (element_count(x.global) != element_count(y.global)) return {};
      if (x.box.volume() != y.box.volume()) continue;
      const BoxOfWhole had{x.box, x.global}, has{y.box, y.global};
      const auto at = first_apart(had, has, x.box.volume());
      if (!at) continue;
      return fail_at(
          ErrorKind::kInvalid, "view_layout",
          fmt::format("{} of {} {} as {}: on rank {} element {} is {} and would be {}; a view does "
                      "not move elements; use reshard",
                      op, code.register_name(reg), a.to_string(), b.to_string(), r, *at,
                      element_text(had, *at), element_text(has, *at)),
          operand.span);
    }
  }
  return {};
}

}  // namespace hostir::interp::claims
