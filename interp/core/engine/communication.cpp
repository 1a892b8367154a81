#include "interp/core/engine/communication.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "hostir/ops/record.h"
#include "hostir/support/hash.h"
#include "interp/core/engine/communication_counts.h"
#include "interp/core/engine/operand_overlap.h"

namespace hostir::interp {

namespace {

using Part = CommunicationFacts::Part;

using Sides = CommunicationSides;

Sides sides_of(const CodeInstruction& code, const IssuePlan& plan) {
  Sides s;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferRef& ref = plan.refs[i];
    const uint32_t operand = plan.buffers[i].operand;
    const LayoutIndex after = ref.after != nullptr ? code.becomes[operand] : code.layouts[operand];
    if (ref.access != Access::kWrite) {
      s.in = &ref;
      s.in_place = ref.placement;
      s.in_layout = code.layouts[operand];
    }
    if (ref.access != Access::kRead) {
      s.out = &ref;
      s.out_place = ref.after != nullptr ? ref.after : ref.placement;
      s.out_layout = after;
    }
    s.in_place_form = ref.access == Access::kReadWrite;
  }
  return s;
}

// A view of one block of a contiguous buffer.
BufferRef block_of(const BufferRef& whole, const MemberCounts& counts, int32_t position,
                   int64_t element_bytes) {
  BufferRef block = whole;
  block.offset_bytes += counts.offset(static_cast<size_t>(position)) * element_bytes;
  block.size_bytes = counts[static_cast<size_t>(position)] * element_bytes;
  return block;
}

}  // namespace

// Elements of each member's block, from the layout of the block or by cutting the whole. Equal on
// all members, so only the first one computes them.
MemberCounts CommunicationResolver::block_counts(const Step& step, std::span<const Rank> members,
                                                 LayoutIndex block, int64_t total, int64_t row) {
  const int32_t group =
      run_.code->communicators[step.code.comm].group_of_rank[static_cast<size_t>(step.rank)];
  const auto [at, added] = block_index_.try_emplace({step.code.comm, group, block, total, row});
  if (!added) return at->second;
  // A shard's layout gives the size of every member's block. Other layouts do if the sizes add up
  // to the whole.
  if (block != kNoLayout && run_.code->layouts[block].is_static() &&
      (total >= 0 || std::holds_alternative<ShardType>(run_.code->layouts[block].type))) {
    std::vector<int64_t> counts;
    for (const Rank m : members) {
      counts.push_back(run_.code->layouts[block].by_rank[static_cast<size_t>(m)].box.volume());
    }
    if (total < 0 || std::accumulate(counts.begin(), counts.end(), int64_t{0}) == total) {
      return at->second = member_counts_.keep(std::move(counts));
    }
  }
  if (total >= 0) at->second = member_counts_.keep(cut_counts(total, row, members.size()));
  return at->second;
}

// The same communication on other buffers, or at other offsets.
void CommunicationResolver::move_buffers(IssuePlan& plan, const CommunicationFacts& facts) {
  CommunicationItem& item = plan.communication.item;
  for (const BufferRef& ref : plan.refs) {
    for (BufferRef* side : {&item.in, &item.out}) {
      const bool wanted =
          ref.access == Access::kReadWrite || (ref.access == Access::kRead) == (side == &item.in);
      if (!wanted) continue;
      side->allocation = ref.allocation;
      side->offset_bytes = ref.offset_bytes;
      side->size_bytes = ref.size_bytes;
      if (ref.access != Access::kReadWrite) continue;
      const int64_t bytes = size_bytes(item.dtype);
      if (side == &item.in && facts.in == Part::kBlock) {
        *side = block_of(ref, item.recv_counts, item.position, bytes);
      }
      if (side == &item.out && facts.out == Part::kBlock) {
        *side = block_of(ref, item.send_counts, item.position, bytes);
      }
    }
  }
}

bool CommunicationResolver::resolve(Step& step, ResolvedCall& out) {
  const Communicator& comm = run_.code->communicators[step.code.comm];
  const int32_t group = comm.group_of_rank[static_cast<size_t>(step.rank)];
  const CommunicationFacts& facts = *communication_facts(step.code.kind);
  if (group < 0) {
    Communicator groups = comm;
    groups.axes.clear();
    const std::string made_over = comm.axes.empty() ? "" : comm.to_string() + ", ";
    return faults_.fault(
        step, "not_a_member",
        fmt::format("rank {}: {} on {}{}, but the rank is not a member of any of its groups",
                    step.rank, faults_.name_of(step), made_over, groups.to_string()));
  }
  IssuePlan& bound = operands_.plan(step);
  if (!operands_.bind_buffers(step, bound)) return false;
  for (const PlannedBuffer& b : bound.buffers) {
    if (b.shape == 0) continue;
    return faults_.fault(
        step, "collective_strided",
        fmt::format("rank {}: {} needs contiguous buffers, {} is a strided view", step.rank,
                    faults_.name_of(step), run_.code->register_name(b.reg)));
  }
  const bool is_plans_own = &out == &bound.communication;
  if (bound.communication_fixed && is_plans_own) {
    move_buffers(bound, facts);
    return true;
  }
  const Sides sides = sides_of(step.code, bound);
  CommunicationItem& item = out.item;
  item.in = sides.in != nullptr ? *sides.in : BufferRef{};
  item.out = sides.out != nullptr ? *sides.out : BufferRef{};
  item.code = step.index;
  item.comm = step.code.comm;
  item.members = comm.groups[static_cast<size_t>(group)];
  item.position = comm.position_of_rank[static_cast<size_t>(step.rank)];
  const Placement* any = sides.in_place != nullptr ? sides.in_place : sides.out_place;
  if (any != nullptr) item.dtype = any->dtype;
  if (!resolve_positions(step, item, facts)) return false;
  if (!check_sides(step, item, facts, sides)) return false;

  Arrival& arrival = out.arrival;
  arrival = Arrival{};
  arrival.placement = any;
  // Only the root's input of a broadcast counts, and only the root's output of a reduce.
  const bool is_root = item.root == item.position;
  const bool reads = facts.root != CommunicationFacts::RootHas::kInput || is_root;
  const bool writes = facts.root != CommunicationFacts::RootHas::kOutput || is_root;
  for (const auto& [part, placed, used] : {std::tuple{facts.in, sides.in_place, reads},
                                           std::tuple{facts.out, sides.out_place, writes}}) {
    if (part != Part::kWhole || placed == nullptr || !used) continue;
    arrival.total_elems = placed->box.volume();
    if (placed->blocks.empty()) arrival.row_elems = row_elems(*placed);
  }
  arrival.local_elems = arrival.total_elems;
  if (!resolve_block(step, out, facts, sides)) return false;
  if (!check_layouts(step, out, facts, sides)) return false;
  if (facts.in == Part::kBlocks && !resolve_blocks(step, out, sides.in_place, sides.out_place)) {
    return false;
  }
  if (facts.in == Part::kFree) resolve_routes(out, sides.in_place, sides.out_place);
  hash_call(step, out);
  if (is_plans_own) bound.communication_fixed = depends_on_nothing(step.code, bound);
  return true;
}

// Root, peer, or pairs: the positions named by the instruction.
bool CommunicationResolver::resolve_positions(Step& step, CommunicationItem& item,
                                              const CommunicationFacts& facts) {
  const Instruction& source = run_.code->source(step.index);
  item.peer = item.root = -1;
  item.pairs = {};
  item.send_counts = {};
  item.recv_counts = {};
  item.reduction = source.attributes.get_or<Reduction>("reduction", Reduction::kSum);
  const auto n = static_cast<int64_t>(item.members.size());
  const auto outside = [&](int64_t position) {
    if (position >= 0 && position < n) return false;
    faults_.fault(step, "index_error",
                  fmt::format("rank {}: position {} of {} is not in a group of {}", step.rank,
                              position, faults_.name_of(step), n));
    return true;
  };
  int64_t position = 0;
  if (step.code.position_expr != kNoExpr) {
    if (!operands_.evaluate(step, step.code.position_expr, position)) return false;
    if (source.attributes.has("shift")) {
      auto& pairs = routes_[{step.index, item.members.size(), position}];
      for (auto p = static_cast<int64_t>(pairs.size()); p < n; ++p) {
        pairs.emplace_back(static_cast<int32_t>(p),
                           static_cast<int32_t>(((p + position) % n + n) % n));
      }
      item.pairs = pairs;
    } else if (outside(position)) {
      return false;
    } else {
      (facts.point_to_point ? item.peer : item.root) = static_cast<int32_t>(position);
    }
  }
  if (const auto* given = source.attributes.get<IntLists>("pairs")) {
    auto& pairs = routes_[{step.index, item.members.size(), 0}];
    for (size_t p = pairs.size(); p < given->size(); ++p) {
      const auto& pair = (*given)[p];
      if (pair.size() != 2 || outside(pair[0]) || outside(pair[1])) return false;
      pairs.emplace_back(static_cast<int32_t>(pair[0]), static_cast<int32_t>(pair[1]));
    }
    item.pairs = pairs;
  }
  return true;
}

bool CommunicationResolver::check_sides(Step& step, const CommunicationItem& item,
                                        const CommunicationFacts& facts,
                                        const CommunicationSides& sides) {
  using RootHas = CommunicationFacts::RootHas;
  const bool is_root = item.root == item.position;
  bool sends = facts.in != Part::kNone && (facts.root != RootHas::kInput || is_root);
  bool receives = facts.out != Part::kNone && (facts.root != RootHas::kOutput || is_root);
  if (facts.in == Part::kFree) {
    sends = receives = false;
    for (const auto& [source, target] : item.pairs) {
      sends = sends || source == item.position;
      receives = receives || target == item.position;
    }
  }
  const bool no_input = sends && sides.in == nullptr;
  if (!no_input && (!receives || sides.out != nullptr)) return true;
  // The members' roots are compared only when all have arrived.
  const std::string root =
      is_root ? fmt::format(", as its root, position {}; check that every member names this root",
                            item.root)
              : "";
  return faults_.fault(
      step, "collective_mismatch",
      fmt::format("rank {}: {} has no {} although this rank {}{}", step.rank, faults_.name_of(step),
                  no_input ? "input" : "output", no_input ? "sends" : "receives", root));
}

// This member's block of the whole, and the counts of all members.
bool CommunicationResolver::resolve_block(Step& step, ResolvedCall& out,
                                          const CommunicationFacts& facts,
                                          const CommunicationSides& sides) {
  CommunicationItem& item = out.item;
  Arrival& arrival = out.arrival;
  const bool is_input = facts.in == Part::kBlock;
  if (!is_input && facts.out != Part::kBlock) return true;
  const Placement* block = is_input ? sides.in_place : sides.out_place;
  if (block == nullptr) return true;
  // In place and with the layout unchanged, the buffer is the whole and the block a part of it.
  const bool part = sides.in_place_form && block->box.volume() == arrival.total_elems;
  const LayoutIndex layout = part ? kNoLayout : is_input ? sides.in_layout : sides.out_layout;
  const int64_t row = arrival.row_elems > 0 ? arrival.row_elems : row_elems(*block);
  const MemberCounts counts = block_counts(step, item.members, layout, arrival.total_elems, row);
  arrival.local_elems = block->box.volume();
  if (counts.empty()) return true;
  if (arrival.total_elems < 0) arrival.total_elems = counts.total();
  const int64_t own = counts[static_cast<size_t>(item.position)];
  if (part) arrival.local_elems = own;
  if (counts.total() != arrival.total_elems || own != arrival.local_elems) {
    const size_t at = step.code.comm * static_cast<size_t>(run_.code->rank_count) +
                      static_cast<size_t>(step.rank);
    return faults_.fault(
        step, "collective_mismatch",
        fmt::format("{} seq {}: rank {} {} has a block of {} elements at position {}, "
                    "where {} of {} belong (at {})",
                    run_.code->communicators[step.code.comm].to_string(),
                    run_.state.ledger.next_sequence[at], step.rank, record(step.code.kind).mnemonic,
                    arrival.local_elems, item.position, own, arrival.total_elems,
                    run_.code->address(step.index)));
  }
  if (sides.in_place_form) {
    const int64_t bytes = size_bytes(item.dtype);
    BufferRef& side = is_input ? item.in : item.out;
    side = block_of(is_input ? *sides.in : *sides.out, counts, item.position, bytes);
  }
  (is_input ? item.recv_counts : item.send_counts) = counts;
  if (facts.root != CommunicationFacts::RootHas::kNothing && item.root == item.position)
    arrival.blocks = counts;
  return true;
}

// Hashes everything that must be equal on all members.
void CommunicationResolver::hash_call(const Step& step, ResolvedCall& out) {
  const CommunicationItem& item = out.item;
  Arrival& arrival = out.arrival;
  arrival.kind = step.code.kind;
  arrival.dtype = item.dtype;
  arrival.reduction = item.reduction;
  arrival.root = item.root;
  const std::array<int64_t, 6> all = {static_cast<int64_t>(step.code.kind),
                                      static_cast<int64_t>(item.dtype),
                                      static_cast<int64_t>(item.reduction),
                                      item.root,
                                      arrival.total_elems,
                                      arrival.row_elems};
  arrival.fingerprint = hash_of(std::as_bytes(std::span(all)));
  for (const auto& pair : item.pairs) {
    const std::array<int64_t, 2> ends = {pair.first, pair.second};
    arrival.fingerprint = hash_of(std::as_bytes(std::span(ends)), arrival.fingerprint);
  }
}

// True if the next execution can differ only in the buffers' addresses.
bool CommunicationResolver::depends_on_nothing(const CodeInstruction& c,
                                               const IssuePlan& bound) const {
  const auto is_fixed = [&](IndexCodeId e) {
    return e == kNoExpr || run_.code->exprs[e].is_static();
  };
  return is_fixed(c.position_expr) && std::all_of(c.exprs.begin(), c.exprs.end(), is_fixed) &&
         std::all_of(c.more_exprs.begin(), c.more_exprs.end(), is_fixed) &&
         std::all_of(bound.buffers.begin(), bound.buffers.end(),
                     [](const PlannedBuffer& b) { return b.ready; });
}

int64_t CommunicationResolver::bytes_of(const ResolvedCall& item) {
  const Arrival& a = item.arrival;
  return std::max(a.total_elems, a.local_elems) * size_bytes(a.dtype);
}

bool CommunicationResolver::check_overlap(Step& step, const ResolvedCall& open) {
  const BufferRef& in = open.item.in;
  const BufferRef& out = open.item.out;
  if (!share_bytes(in, out)) return true;
  const CommunicationFacts& facts = *communication_facts(step.code.kind);
  const auto place = [&](const BufferRef& whole, const MemberCounts& counts) {
    const int64_t before =
        counts.empty() ? 0 : counts.offset(static_cast<size_t>(open.item.position));
    return whole.offset_bytes + before * size_bytes(open.item.dtype);
  };
  bool is_input = false;  // this rank's block is the input, not the output
  int64_t begins = out.offset_bytes;
  int64_t expected = in.offset_bytes;
  if (facts.in == Part::kBlock && facts.out == Part::kWhole) {
    is_input = true;
    begins = in.offset_bytes;
    expected = place(out, open.item.recv_counts);
  } else if (facts.in == Part::kWhole && facts.out == Part::kBlock) {
    expected = place(in, open.item.send_counts);
  }
  if (begins == expected) return true;
  return faults_.fault(
      step, "collective_overlap",
      fmt::format("rank {}: input and output of {} overlap, and not as NCCL's in-place "
                  "form: the {} begins at byte {} of the buffer, in place it would be {}",
                  step.rank, faults_.name_of(step), is_input ? "input" : "output", begins,
                  expected));
}

}  // namespace hostir::interp
