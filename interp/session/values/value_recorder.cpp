#include "interp/session/values/value_recorder.h"

#include <algorithm>

#include "hostir/ir/access.h"
#include "hostir/support/lists.h"

namespace hostir::interp {

ValueRecorder::ValueRecorder(Wanted wanted, TraceSink* next)
    : ForwardingSink(next), wanted_(std::move(wanted)) {}

void ValueRecorder::attach(const Interpreter& interpreter) {
  interpreter_ = &interpreter;
  const Code& code = interpreter.code();
  issues_.assign(static_cast<size_t>(code.rank_count), {});
  open_group_.assign(static_cast<size_t>(code.rank_count), {});
  interpreter.backend().set_stepwise(true);  // values are read when their writer finishes
  for (uint32_t reg = 0; reg < code.registers.size(); ++reg) {
    const RegisterInfo& info = code.registers[reg];
    if (info.buffer && info.value.valid() &&
        wanted_(code.functions[info.function]->value(info.value)))
      wanted_registers_.push_back(reg);
  }
  for (const uint32_t reg : code.parameters) {
    if (!contains(wanted_registers_, reg)) continue;
    for (Rank rank = 0; rank < code.rank_count; ++rank) {
      const auto ref = interpreter.buffer(rank, reg);
      if (!ref || !ref->placement) continue;
      IssuedRecord bound;
      bound.rank = rank;
      bound.code = kNoCode;
      add_version(bound, reg, *ref, code.layouts[code.registers[reg].layout].type, *ref->placement,
                  0);
      read_into(versions_.back(), *ref);
    }
  }
}

void ValueRecorder::issued(const IssuedRecord& record) {
  ForwardingSink::issued(record);
  if (!interpreter_) return;
  std::vector<RecordedIssue>& issues = issues_[static_cast<size_t>(record.rank)];
  const uint64_t order = issues.size() + 1;
  issues.push_back({record.code, record.loop_path, order});
  std::vector<Pending>& open = open_group_[static_cast<size_t>(record.rank)];
  if (record.task != kNoTask && !open.empty()) {
    pending_[record.task] = std::move(open);
    open.clear();
  }
  const Code& code = interpreter_->code();
  const CodeInstruction& instruction = code.instructions[record.code];
  const std::vector<Operand>& operands = code.source(record.code).operands;
  for (size_t i = 0; i < instruction.operands.size() && i < operands.size(); ++i) {
    if (instruction.operands[i] != kNoRegister && writes(operands[i].access))
      note_write(record, instruction, i, order);
  }
}

void ValueRecorder::note_write(const IssuedRecord& record, const CodeInstruction& instruction,
                               size_t operand, uint64_t order) {
  const Code& code = interpreter_->code();
  const uint32_t reg = instruction.operands[operand];
  const auto ref = interpreter_->buffer(record.rank, reg);
  if (!ref || !ref->placement) return;
  LayoutIndex after = instruction.becomes[operand];
  if (after == kNoLayout) after = instruction.layouts[operand];
  const bool known = after != kNoLayout && code.layouts[after].is_static();
  const Placement placement =
      known ? code.layouts[after].by_rank[static_cast<size_t>(record.rank)] : *ref->placement;
  const Type type = after != kNoLayout ? code.layouts[after].type : Type{};
  for (const uint32_t wanted : wanted_registers_) {
    if (wanted == reg) {
      add_version(record, reg, *ref, type, placement, order);
      continue;
    }
    // A write through another name for the same storage (a view, a carried buffer).
    const auto other = interpreter_->buffer(record.rank, wanted);
    if (!other || !other->placement || other->allocation != ref->allocation) continue;
    const LayoutIndex declared = code.registers[wanted].layout;
    add_version(record, wanted, *other,
                declared == kNoLayout ? Type{} : code.layouts[declared].type, *other->placement,
                order);
  }
}

void ValueRecorder::add_version(const IssuedRecord& record, uint32_t reg, const BufferRef& ref,
                                Type type, Placement placement, uint64_t order) {
  const Code& code = interpreter_->code();
  const RegisterInfo& info = code.registers[reg];
  RecordedVersion version;
  version.rank = record.rank;
  version.reg = reg;
  version.name = code.functions[info.function]->value(info.value).name;
  version.code = record.code;
  version.loop_path = record.loop_path;
  version.order = order;
  version.type = std::move(type);
  version.placement = std::move(placement);
  versions_.push_back(std::move(version));
  if (record.code == kNoCode) return;
  auto& list = record.task != kNoTask ? pending_[record.task]
                                      : open_group_[static_cast<size_t>(record.rank)];
  list.push_back({versions_.size() - 1, ref});
}

void ValueRecorder::read_into(RecordedVersion& version, const BufferRef& ref) {
  const int64_t bytes = version.placement.local_bytes();
  if (bytes > most_bytes_ - held_bytes_) return;
  held_bytes_ += bytes;
  BufferRef now = ref;
  now.placement = &version.placement;
  auto tensor = interpreter_->backend().read(version.rank, now, version.placement.box);
  if (tensor) version.data = std::move(*tensor);
}

void ValueRecorder::finished(const FinishedRecord& record) {
  const auto found = pending_.find(record.task);
  if (found != pending_.end()) {
    for (const Pending& p : found->second) {
      read_into(versions_[p.version], p.ref);
      if (completed_) completed_(versions_[p.version], p.ref, interpreter_->backend());
    }
    pending_.erase(found);
  }
  ForwardingSink::finished(record);
}

void ValueRecorder::loop_path(LoopPathId id, LoopPathId parent, CodeIndex loop, int64_t iteration) {
  iterations_[id] = iteration;
  ForwardingSink::loop_path(id, parent, loop, iteration);
}

std::optional<int64_t> ValueRecorder::iteration(LoopPathId path) const {
  const auto found = iterations_.find(path);
  if (found == iterations_.end()) return std::nullopt;
  return found->second;
}

}  // namespace hostir::interp
