// 1. Take the two sides from the operands.
// 2. Place sides without a layout along dimension 0, in group order.
// 3. Cover each member's result box with the members' input boxes: with all of them if the
//    collective reduces, else with the nearest in group order, starting with its own.
#include "gui/panels/layout/reshard.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/collectives/permute_routes.h"
#include "hostir/ops/record.h"
#include "interp/core/communication_facts.h"

namespace hostir::gui {

namespace {

using Facts = interp::CommunicationFacts;
using Part = Facts::Part;

const interp::LayoutTable* layout_at(const interp::Code& code, interp::LayoutIndex index) {
  return index == interp::kNoLayout ? nullptr : &code.layouts[index];
}

void fill_side(const interp::LayoutTable& table, const Reshard& reshard, ReshardSide& side) {
  side.sharding = sharding_of(table.type);
  side.boxes.assign(reshard.members.size(), std::nullopt);
  for (size_t m = 0; m < reshard.members.size(); ++m) {
    const auto rank = static_cast<size_t>(reshard.members[m]);
    if (rank >= table.by_rank.size()) continue;
    side.boxes[m] = table.by_rank[rank].box;
    side.global = table.by_rank[rank].global;
  }
}

// Fills both sides from the operands read and written, with their layouts before and after.
DType fill_sides(const interp::Code& code, Reshard& r) {
  const interp::CodeInstruction& c = code.instructions[r.code];
  const Instruction& source = code.source(r.code);
  const Function& function = *code.functions[c.function];
  DType dtype = DType::kF32;
  for (size_t i = 0; i < source.operands.size() && i < c.layouts.size(); ++i) {
    const Operand& operand = source.operands[i];
    const interp::LayoutTable* before = layout_at(code, c.layouts[i]);
    if (!before || operand.access == Access::kUse) continue;
    const interp::LayoutTable* becomes =
        i < c.becomes.size() ? layout_at(code, c.becomes[i]) : nullptr;
    const std::string& name = function.value(operand.value).name;
    dtype = dtype_of(before->type);
    if (operand.access != Access::kWrite) {
      r.before.name = name;
      fill_side(*before, r, r.before);
    }
    if (operand.access != Access::kRead) {
      r.after.name = name;
      fill_side(becomes ? *becomes : *before, r, r.after);
    }
  }
  return dtype;
}

Box rows_of(const Extents& global, int64_t parts, int64_t part) {
  Box box = Box::whole(global);
  if (global.empty()) return box;
  const Range rows = cut(Range{0, global[0]}, parts, part);
  box.lo[0] = rows.lo;
  box.hi[0] = rows.hi;
  return box;
}

// Treats buffers that are blocks of a larger whole as consecutive parts of its dimension 0.
void lay_blocks(const Extents& whole, ReshardSide& side) {
  const auto n = static_cast<int64_t>(side.boxes.size());
  for (int64_t m = 0; m < n; ++m) side.boxes[static_cast<size_t>(m)] = rows_of(whole, n, m);
  side.global = whole;
  side.sharding = nullptr;
}

bool bring_to_one_space(const Facts& facts, Reshard& r) {
  if (r.before.boxes.empty() || r.after.boxes.empty()) return true;
  // In place without a layout: a member's block is at its own position in the whole.
  const bool one_shape = r.before.global == r.after.global;
  if (one_shape && (r.members.size() < 2 || r.before.boxes != r.after.boxes)) return true;
  if (one_shape && facts.in == Part::kWhole && facts.out == Part::kWhole) return true;
  if (facts.in == Part::kBlock && facts.out == Part::kWhole) {
    lay_blocks(r.after.global, r.before);
    return true;
  }
  if (facts.in == Part::kWhole && facts.out == Part::kBlock) {
    lay_blocks(r.before.global, r.after);
    return true;
  }
  return one_shape || facts.in == Part::kBlocks || facts.in == Part::kFree;
}

void add(Reshard& r, size_t from, size_t to, const Box& box, DType dtype) {
  if (box.empty()) return;
  const int64_t bytes = box.volume() * size_bytes(dtype);
  r.transfers.push_back({r.members[from], r.members[to], box, bytes});
  if (from != to) r.moved_bytes += bytes;
}

// Covers a member's result with the inputs that hold parts of it.
void cover(Reshard& r, size_t to, const std::vector<size_t>& sources, DType dtype) {
  const std::optional<Box>& wanted = r.after.boxes[to];
  if (!wanted || wanted->empty()) return;
  std::vector<Box> covered;
  for (const size_t from : sources) {
    if (!r.before.boxes[from] || r.before.boxes[from]->lo.size() != wanted->lo.size()) continue;
    const Box block = wanted->intersect(*r.before.boxes[from]);
    const bool have = std::any_of(covered.begin(), covered.end(),
                                  [&](const Box& box) { return box.contains(block); });
    if (have && r.reduces.empty()) continue;
    covered.push_back(block);
    add(r, from, to, block, dtype);
  }
}

void cover_all(const Facts& facts, std::optional<size_t> root, Reshard& r, DType dtype) {
  const size_t n = r.members.size();
  for (size_t to = 0; to < n; ++to) {
    if (facts.root == Facts::RootHas::kOutput && root && to != *root) continue;
    std::vector<size_t> sources;
    for (size_t step = 0; step < n; ++step) {
      const size_t from = (to + step) % n;
      if (facts.root == Facts::RootHas::kInput && root && from != *root) continue;
      sources.push_back(from);
    }
    cover(r, to, sources, dtype);
  }
}

// Without layouts, each member sends the j-th range of its rows to member j.
void exchange_rows(Reshard& r, DType dtype) {
  const auto n = static_cast<int64_t>(r.members.size());
  for (int64_t to = 0; to < n; ++to) {
    for (int64_t from = 0; from < n; ++from) {
      add(r, static_cast<size_t>(from), static_cast<size_t>(to), rows_of(r.before.global, n, to),
          dtype);
    }
  }
}

void pass_on(const interp::Code& code, Reshard& r, interp::Rank rank, DType dtype) {
  const auto n = static_cast<int64_t>(r.members.size());
  for (const auto& [from, to] : permute_positions(code, r.code, rank, n)) {
    const std::optional<Box>& box = r.before.boxes[static_cast<size_t>(from)];
    if (box) add(r, static_cast<size_t>(from), static_cast<size_t>(to), *box, dtype);
  }
}

std::string describe(const Facts& facts, const Reshard& r, std::optional<size_t> root) {
  const std::string who = root ? fmt::format("r{}", r.members[*root]) : "each member";
  const bool to_root = facts.root == Facts::RootHas::kOutput;
  const std::string keeps = to_root ? who : "each member";
  if (!r.reduces.empty()) {
    return fmt::format("Every member contributes an addend; afterwards {} holds the {} of {}.",
                       keeps, r.reduces, facts.out == Part::kBlock ? "its own block" : "all");
  }
  if (facts.in == Part::kBlocks)
    return "Each member sends a different block to every other member.";
  if (facts.in == Part::kFree) return "Members pass their buffers on along the ribbons.";
  if (facts.in == Part::kBlock)
    return fmt::format("Each member contributes its block; afterwards {} holds the whole.", keeps);
  return facts.out == Part::kBlock ? fmt::format("{} gives each member its block.", who)
                                   : fmt::format("{} gives the whole to every member.", who);
}

std::optional<int64_t> position_of(const interp::Code& code, const interp::CodeInstruction& c,
                                   interp::Rank rank) {
  if (c.position_expr == interp::kNoExpr || !code.exprs[c.position_expr].is_static())
    return std::nullopt;
  int64_t position = 0;
  if (!code.exprs[c.position_expr].evaluate(nullptr, code.rank_tables, rank, position))
    return std::nullopt;
  return position;
}

// Keeps only the two ranks of the pair, each with the side that it has.
void keep_pair(Reshard& r, interp::Rank from, interp::Rank to) {
  const auto box_of = [&](const ReshardSide& side, interp::Rank rank) {
    const auto m = static_cast<size_t>(std::find(r.members.begin(), r.members.end(), rank) -
                                       r.members.begin());
    return m < side.boxes.size() ? side.boxes[m] : std::nullopt;
  };
  const std::optional<Box> sent = box_of(r.before, from);
  const std::optional<Box> received = box_of(r.after, to);
  r.members = {from, to};
  r.before.boxes = {sent, std::nullopt};
  r.after.boxes = {std::nullopt, received};
}

// The peer's only instruction that can complete this one, or nullopt if there are none or several.
std::optional<interp::CodeIndex> only_partner(const interp::Code& code, const Reshard& r,
                                              int64_t self_position, interp::Rank other,
                                              bool sends) {
  std::optional<interp::CodeIndex> found;
  for (interp::CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const interp::CodeInstruction& c = code.instructions[i];
    if (c.comm == interp::kNoComm || c.comm != code.instructions[r.code].comm) continue;
    const Facts* facts = interp::communication_facts(c.kind);
    if (!facts || !facts->point_to_point || (facts->in != Part::kNone) == sends) continue;
    if (position_of(code, c, other) != self_position) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

// Returns the peer's instruction if the program decides which it is.
std::optional<interp::CodeIndex> point_to_point(const interp::Code& code, const Facts& facts,
                                                Reshard& r, interp::Rank self,
                                                std::optional<int64_t> peer, DType dtype) {
  const auto n = static_cast<int64_t>(r.members.size());
  r.point_to_point = true;
  if (!peer || *peer < 0 || *peer >= n) {
    r.problem = "the peer depends on values that are not known yet";
    return std::nullopt;
  }
  const interp::Rank other = r.members[static_cast<size_t>(*peer)];
  const auto at = std::find(r.members.begin(), r.members.end(), self) - r.members.begin();
  const bool sends = facts.in != Part::kNone;
  keep_pair(r, sends ? self : other, sends ? other : self);
  const std::optional<Box>& box = sends ? r.before.boxes[0] : r.after.boxes[1];
  if (box) add(r, 0, 1, *box, dtype);
  r.sentence = fmt::format("r{} sends {} to r{}.", r.members[0],
                           sends ? "%" + r.before.name : "its buffer", r.members[1]);
  return only_partner(code, r, at, other, sends);
}

}  // namespace

bool is_communication(const interp::ProgramView& program, interp::CodeIndex index) {
  const std::optional<OpKind> kind = find_op(program.mnemonic(index));
  return kind && interp::communication_facts(*kind) != nullptr;
}

std::optional<Reshard> reshard_of(const interp::ProgramView& program, interp::CodeIndex index,
                                  interp::Rank rank, size_t most_members) {
  if (!program.code || !is_communication(program, index)) return std::nullopt;
  const interp::Code& code = *program.code;
  const interp::CodeInstruction& c = code.instructions[index];
  const Facts& facts = *interp::communication_facts(c.kind);
  if (c.comm == interp::kNoComm) return std::nullopt;
  const interp::Communicator& comm = code.communicators[c.comm];
  Reshard r;
  r.code = index;
  r.kind = record(c.kind).mnemonic;
  r.groups = comm.groups.size();
  const int32_t group = static_cast<size_t>(rank) < comm.group_of_rank.size()
                            ? comm.group_of_rank[static_cast<size_t>(rank)]
                            : -1;
  if (group < 0) {
    r.problem = fmt::format("rank {} is not a member of any group of %{}", rank, comm.name);
    return r;
  }
  r.group = static_cast<size_t>(group);
  r.members = comm.groups[r.group];
  if (const auto* how = code.source(index).attributes.get<Reduction>("reduction"))
    r.reduces = name(*how);
  const DType dtype = fill_sides(code, r);
  if (r.before.boxes.empty()) r.before.boxes.resize(r.members.size());
  if (r.after.boxes.empty()) r.after.boxes.resize(r.members.size());
  const std::optional<int64_t> position = position_of(code, c, rank);
  if (facts.point_to_point) {
    const auto partner = point_to_point(code, facts, r, rank, position, dtype);
    if (partner) add_partner(program, *partner, r);
    return r;
  }
  if (!bring_to_one_space(facts, r)) {
    r.problem = "the two sides have shapes that do not fit each other";
    return r;
  }
  std::optional<size_t> root;
  if (facts.root != Facts::RootHas::kNothing && position && *position >= 0 &&
      *position < static_cast<int64_t>(r.members.size()))
    root = static_cast<size_t>(*position);
  r.sentence = describe(facts, r, root);
  if (r.members.size() > most_members) return r;
  if (facts.in == Part::kFree) {
    pass_on(code, r, rank, dtype);
  } else if (facts.in == Part::kBlocks && !r.before.sharding) {
    exchange_rows(r, dtype);
  } else {
    cover_all(facts, root, r, dtype);
  }
  if (r.transfers.empty()) r.problem = "sizes are only known when it runs, or all parts are empty";
  return r;
}

void add_partner(const interp::ProgramView& program, interp::CodeIndex partner, Reshard& reshard) {
  if (!program.code || !reshard.point_to_point || !is_communication(program, partner)) return;
  const interp::Code& code = *program.code;
  Reshard other;
  other.code = partner;
  other.members = reshard.members;
  fill_sides(code, other);
  if (reshard.before.name.empty() && !other.before.boxes.empty()) {
    reshard.before = std::move(other.before);
    reshard.before.boxes[1].reset();
    reshard.sentence = fmt::format("r{} sends %{} to r{}.", reshard.members[0], reshard.before.name,
                                   reshard.members[1]);
  }
  if (reshard.after.name.empty() && !other.after.boxes.empty()) {
    reshard.after = std::move(other.after);
    reshard.after.boxes[0].reset();
  }
}

LayoutSource layout_of(const ReshardSide& side, const Reshard& reshard,
                       const interp::ProgramView& program) {
  LayoutSource source;
  source.global = side.global;
  source.sharding = side.sharding;
  if (side.sharding && program.code)
    source.mesh = program.code->program->find_mesh(side.sharding->mesh);
  source.boxes.assign(static_cast<size_t>(program.rank_count), nullptr);
  for (size_t m = 0; m < reshard.members.size() && m < side.boxes.size(); ++m) {
    if (side.boxes[m]) source.boxes[static_cast<size_t>(reshard.members[m])] = &*side.boxes[m];
  }
  return source;
}

}  // namespace hostir::gui
