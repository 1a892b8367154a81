// What one rank states about a communication instruction: members, counts, root, blocks.
//
// 1. Operands are bound. 2. The facts of the op say which operand is the whole and which this
// member's block. 3. Counts follow from the members' boxes where the block has a layout, else from
// cutting the whole's rows by ceil(n/k). 4. A fingerprint over all that must be equal is made. What
// does not depend on registers is kept in the plan.

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "hostir/ops/record.h"
#include "interp/core/engine.h"

namespace hostir::interp {

namespace {

using Part = CommunicationFacts::Part;

int64_t row_elems(const Placement& p) {
  const Extents local = p.local();
  int64_t row = 1;
  for (size_t d = 1; d < local.size(); ++d) row *= local[d];
  return row;
}

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

// Blocks of a whole of `total` elements in rows of `row`, cut by ceil(n/k).
std::vector<int64_t> cut_counts(int64_t total, int64_t row, size_t members) {
  std::vector<int64_t> counts;
  const int64_t rows = row > 0 ? total / row : 0;
  for (size_t p = 0; p < members; ++p) {
    const Range part = cut({0, rows}, static_cast<int64_t>(members), static_cast<int64_t>(p));
    counts.push_back((part.hi - part.lo) * row);
  }
  return counts;
}

int64_t sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

struct Sides {
  const BufferRef* in = nullptr;
  const BufferRef* out = nullptr;
  const Placement* in_place = nullptr;
  const Placement* out_place = nullptr;
  LayoutIndex in_layout = kNoLayout;
  LayoutIndex out_layout = kNoLayout;
  bool in_place_form = false;
};

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

// Elements of each member's block, by the layout of the block or by cutting the whole.
std::vector<int64_t> block_counts(const Code& code, std::span<const Rank> members,
                                  LayoutIndex block, int64_t total, int64_t row) {
  if (block != kNoLayout && code.layouts[block].is_static() &&
      std::holds_alternative<ShardType>(code.layouts[block].type)) {
    std::vector<int64_t> counts;
    for (const Rank m : members) {
      counts.push_back(code.layouts[block].by_rank[static_cast<size_t>(m)].box.volume());
    }
    if (total < 0 || sum(counts) == total) return counts;
  }
  return total < 0 ? std::vector<int64_t>{} : cut_counts(total, row, members.size());
}

// A view of one block of a contiguous buffer.
BufferRef block_of(const BufferRef& whole, const std::vector<int64_t>& counts, int32_t position,
                   int64_t element_bytes) {
  BufferRef block = whole;
  const auto end = counts.begin() + position;
  block.offset_bytes += std::accumulate(counts.begin(), end, int64_t{0}) * element_bytes;
  block.size_bytes = *end * element_bytes;
  return block;
}

}  // namespace

// The same communication on other buffers, or at other offsets.
void Engine::move_buffers(IssuePlan& plan, const CommunicationFacts& facts) {
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

bool Engine::resolve_communication(Step& step, OpenItem& out) {
  const Communicator& comm = code->communicators[step.code.comm];
  const auto r = static_cast<size_t>(step.rank);
  const int32_t group = comm.group_of_rank[r];
  const CommunicationFacts& facts = *communication_facts(step.code.kind);
  if (group < 0) {
    return fault(step, "not_a_member",
                 fmt::format("rank {}: {} on {}, in no group of which it is", step.rank,
                             name_of(step), comm.to_string()));
  }
  IssuePlan& bound = plan(step);
  if (!bind_buffers(step, bound)) return false;
  for (size_t i = 0; i < bound.refs.size(); ++i) {
    if (bound.buffers[i].shape == 0) continue;
    return fault(step, "collective_overlap",
                 fmt::format("rank {}: {} needs contiguous buffers, {} is a strided view",
                             step.rank, name_of(step),
                             code->register_name(step.code.operands[bound.buffers[i].operand])));
  }
  CommunicationItem& item = out.item;
  if (bound.communication_fixed && &out == &bound.communication) {
    move_buffers(bound, facts);
    return true;
  }
  const Sides sides = sides_of(step.code, bound);
  Arrival& arrival = out.arrival;
  item.in = sides.in != nullptr ? *sides.in : BufferRef{};
  item.out = sides.out != nullptr ? *sides.out : BufferRef{};
  const auto& members = comm.groups[static_cast<size_t>(group)];
  const Instruction& source = code->source(step.index);
  item.code = step.index;
  item.comm = step.code.comm;
  item.members = members;
  item.position = comm.position_of_rank[r];
  item.peer = item.root = -1;
  item.pairs.clear();
  item.send_counts.clear();
  item.recv_counts.clear();
  item.reduction = source.attributes.get_or<Reduction>("reduction", Reduction::kSum);
  const Placement* any = sides.in_place != nullptr ? sides.in_place : sides.out_place;
  if (any != nullptr) item.dtype = any->dtype;
  const auto n = static_cast<int64_t>(members.size());
  int64_t position = 0;
  if (step.code.position_expr != kNoExpr) {
    if (!evaluate(step, step.code.position_expr, position)) return false;
    const bool shift = source.attributes.has("shift");
    if (!shift && (position < 0 || position >= n)) {
      return fault(step, "index_error",
                   fmt::format("rank {}: position {} of {} is not in a group of {}", step.rank,
                               position, name_of(step), n));
    }
    if (shift) {
      for (int64_t p = 0; p < n; ++p) {
        item.pairs.emplace_back(static_cast<int32_t>(p),
                                static_cast<int32_t>(((p + position) % n + n) % n));
      }
    } else if (facts.point_to_point) {
      item.peer = static_cast<int32_t>(position);
    } else {
      item.root = static_cast<int32_t>(position);
    }
  }
  if (const auto* pairs = source.attributes.get<IntLists>("pairs")) {
    for (const auto& pair : *pairs) {
      if (pair.size() != 2 || pair[0] < 0 || pair[0] >= n || pair[1] < 0 || pair[1] >= n) {
        return fault(step, "index_error",
                     fmt::format("rank {}: pairs of {} name a position outside a group of {}",
                                 step.rank, name_of(step), n));
      }
      item.pairs.emplace_back(static_cast<int32_t>(pair[0]), static_cast<int32_t>(pair[1]));
    }
  }

  const bool is_root = item.root == item.position;
  using RootHas = CommunicationFacts::RootHas;
  const bool in_used = facts.in != Part::kNone && (facts.root != RootHas::kInput || is_root);
  const bool out_used = facts.out != Part::kNone && (facts.root != RootHas::kOutput || is_root);
  if ((in_used && sides.in == nullptr) || (out_used && sides.out == nullptr)) {
    return fault(step, "collective_mismatch",
                 fmt::format("rank {}: {} has no {} although this rank {}", step.rank,
                             name_of(step), in_used && sides.in == nullptr ? "input" : "output",
                             in_used && sides.in == nullptr ? "sends" : "receives"));
  }

  arrival = Arrival{};
  const auto whole_of = [&](const Placement* p) {
    arrival.total_elems = p->box.volume();
    if (p->blocks.empty()) arrival.row_elems = row_elems(*p);
  };
  if (facts.in == Part::kWhole && sides.in_place != nullptr) whole_of(sides.in_place);
  if (facts.out == Part::kWhole && sides.out_place != nullptr) whole_of(sides.out_place);
  LayoutIndex block_layout = kNoLayout;
  const Placement* block = nullptr;
  if (facts.in == Part::kBlock) {
    block = sides.in_place;
    block_layout = sides.in_layout;
  }
  if (facts.out == Part::kBlock) {
    block = sides.out_place;
    block_layout = sides.out_layout;
  }
  arrival.local_elems = arrival.total_elems;
  if (block != nullptr) {
    // In place without a change of layout the buffer is the whole and the block a part of it.
    const bool part = sides.in_place_form && block->box.volume() == arrival.total_elems;
    const LayoutIndex layout = part ? kNoLayout : block_layout;
    const int64_t row = arrival.row_elems > 0 ? arrival.row_elems : row_elems(*block);
    std::vector<int64_t> counts = block_counts(*code, members, layout, arrival.total_elems, row);
    if (arrival.total_elems < 0 && !counts.empty()) arrival.total_elems = sum(counts);
    const auto own = static_cast<size_t>(item.position);
    arrival.local_elems = part && !counts.empty() ? counts[own] : block->box.volume();
    if (!counts.empty() &&
        (sum(counts) != arrival.total_elems || counts[own] != arrival.local_elems)) {
      return fault(
          step, "collective_mismatch",
          fmt::format(
              "{} seq {}: rank {} {} has a block of {} elements at position {}, where {} "
              "of {} belong",
              comm.to_string(),
              state.ledger
                  .next_sequence[step.code.comm * static_cast<size_t>(code->rank_count) + r],
              step.rank, record(step.code.kind).mnemonic, arrival.local_elems, item.position,
              counts[own], arrival.total_elems));
    }
    if (sides.in_place_form && !counts.empty()) {
      const int64_t bytes = size_bytes(item.dtype);
      if (facts.in == Part::kBlock) item.in = block_of(*sides.in, counts, item.position, bytes);
      if (facts.out == Part::kBlock) item.out = block_of(*sides.out, counts, item.position, bytes);
    }
    (facts.in == Part::kBlock ? item.recv_counts : item.send_counts) = std::move(counts);
  }
  if (facts.in == Part::kBlocks && !resolve_blocks(step, out, sides.in_place, sides.out_place)) {
    return false;
  }
  if (facts.in == Part::kFree) {
    arrival.sends.assign(members.size(), 0);
    arrival.receives.assign(members.size(), 0);
    for (const auto& [from, to] : item.pairs) {
      if (from == item.position) {
        arrival.sends[static_cast<size_t>(to)] = sides.in_place->box.volume();
      }
      if (to == item.position) {
        arrival.receives[static_cast<size_t>(from)] = sides.out_place->box.volume();
      }
    }
    arrival.total_elems = -1;
    arrival.local_elems = sides.in_place->box.volume();
  }
  if (facts.point_to_point) arrival.local_elems = arrival.total_elems = any->box.volume();

  arrival.placement = any;
  arrival.kind = step.code.kind;
  arrival.dtype = item.dtype;
  arrival.reduction = item.reduction;
  arrival.root = item.root;
  uint64_t hash = mix(static_cast<uint64_t>(step.code.kind), static_cast<uint64_t>(item.dtype));
  hash = mix(hash, static_cast<uint64_t>(item.reduction));
  hash = mix(hash, static_cast<uint64_t>(static_cast<int64_t>(item.root)));
  hash = mix(hash, static_cast<uint64_t>(arrival.total_elems));
  hash = mix(hash, static_cast<uint64_t>(arrival.row_elems));
  for (const auto& [from, to] : item.pairs) {
    hash = mix(hash, static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to));
  }
  arrival.fingerprint = hash;
  if (&out == &bound.communication) {
    bound.communication_fixed =
        step.code.position_expr == kNoExpr || code->exprs[step.code.position_expr].is_static();
    for (const auto* list : {&step.code.exprs, &step.code.more_exprs}) {
      for (const IndexCodeId e : *list) {
        bound.communication_fixed &= e == kNoExpr || code->exprs[e].is_static();
      }
    }
    for (const PlannedBuffer& b : bound.buffers) {
      const LayoutIndex layout = step.code.layouts[b.operand];
      bound.communication_fixed &= layout != kNoLayout && code->layouts[layout].is_static();
    }
  }
  return true;
}

int64_t Engine::communication_bytes(const OpenItem& item) const {
  const Arrival& a = item.arrival;
  return std::max(a.total_elems, a.local_elems) * size_bytes(a.dtype);
}

bool Engine::check_overlap(Step& step, const OpenItem& open) {
  const BufferRef& in = open.item.in;
  const BufferRef& out = open.item.out;
  if (!in.allocation.valid() || in.allocation != out.allocation) return true;
  if (in.offset_bytes >= out.offset_bytes + out.size_bytes ||
      out.offset_bytes >= in.offset_bytes + in.size_bytes) {
    return true;
  }
  const CommunicationFacts& facts = *communication_facts(step.code.kind);
  const auto place = [&](const BufferRef& whole, const std::vector<int64_t>& counts) {
    const auto end = counts.begin() + open.item.position;
    return whole.offset_bytes +
           std::accumulate(counts.begin(), end, int64_t{0}) * size_bytes(open.item.dtype);
  };
  bool in_place = in.offset_bytes == out.offset_bytes;
  if (facts.in == Part::kBlock && facts.out == Part::kWhole) {
    in_place = in.offset_bytes == place(out, open.item.recv_counts);
  } else if (facts.in == Part::kWhole && facts.out == Part::kBlock) {
    in_place = out.offset_bytes == place(in, open.item.send_counts);
  }
  if (in_place) return true;
  return fault(step, "collective_overlap",
               fmt::format("rank {}: input and output of {} overlap, and not as NCCL's in-place "
                           "form",
                           step.rank, name_of(step)));
}

// all_to_all: what goes to and comes from each member, by `counts`/`receives` (rows), by the blocks
// of the layouts, or in equal parts.
bool Engine::resolve_blocks(Step& step, OpenItem& out, const Placement* in, const Placement* to) {
  CommunicationItem& item = out.item;
  const size_t n = item.members.size();
  const auto from_rows = [&](const std::vector<IndexCodeId>& exprs, const Placement& p,
                             std::vector<int64_t>& counts) {
    for (const IndexCodeId e : exprs) {
      int64_t rows = 0;
      if (!evaluate(step, e, rows)) return false;
      counts.push_back(rows * row_elems(p));
    }
    return true;
  };
  const auto from_layout = [&](const Placement& p, std::vector<int64_t>& counts) {
    if (p.blocks.size() == n) {
      for (const Box& b : p.blocks) counts.push_back(b.volume());
    } else {
      counts = cut_counts(p.box.volume(), row_elems(p), n);
    }
  };
  if (step.code.exprs.empty()) {
    from_layout(*in, item.send_counts);
  } else if (!from_rows(step.code.exprs, *in, item.send_counts)) {
    return false;
  }
  if (!step.code.more_exprs.empty()) {
    if (!from_rows(step.code.more_exprs, *to, item.recv_counts)) return false;
  } else if (step.code.exprs.empty()) {
    from_layout(*to, item.recv_counts);
  } else if (!receives_of(step, item, *to)) {
    return false;
  }
  const auto fits = [&](const std::vector<int64_t>& counts, const Placement& p) {
    int64_t total = 0;
    for (const int64_t c : counts) {
      if (c < 0) return false;
      total += c;
    }
    return counts.size() == n && total <= p.box.volume();
  };
  if (!fits(item.send_counts, *in) || !fits(item.recv_counts, *to)) {
    return fault(
        step, "collective_mismatch",
        fmt::format("rank {}: the counts of {} do not fit its buffers", step.rank, name_of(step)));
  }
  out.arrival.sends = item.send_counts;
  out.arrival.receives = item.recv_counts;
  out.arrival.local_elems = sum(item.send_counts);
  out.arrival.total_elems = -1;
  return true;
}

// `counts` without `receives`: what member m sends to this position, where the counts depend on
// nothing but the rank; else what the output's layout says.
bool Engine::receives_of(Step& step, CommunicationItem& item, const Placement& to) {
  const IndexCodeId own = step.code.exprs[static_cast<size_t>(item.position)];
  if (!code->exprs[own].is_static()) {
    item.recv_counts = to.blocks.size() == item.members.size()
                           ? std::vector<int64_t>{}
                           : cut_counts(to.box.volume(), row_elems(to), item.members.size());
    for (const Box& b : to.blocks) item.recv_counts.push_back(b.volume());
    return true;
  }
  for (const Rank m : item.members) {
    int64_t rows = 0;
    if (!code->exprs[own].evaluate(nullptr, code->rank_tables, m, rows)) {
      return fault(
          step, "index_error",
          fmt::format("rank {}: counts of {} can not be evaluated", step.rank, name_of(step)));
    }
    item.recv_counts.push_back(rows * row_elems(to));
  }
  return true;
}

}  // namespace hostir::interp
