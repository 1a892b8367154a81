// Checks the layouts declared around hand-written collectives against the data that they move.
//
// A shard type says which box of the global value a rank holds. If both sides of a collective are
// shards of values of one shape, the block that a member sends or receives must be, as a box, the
// part of the whole where the op puts it; if one shape is a view of the other, it must hold the
// same elements. For example, a gather along dimension 1 is not an all_gather without packing. Ops
// that deliberately move values elsewhere (broadcast, permute, all_to_all, send) claim nothing.
// Extents are compared for all types.

#include <fmt/core.h>

#include "hostir/ir/box_text.h"
#include "interp/core/claims/claims.h"
#include "interp/core/engine/communication_counts.h"

namespace hostir::interp {

namespace {

using Part = CommunicationFacts::Part;

// The placements of all ranks under a layout; null if the layout does not give them.
const LayoutTable* shards(const Code& code, LayoutIndex layout) {
  if (layout == kNoLayout || !code.layouts[layout].is_static()) return nullptr;
  const LayoutTable& table = code.layouts[layout];
  return std::holds_alternative<ShardType>(table.type) ? &table : nullptr;
}

// The box made up of `count` elements starting at `offset`; nullopt if they are not a box.
std::optional<Box> box_of(const Placement& p, int64_t offset, int64_t count) {
  if (!p.blocks.empty()) {
    int64_t at = 0;
    for (const Box& block : p.blocks) {
      if (at == offset && block.volume() == count) return block;
      at += block.volume();
    }
    return std::nullopt;
  }
  if (count == 0 || offset + count > p.box.volume()) return std::nullopt;
  Box box{p.box.index_at(offset), p.box.index_at(offset + count - 1)};
  for (size_t d = 0; d < box.lo.size(); ++d) {
    ++box.hi[d];
    if (box.hi[d] <= box.lo[d]) return std::nullopt;
  }
  return box.volume() == count ? std::optional(box) : std::nullopt;
}

// Collectives concatenate blocks along dimension 0, so a cut along another dimension needs packing.
// If only dimension 0 is cut, the communicator's members are not the ones that the layout expects.
std::string_view hint(const Placement& part, const Placement& all) {
  const Box whole = Box::whole(part.global);
  const Box& held = part.global == all.global ? all.box : whole;
  for (size_t d = 1; d < part.box.lo.size() && d < held.lo.size(); ++d) {
    if (part.box.lo[d] != held.lo[d] || part.box.hi[d] != held.hi[d])
      return "other dimensions than the first need packing";
  }
  return "list the ranks of the communicator in the order of the axes that cut it";
}

}  // namespace

bool CommunicationResolver::check_layouts(Step& step, const ResolvedCall& open,
                                          const CommunicationFacts& facts,
                                          const CommunicationSides& sides) {
  const CommunicationItem& item = open.item;
  if (sides.in == nullptr || sides.out == nullptr) return true;
  // Ranks other than the root have one side.
  const bool uses_both =
      facts.root == CommunicationFacts::RootHas::kNothing || item.root == item.position;
  if (facts.in == Part::kWhole && facts.out == Part::kWhole) {
    if (!uses_both) return true;
    const int64_t in = sides.in_place->box.volume();
    const int64_t out = sides.out_place->box.volume();
    if (in == out) return true;
    return faults_.fault(step, "collective_mismatch",
                         fmt::format("rank {}: {} from {} elements into {}", step.rank,
                                     faults_.name_of(step), in, out));
  }
  const bool gathers = facts.in == Part::kBlock && facts.out == Part::kWhole;
  const bool scatters = facts.in == Part::kWhole && facts.out == Part::kBlock;
  const LayoutIndex whole_layout = gathers ? sides.out_layout : sides.in_layout;
  const LayoutIndex block_layout = gathers ? sides.in_layout : sides.out_layout;
  const LayoutTable* whole = shards(*run_.code, whole_layout);
  const LayoutTable* block = shards(*run_.code, block_layout);
  const bool comparable =
      (gathers || scatters) && whole != nullptr && block != nullptr && whole != block;
  if (!comparable) return true;
  const MemberCounts& counts = gathers ? item.recv_counts : item.send_counts;
  const Placement& all = whole->by_rank[static_cast<size_t>(step.rank)];
  // If this rank and the first member (the root, for rooted ops) have the same placement of the
  // whole, the first checks all blocks and this rank only its own. The total cost is linear in the
  // members.
  const auto first = item.members[item.root < 0 ? 0 : static_cast<size_t>(item.root)];
  const bool own_only = run_.runs_for_all() ||
                        (step.rank != first && whole->by_rank[static_cast<size_t>(first)] == all);
  const size_t own = static_cast<size_t>(item.position);
  // The layers of a model repeat the same layouts, so each combination is checked once.
  const auto pair = std::tuple(item.comm, step.rank, whole_layout, block_layout, counts.begin());
  if (!own_only && agreeing_layouts_.contains(pair)) return true;
  const size_t begin = own_only ? own : 0;
  const size_t end = own_only ? own + 1 : item.members.size();
  for (size_t p = begin; p < end && p < counts.size(); ++p) {
    const Placement& part = block->by_rank[static_cast<size_t>(item.members[p])];
    if (part.global != all.global) {
      if (!claims::may_be_view(part.global, all.global)) return true;
      if (!part.blocks.empty() || !all.blocks.empty()) return true;
      const int64_t offset = counts.offset(p);
      if (counts[p] > part.box.volume() || offset + counts[p] > all.box.volume()) return true;
      const claims::BoxOfWhole had{part.box, part.global}, has{all.box, all.global, offset};
      const auto apart = claims::first_apart(had, has, counts[p]);
      if (!apart) continue;
      return faults_.fault(
          step, "collective_layout",
          fmt::format("rank {}: {}: element {} of the block of position {} (rank {}) is {}, "
                      "but at its place in the whole is another element, {}; {}",
                      step.rank, faults_.name_of(step), *apart, p, item.members[p],
                      claims::element_text(had, *apart), claims::element_text(has, *apart),
                      hint(part, all)));
    }
    const std::optional<Box> have = box_of(part, 0, counts[p]);
    const std::optional<Box> want = box_of(all, counts.offset(p), counts[p]);
    if (counts[p] == 0 || !have || have == want) continue;
    return faults_.fault(
        step, "collective_layout",
        fmt::format("rank {}: {} treats the block of position {} (rank {}) as {} of "
                    "the whole, but its layout says {}; {}",
                    step.rank, faults_.name_of(step), p, item.members[p],
                    want ? to_string(*want) : "elements that do not form a box", to_string(*have),
                    hint(part, all)));
  }
  if (!own_only) agreeing_layouts_.insert(pair);
  return true;
}

}  // namespace hostir::interp
