// Opening buffer operands: lifetime, bounds, layouts, and the plan that caches what does not
// change.

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/core/engine.h"
#include "interp/core/flattener.h"

namespace hostir::interp {

namespace {

// A rank outside a sub-mesh has no part of its buffers. Its boxes are then empty, except for a
// scalar, whose box has one element on every rank.
bool is_on_mesh_of(const Code& code, LayoutIndex layout, Rank rank) {
  const Sharding* sharding = layout != kNoLayout ? sharding_of(code.layouts[layout].type) : nullptr;
  const Mesh* mesh = sharding != nullptr ? code.program->find_mesh(sharding->mesh) : nullptr;
  return mesh == nullptr || mesh->position_of(rank).has_value();
}

}  // namespace

bool Engine::evaluate(const Step& step, IndexCodeId expr, int64_t& out) {
  if (code->exprs[expr].evaluate(step.rank_state.registers.data(), code->rank_tables, step.rank,
                                 out)) {
    return true;
  }
  return fault(step, "index_error",
               fmt::format("rank {}: an index expression of {} divides by zero or overflows",
                           step.rank, name_of(step)));
}

void Engine::move_many(RankState& rank, const std::vector<RegisterMove>& moves) {
  // Reads all sources before writing any target, because names may be swapped.
  move_scratch.clear();
  for (const RegisterMove& m : moves) {
    move_scratch.push_back(m.from == kNoRegister ? Register{} : rank.registers[m.from]);
  }
  for (size_t i = 0; i < moves.size(); ++i) rank.registers[moves[i].to] = move_scratch[i];
}

const Placement* Engine::placement(const Step& step, LayoutIndex layout) {
  const LayoutTable& table = code->layouts[layout];
  if (table.is_static()) return &table.by_rank[static_cast<size_t>(step.rank)];
  std::vector<int64_t> key = {layout, step.rank};
  for (const IndexCodeId expr : table.dynamic_shape) {
    int64_t size = 0;
    if (!evaluate(step, expr, size)) return nullptr;
    if (size < 0) {
      fault(step, "index_error",
            fmt::format("rank {}: {} has a size of {}", step.rank, name_of(step), size));
      return nullptr;
    }
    key.push_back(size);
  }
  const auto known = dynamic_index.find(key);
  if (known != dynamic_index.end()) return known->second;
  const Extents extents(key.begin() + 2, key.end());
  const auto elements = element_count(extents);
  if (!elements || *elements > INT64_MAX / 16) {
    fault(step, "index_error",
          fmt::format("rank {}: {} is larger than any memory", step.rank, name_of(step)));
    return nullptr;
  }
  dynamic_placements.push_back(
      make_placement(*code->program, table.type, extents, step.rank, nullptr));
  if (!dynamic_placements.back().blocks_fill_box()) {
    fault(step, "code_blocks",
          fmt::format("rank {}: the blocks of {} do not cover the rank's part", step.rank,
                      name_of(step)));
    dynamic_placements.pop_back();
    return nullptr;
  }
  dynamic_index.emplace(std::move(key), &dynamic_placements.back());
  return &dynamic_placements.back();
}

Allocation* Engine::open(const Step& step, uint32_t operand) {
  const uint32_t reg = step.code.operands[operand];
  const Register& name = step.rank_state.registers[reg];
  if (name.slot == kNoSlot) {
    fault(step, "uninitialised_read",
          fmt::format("rank {}: {} uses {}, which this rank never allocated", step.rank,
                      name_of(step), code->register_name(reg)));
    return nullptr;
  }
  Allocation& a = step.rank_state.allocations[name.slot];
  if (names_live(step.rank_state, name)) return &a;
  const bool same = a.id.index == static_cast<uint32_t>(name.value);
  std::string how = "freed before";
  if (same && a.live) {
    how = fmt::format("given to {} by {}", code->register_name(a.reg), name_of(a.allocated_by));
  } else if (same && a.freed_by != kNoCode) {
    how = fmt::format("freed by {}", name_of(a.freed_by));
  }
  const bool again = record(step.code.kind).role == HostRole::kFree;
  Fault fault = fault_at(step);
  fault.record.kind = again ? "double_free" : "use_after_free";
  fault.record.sentence = fmt::format("rank {}: {} {} {} that was {}", step.rank, name_of(step),
                                      again ? "frees" : "uses", code->register_name(reg), how);
  // The run ends here, so see whether the same is about to happen on other ranks.
  std::vector<Rank> others;
  for (Rank r = 0; r < rank_count() && looking == nullptr; ++r) {
    const RankState& other = state.ranks[static_cast<size_t>(r)];
    const bool is_here = other.pc == step.index && other.loop_path == step.rank_state.loop_path;
    if (r == step.rank || !is_here) continue;
    const Register& there = other.registers[reg];
    if (there.slot != kNoSlot && !names_live(other, there)) others.push_back(r);
  }
  if (!others.empty()) {
    fault.record.ranks.insert(fault.record.ranks.end(), others.begin(), others.end());
    fault.record.notes.push_back("the same on " + model::list_of(others));
  }
  record_fault(std::move(fault));
  return nullptr;
}

bool Engine::names_live(const RankState& rank, const Register& name) {
  const Allocation& a = rank.allocations[name.slot];
  return a.id.index == static_cast<uint32_t>(name.value) && a.live &&
         a.generation == name.generation;
}

std::optional<BufferRef> Engine::buffer_of(const RankState& rank, const Register& name) const {
  if (name.slot == kNoSlot) return std::nullopt;
  if (!names_live(rank, name)) return std::nullopt;
  const Allocation& a = rank.allocations[name.slot];
  BufferRef ref;
  ref.allocation = a.id;
  ref.offset_bytes = name.offset_bytes;
  // A name for the whole allocation follows its layout; a view keeps its own.
  const bool whole = name.offset_bytes == 0 && name.shape == 0 && a.placement != nullptr &&
                     name.placement == a.declared;
  ref.placement = whole ? a.placement : name.placement;
  if (name.shape != 0) ref.strides_elems = shapes[name.shape].strides_elems;
  ref.size_bytes = name.shape == 0 ? ref.placement->local_bytes() : shapes[name.shape].span_bytes();
  return ref;
}

uint32_t Engine::intern_shape(StridedShape shape) {
  std::vector<int64_t> key = shape.extents;
  key.insert(key.end(), shape.strides_bytes.begin(), shape.strides_bytes.end());
  key.push_back(shape.row_bytes);
  key.insert(key.end(), shape.strides_elems.begin(), shape.strides_elems.end());
  const auto [at, added] = shape_index.try_emplace(std::move(key), shapes.size());
  if (added) shapes.push_back(std::move(shape));
  return at->second;
}

IssuePlan& Engine::make_plan(const Step& step) {
  auto& slot = plan_at(step);
  slot = std::make_unique<IssuePlan>();
  IssuePlan& plan = *slot;
  const Instruction& source = code->source(step.index);
  for (uint32_t i = 0; i < step.code.operands.size(); ++i) {
    const uint32_t reg = step.code.operands[i];
    if (reg == kNoRegister || !code->registers[reg].buffer) continue;
    PlannedBuffer& planned = plan.buffers.emplace_back();
    planned.operand = i;
    planned.reg = reg;
    planned.after = step.code.becomes[i];
    plan.refs.emplace_back().access = source.operands[i].access;
  }
  return plan;
}

// Computes layouts, strides and sizes; if they never change, marks the operand `ready`.
bool Engine::bind_slowly(const Step& step, PlannedBuffer& planned, BufferRef& ref,
                         const Register& name) {
  const LayoutIndex before = step.code.layouts[planned.operand];
  const bool fixed = before != kNoLayout && code->layouts[before].is_static();
  const bool fixed_after = planned.after == kNoLayout || code->layouts[planned.after].is_static();
  ref.placement =
      fixed ? &code->layouts[before].by_rank[static_cast<size_t>(step.rank)] : name.placement;
  planned.bytes = ref.placement->local_bytes();
  if (planned.after != kNoLayout) {
    ref.after = placement(step, planned.after);
    if (ref.after == nullptr) return false;
    planned.bytes = std::max(planned.bytes, ref.after->local_bytes());
  }
  if (planned.shape != name.shape) {
    planned.shape = name.shape;
    ref.strides_elems = shapes[name.shape].strides_elems;
  }
  ref.size_bytes =
      name.shape == 0 || planned.bytes == 0 ? planned.bytes : shapes[name.shape].span_bytes();
  planned.ready = fixed && fixed_after && name.shape == 0;
  return true;
}

bool Engine::bind_buffers(const Step& step, IssuePlan& plan) {
  const Register* registers = step.rank_state.registers.data();
  Allocation* allocations = step.rank_state.allocations.data();
  BufferRef* ref = plan.refs.data();
  for (PlannedBuffer& planned : plan.buffers) {
    const Register& name = registers[planned.reg];
    Allocation* a = name.slot != kNoSlot ? allocations + name.slot : nullptr;
    const bool known = a != nullptr && a->id.index == static_cast<uint32_t>(name.value) &&
                       a->live && a->generation == name.generation;
    if (!known) {
      open(step, planned.operand);  // reports the fault
      return false;
    }
    planned.bound = a;
    if (planned.ready && name.shape == 0) {
      ref->size_bytes = planned.bytes;
    } else if (!bind_slowly(step, planned, *ref, name)) {
      return false;
    }
    ref->allocation = a->id;
    ref->offset_bytes = name.offset_bytes;
    const bool inside = ref->offset_bytes + ref->size_bytes <= a->bytes;
    if (!inside || (!a->writable && ref->access >= Access::kWrite)) {
      return refuse(step, planned, *ref);
    }
    ++ref;
  }
  return true;
}

// Reports why a bound buffer may not be accessed this way.
bool Engine::refuse(const Step& step, const PlannedBuffer& planned, const BufferRef& ref) {
  const Allocation& a = *planned.bound;
  const int64_t end = ref.offset_bytes + ref.size_bytes;
  if (end > a.bytes) {
    return fault(step, "out_of_bounds",
                 fmt::format("rank {}: {} accesses bytes {} to {} of {}, which has {}", step.rank,
                             name_of(step), ref.offset_bytes, end, code->register_name(planned.reg),
                             a.bytes));
  }
  return fault(step, "write_to_readonly",
               fmt::format("rank {}: {} writes to parameter {}, which is not inout", step.rank,
                           name_of(step), code->register_name(a.reg)));
}

void Engine::note_write(const Step& step, Allocation& a, const BufferAccess& t) {
  if (!a.initialised) note_written(a, t.range, t.shape);
  ++a.version;
  a.written_by = t.code;
  a.written_task = step.task;
  if (t.after != kNoLayout && t.range.lo == 0 && t.shape == 0) {
    a.layout = t.after;
    a.placement = t.placement_after;
  }
}

ByteRange Engine::sent_bytes(const CommunicationItem& item, const CommunicationFacts& facts) {
  using Part = CommunicationFacts::Part;
  const BufferRef& in = item.in;
  const ByteRange nothing{in.offset_bytes, in.offset_bytes};
  if (facts.root == CommunicationFacts::RootHas::kInput && item.root != item.position)
    return nothing;
  if (facts.in == Part::kFree && !facts.point_to_point &&
      std::none_of(item.pairs.begin(), item.pairs.end(),
                   [&](const auto& pair) { return pair.first == item.position; }))
    return nothing;
  int64_t bytes = in.size_bytes;
  if (facts.in == Part::kBlocks && !item.send_counts.empty()) {
    bytes = std::min(bytes, item.send_counts.total() * size_bytes(item.dtype));
  }
  return {in.offset_bytes, in.offset_bytes + bytes};
}

ByteRange Engine::received_bytes(const CommunicationItem& item, const CommunicationFacts& facts) {
  const BufferRef& out = item.out;
  int64_t bytes = out.size_bytes;
  if (facts.root == CommunicationFacts::RootHas::kOutput && item.root != item.position) bytes = 0;
  if (facts.out == CommunicationFacts::Part::kBlocks && !item.recv_counts.empty()) {
    bytes = std::min(bytes, item.recv_counts.total() * size_bytes(item.dtype));
  }
  return {out.offset_bytes, out.offset_bytes + bytes};
}

BufferAccess Engine::access_of(const Step& step, const PlannedBuffer& planned, const BufferRef& ref,
                               const CommunicationItem& item) const {
  BufferAccess out = access_of(step, planned, ref);
  const CommunicationFacts& facts = *communication_facts(step.code.kind);
  out.reads = sent_bytes(item, facts);
  if (ref.access == Access::kWrite) out.range = received_bytes(item, facts);
  return out;
}

bool Engine::note_accesses(Step& step, const IssuePlan& plan, const CommunicationItem* item) {
  const StreamIndex stream = step.code.stream;
  const uint32_t sequence = step.rank_state.streams[stream].issued;
  const bool checks = options.checks == InterpreterOptions::Checks::kAll;
  const BufferRef* ref = plan.refs.data() - 1;
  for (const PlannedBuffer& planned : plan.buffers) {
    ++ref;
    Allocation& a = *planned.bound;
    WholeAccesses& w = a.whole;
    // The access covers a whole buffer that only this stream uses: record it, there is nothing to
    // compare.
    const bool whole = checks && planned.shape == 0 && ref->offset_bytes == 0 &&
                       ref->size_bytes == a.bytes && a.bytes > 0 && a.accesses.empty();
    const bool fills = item == nullptr || ref->access != Access::kWrite ||
                       received_bytes(*item, *communication_facts(step.code.kind)).hi == a.bytes;
    const bool quick = whole && fills && (w.stream == stream || w.empty()) &&
                       (a.initialised || ref->access == Access::kWrite);
    if (!quick) {
      const bool in_contract = item != nullptr;
      if (!touch(
              step, stream,
              in_contract ? access_of(step, planned, *ref, *item) : access_of(step, planned, *ref)))
        return false;
      continue;
    }
    w.stream = stream;
    if (ref->access == Access::kRead) {
      w.read = sequence;
      w.read_code = step.index;
      continue;
    }
    w.write = sequence;
    w.write_code = step.index;
    w.write_kind = AccessRecord::Kind::kWrite;
    w.read = 0;
    a.initialised = true;
    a.written.clear();
    ++a.version;
    a.written_by = step.index;
    a.written_task = step.task;
    if (planned.after != kNoLayout) {
      a.layout = planned.after;
      a.placement = ref->after;
    }
  }
  return true;
}

namespace {

// With the first gap, if the bytes are in one piece.
std::string partly_written(const Allocation& a, ByteRange range, uint32_t shape) {
  std::string out = "which was only partly written";
  if (shape != 0) return out;
  ByteRange gap = range;
  for (const ByteRange& written : a.written.ranges()) {
    if (written.hi <= gap.lo) continue;
    if (written.lo > gap.lo) {
      gap.hi = std::min(gap.hi, written.lo);
      break;
    }
    gap.lo = written.hi;
  }
  return out + fmt::format(": bytes {}:{} of {} are missing", gap.lo, gap.hi, a.bytes);
}

}  // namespace

bool Engine::check_read(Step& step, const Allocation& a, uint32_t reg, ByteRange range,
                        uint32_t shape) {
  bool covered = a.written.covers(range);
  if (!covered && shape != 0) {
    const std::vector<ByteRange> rows = rows_of(shapes[shape], range.lo);
    covered = std::all_of(rows.begin(), rows.end(),
                          [&](const ByteRange& row) { return a.written.covers(row); });
  }
  if (covered) return true;
  // Every rank must have written its part of a shard. Of a tensor, only rank 0's copy is the
  // result, and nobody reads the others.
  const bool returned = record(step.code.kind).role == HostRole::kReturn;
  const bool shard = a.layout != kNoLayout && sharding_of(code->layouts[a.layout].type) != nullptr;
  if (returned && !is_on_mesh_of(*code, a.layout, step.rank)) return true;
  // Without values, counts that a kernel computed are 0 for the host that reads them.
  const bool counts_are_known =
      backend.capabilities().reads_values ||
      std::none_of(code->instructions.begin(), code->instructions.end(),
                   [](const CodeInstruction& c) { return c.kind == OpKind::read; });
  const bool is_error = !returned || ((shard || step.rank == 0) && counts_are_known);
  const CommunicationFacts* writer =
      a.written_by == kNoCode ? nullptr
                              : communication_facts(code->instructions[a.written_by].kind);
  std::string what;
  if (a.parameter) {
    what = "a parameter without a value";
  } else if (!a.written.ranges().empty()) {
    what = partly_written(a, range, shape);
  } else if (writer != nullptr && writer->root == CommunicationFacts::RootHas::kOutput) {
    what = fmt::format("which nothing has written: {} writes it at the root only",
                       name_of(a.written_by));
  } else {
    what = "which nothing has written";
  }
  return warn(step, "uninitialised_read",
              fmt::format("rank {}: {} {} {}, {}", step.rank, name_of(step),
                          returned ? "returns" : "reads", code->register_name(reg), what),
              is_error ? Severity::kError : Severity::kWarning);
}

void Engine::note_written(Allocation& a, ByteRange range, uint32_t shape) {
  if (shape == 0 && range.lo == 0 && range.hi == a.bytes) {
    a.initialised = true;
    a.written.clear();
    return;
  }
  if (shape == 0) {
    a.written.add(range);
  } else if (range.lo < range.hi) {
    for (const ByteRange& row : rows_of(shapes[shape], range.lo)) a.written.add(row);
  }
  if (!a.written.covers({0, a.bytes})) return;
  a.initialised = true;
  a.written.clear();
}

bool Engine::check_host_read(Step& step, const BufferRef& ref) {
  const uint32_t reg = step.code.operands[0];
  const Register& name = step.rank_state.registers[reg];
  Allocation& a = step.rank_state.allocations[name.slot];
  const ByteRange range{ref.offset_bytes, ref.offset_bytes + ref.size_bytes};
  if (range.lo >= range.hi || options.checks != InterpreterOptions::Checks::kAll) return true;
  if (!a.initialised && !check_read(step, a, reg, range, name.shape)) return false;
  const uint32_t* host = clock_row(step.rank_state, code->streams.size());
  std::vector<AccessRecord> writes = a.accesses;
  if (a.whole.write != 0) {
    writes.push_back(
        {0, a.bytes, 0, a.whole.stream, a.whole.write, a.whole.write_code, a.whole.write_kind});
  }
  for (const AccessRecord& old : writes) {
    if (old.kind != AccessRecord::Kind::kWrite || old.sequence <= host[old.stream]) continue;
    const AccessRecord mine{
        range.lo, range.hi, name.shape, 0, 0, step.index, AccessRecord::Kind::kRead};
    if (!overlap(old, mine)) continue;
    Fault early = fault_at(step);
    early.record.kind = "use_before_wait";
    early.record.sentence = fmt::format(
        "rank {}: {} reads {} on the host without waiting for {}, which writes it on stream \"{}\"",
        step.rank, name_of(step), code->register_name(reg), name_of(old.code),
        code->streams[old.stream]);
    early.record.instructions.push_back(code->address(old.code));
    early.record.notes.push_back(fmt::format("{} is the other access", name_of(old.code)));
    early.spans.push_back(code->source(old.code).span);
    record_fault(std::move(early));
    return false;
  }
  return true;
}

uint32_t Engine::shape_of_view(const std::vector<int64_t>& extents,
                               const std::vector<int64_t>& strides_elems, int64_t element_bytes) {
  // Trailing dimensions without gaps form one row.
  size_t outer = extents.size();
  int64_t row = 1;
  for (const int64_t n : extents) {
    if (n == 0) return 0;
  }
  while (outer > 0 && (extents[outer - 1] == 1 || strides_elems[outer - 1] == row)) {
    row *= extents[--outer];
  }
  if (outer == 0) return 0;
  StridedShape shape;
  for (size_t d = 0; d < outer; ++d) {
    shape.extents.push_back(extents[d]);
    shape.strides_bytes.push_back(strides_elems[d] * element_bytes);
  }
  shape.row_bytes = row * element_bytes;
  shape.strides_elems = strides_elems;
  return intern_shape(std::move(shape));
}

}  // namespace hostir::interp
