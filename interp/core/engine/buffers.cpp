#include "interp/core/engine/buffers.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"

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

void Buffers::note_write(const Step& step, Allocation& a, const BufferAccess& t) {
  if (!a.initialised) note_written(a, t.range, t.shape);
  ++a.version;
  a.written_by = t.code;
  a.written_task = step.task;
  if (t.after != kNoLayout && t.range.lo == 0 && t.shape == 0) {
    a.layout = t.after;
    a.placement = t.placement_after;
  }
}

BufferAccess Buffers::access_of(const Step& step, const PlannedBuffer& planned,
                                const BufferRef& ref, const CommunicationItem& item) const {
  BufferAccess out = access_of(step, planned, ref);
  const CommunicationFacts& facts = *communication_facts(step.code.kind);
  out.reads = sent_bytes(item, facts);
  if (ref.access == Access::kWrite) out.range = received_bytes(item, facts);
  return out;
}

bool Buffers::note_accesses(Step& step, const IssuePlan& plan, const CommunicationItem* item) {
  const StreamIndex stream = step.code.stream;
  const uint32_t sequence = step.rank_state.streams[stream].issued;
  const bool checks = run_.checks_all();
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
      if (!note_access(
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

// Names the first gap, unless the bytes are strided.
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

bool Buffers::check_read(Step& step, const Allocation& a, uint32_t reg, ByteRange range,
                         uint32_t shape) {
  bool covered = a.written.covers(range);
  if (!covered && shape != 0) {
    const std::vector<ByteRange> rows = rows_of(run_.shapes[shape], range.lo);
    covered = std::all_of(rows.begin(), rows.end(),
                          [&](const ByteRange& row) { return a.written.covers(row); });
  }
  if (covered) return true;
  // Every rank must have written its part of a shard. Of a tensor, only rank 0's copy is the
  // result, and nobody reads the others.
  const bool returned = record(step.code.kind).role == HostRole::kReturn;
  const bool shard =
      a.layout != kNoLayout && sharding_of(run_.code->layouts[a.layout].type) != nullptr;
  if (returned && !is_on_mesh_of(*run_.code, a.layout, step.rank)) return true;
  // Without values, counts that a kernel computed are 0 for the host that reads them.
  const bool counts_are_known =
      run_.backend.capabilities().reads_values ||
      std::none_of(run_.code->instructions.begin(), run_.code->instructions.end(),
                   [](const CodeInstruction& c) { return c.kind == OpKind::read; });
  const bool is_error = counts_are_known && (!returned || shard || step.rank == 0);
  const CommunicationFacts* writer =
      a.written_by == kNoCode ? nullptr
                              : communication_facts(run_.code->instructions[a.written_by].kind);
  std::string what;
  if (a.parameter) {
    what = "a parameter without a value";
  } else if (!a.written.ranges().empty()) {
    what = partly_written(a, range, shape);
  } else if (writer != nullptr && writer->root == CommunicationFacts::RootHas::kOutput) {
    what = fmt::format("which nothing has written: {} writes it at the root only",
                       faults_.name_of(a.written_by));
  } else {
    what = "which nothing has written";
  }
  return faults_.warn(
      step, "uninitialised_read",
      fmt::format("rank {}: {} {} {}, {}", step.rank, faults_.name_of(step),
                  returned ? "returns" : "reads", run_.code->register_name(reg), what),
      is_error ? Severity::kError : Severity::kWarning);
}

void Buffers::note_written(Allocation& a, ByteRange range, uint32_t shape) {
  if (shape == 0 && range.lo == 0 && range.hi == a.bytes) {
    a.initialised = true;
    a.written.clear();
    return;
  }
  if (shape == 0) {
    a.written.add(range);
  } else if (range.lo < range.hi) {
    for (const ByteRange& row : rows_of(run_.shapes[shape], range.lo)) a.written.add(row);
  }
  if (!a.written.covers({0, a.bytes})) return;
  a.initialised = true;
  a.written.clear();
}

bool Buffers::check_host_read(Step& step, const BufferRef& ref) {
  const uint32_t reg = step.code.operands[0];
  const Register& name = step.rank_state.registers[reg];
  Allocation& a = step.rank_state.allocations[name.slot];
  const ByteRange range{ref.offset_bytes, ref.offset_bytes + ref.size_bytes};
  if (range.lo >= range.hi || !run_.checks_all()) return true;
  if (!a.initialised && !check_read(step, a, reg, range, name.shape)) return false;
  const uint32_t* host = run_.clock_row(step.rank_state, run_.code->streams.size());
  std::vector<AccessRecord> writes = a.accesses;
  if (a.whole.write != 0) {
    writes.push_back(
        {0, a.bytes, 0, a.whole.stream, a.whole.write, a.whole.write_code, a.whole.write_kind});
  }
  for (const AccessRecord& old : writes) {
    if (old.kind != AccessRecord::Kind::kWrite || old.sequence <= host[old.stream]) continue;
    const AccessRecord mine{
        range.lo, range.hi, name.shape, 0, 0, step.index, AccessRecord::Kind::kRead};
    if (!races_.overlap(old, mine)) continue;
    Fault early = faults_.fault_at(step);
    early.record.kind = "use_before_wait";
    early.record.sentence = fmt::format(
        "rank {}: {} reads {} on the host without waiting for {}, which writes it on stream \"{}\"",
        step.rank, faults_.name_of(step), run_.code->register_name(reg), faults_.name_of(old.code),
        run_.code->streams[old.stream]);
    early.record.instructions.push_back(run_.code->address(old.code));
    early.record.notes.push_back(fmt::format("{} is the other access", faults_.name_of(old.code)));
    early.spans.push_back(run_.code->source(old.code).span);
    faults_.add(std::move(early));
    return false;
  }
  return true;
}

}  // namespace hostir::interp
