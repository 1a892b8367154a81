#include "gui/panels/layout/layout_view.h"

#include <map>

#include "gui/panels/layout/replicas.h"
#include "gui/panels/layout/reshard_picture.h"

namespace hostir::gui {

namespace {

// Instructions in flight, by task.
std::map<interp::TaskId, interp::CodeIndex> outstanding(const interp::Snapshot& shot) {
  std::map<interp::TaskId, interp::CodeIndex> out;
  for (const auto& rank : shot.ranks) {
    for (const interp::StreamSnapshot& stream : rank->streams) {
      for (const interp::TaskSnapshot& task : stream.tasks) out.emplace(task.id, task.code);
    }
  }
  return out;
}

// Finds the first rank with an unfinished write to the tensor, and all ranks where that write is
// unfinished.
void find_write(const interp::Snapshot& shot, const TensorView& tensor, LayoutView& view) {
  const auto tasks = outstanding(shot);
  if (tasks.empty()) return;
  for (size_t r = 0; r < tensor.by_rank.size(); ++r) {
    const interp::AllocationSnapshot* a = tensor.by_rank[r];
    if (!a || a->last_writer == interp::kNoTask) continue;
    const auto found = tasks.find(a->last_writer);
    if (found == tasks.end()) continue;
    if (!view.in_flight) view.in_flight = found->second;
    if (*view.in_flight == found->second) view.in_flight_on.push_back(static_cast<interp::Rank>(r));
  }
}

std::vector<bool> copies_of(const LayoutSource& source, const std::vector<Shard>& shards) {
  std::vector<bool> copies(source.boxes.size(), false);
  if (source.is_partial()) return copies;
  const auto mark = [&](const Shard& shard, const std::vector<interp::Rank>& same) {
    for (size_t i = 1; i < same.size(); ++i)
      copies[static_cast<size_t>(same[i])] = !shard.box.empty();
  };
  for (const Shard& shard : shards) {
    if (shard.versions.empty()) mark(shard, shard.holders);
    for (const auto& version : shard.versions) mark(shard, version);
  }
  return copies;
}

void build(const interp::Snapshot& shot, const TensorView& tensor, LayoutView& view) {
  const interp::ProgramView& program = *shot.program;
  LayoutSource& source = view.source;
  source.global = tensor.first->placement.global;
  source.sharding = sharding_of(tensor.first->type);
  for (const interp::AllocationSnapshot* a : tensor.by_rank)
    source.boxes.push_back(a ? &a->placement.box : nullptr);
  find_write(shot, tensor, view);
  if (view.in_flight) {
    view.reshard =
        reshard_of(program, *view.in_flight, view.in_flight_on.front(), kMaxRibbonMembers);
    const bool addends = view.reshard && !view.reshard->reduces.empty() &&
                         view.reshard->before.name == tensor.name && view.reshard->before.sharding;
    if (addends) {
      source.sharding = view.reshard->before.sharding;
    } else {
      view.reshard.reset();
    }
  }
  if (source.sharding && program.code)
    source.mesh = program.code->program->find_mesh(source.sharding->mesh);
  view.shards = shards_of(source);
  view.copies = copies_of(source, view.shards);
  view.type = describe_type(tensor.first->placement.dtype, source.global, source.sharding);
}

// The declared layout of a buffer that no rank holds.
void build_declared(const interp::ProgramView& program, const std::string& name, LayoutView& view) {
  view.held = false;
  if (!program.code) return;
  const interp::Code& code = *program.code;
  for (const uint32_t reg : code.find_registers(name)) {
    const interp::LayoutIndex layout = code.registers[reg].layout;
    if (layout == interp::kNoLayout || !code.layouts[layout].is_static()) continue;
    const interp::LayoutTable& table = code.layouts[layout];
    LayoutSource& source = view.source;
    source.sharding = sharding_of(table.type);
    if (source.sharding) source.mesh = code.program->find_mesh(source.sharding->mesh);
    source.global = table.by_rank[0].global;
    for (size_t rank = 0; rank < table.by_rank.size(); ++rank)
      source.boxes.push_back(&table.by_rank[rank].box);
    view.shards = shards_of(source);
    view.copies = copies_of(source, view.shards);
    view.type = describe_type(dtype_of(table.type), source.global, source.sharding);
    return;
  }
}

}  // namespace

const LayoutView& LayoutViews::of(const Frame& frame, const TensorView& tensor) {
  if (generation_ != frame.model.generation() || name_ != tensor.name) {
    generation_ = frame.model.generation();
    name_ = tensor.name;
    view_ = LayoutView();
    if (tensor.valid()) {
      build(*frame.model.snapshot(), tensor, view_);
    } else {
      build_declared(*frame.model.snapshot()->program, tensor.name, view_);
    }
    compared_ = !tensor.valid();
  }
  if (!compared_) {
    compared_ = compare_replicas(frame, tensor, view_.shards, view_.differs);
    view_.copies = copies_of(view_.source, view_.shards);
  }
  return view_;
}

const MoveView& LayoutViews::move_of(const Frame& frame, interp::CodeIndex collective,
                                     interp::Rank rank) {
  const uint64_t generation = frame.model.generation();
  if (move_generation_ == generation && collective_ == collective && rank_ == rank) return move_;
  move_generation_ = generation;
  collective_ = collective;
  rank_ = rank;
  const interp::Snapshot& shot = *frame.model.snapshot();
  move_ = MoveView();
  move_.reshard = reshard_of(*shot.program, collective, rank, kMaxRibbonMembers);
  if (move_.reshard && move_.reshard->point_to_point) {
    if (const auto partner = partner_of(shot, *move_.reshard))
      add_partner(*shot.program, *partner, *move_.reshard);
  }
  if (move_.reshard) move_.absent = absent_members(shot, *move_.reshard);
  return move_;
}

}  // namespace hostir::gui
