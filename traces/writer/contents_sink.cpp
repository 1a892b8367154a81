#include "traces/writer/contents_sink.h"

#include <algorithm>

#include "hostir/support/glob.h"
#include "hostir/support/hash.h"

namespace hostir::traces {

using interp::Code;
using interp::CodeInstruction;

void ContentsSink::attach(const interp::Interpreter& interpreter) { interpreter_ = &interpreter; }

bool ContentsSink::wants(const std::string& name) const {
  return std::any_of(globs_.begin(), globs_.end(),
                     [&](const std::string& glob) { return glob_match(glob, name); });
}

std::vector<ContentsSink::Write> ContentsSink::writes_of(const interp::IssuedRecord& record) const {
  const Code& code = interpreter_->code();
  const CodeInstruction& instruction = code.instructions[record.code];
  const Function& function = *code.functions[instruction.function];
  const std::vector<Operand>& operands = code.source(record.code).operands;
  std::vector<Write> writes;
  uint16_t written = 0;
  for (size_t i = 0; i < operands.size() && i < instruction.operands.size(); ++i) {
    const bool writes_it =
        operands[i].access == Access::kWrite || operands[i].access == Access::kReadWrite;
    if (!writes_it || !operands[i].value.valid()) continue;
    const uint16_t operand = written++;
    if (!wants(function.value(operands[i].value).name)) continue;
    const auto buffer = interpreter_->buffer(record.rank, instruction.operands[i]);
    if (!buffer || buffer->placement == nullptr) continue;
    const interp::LayoutIndex layout = instruction.becomes[i] != interp::kNoLayout
                                           ? instruction.becomes[i]
                                           : instruction.layouts[i];
    const bool known = layout < code.layouts.size() && code.layouts[layout].is_static();
    writes.push_back({operand, *buffer,
                      known ? &code.layouts[layout].by_rank[static_cast<size_t>(record.rank)]
                            : buffer->placement});
  }
  return writes;
}

void ContentsSink::issued(const interp::IssuedRecord& record) {
  if (interpreter_ != nullptr && record.task != interp::kNoTask) {
    std::vector<Write> writes = writes_of(record);
    if (!writes.empty()) pending_[record.task] = std::move(writes);
  }
  ForwardingSink::issued(record);
}

void ContentsSink::finished(const interp::FinishedRecord& record) {
  if (const auto found = pending_.find(record.task); found != pending_.end()) {
    last_ = {record.task, std::move(found->second)};
    pending_.erase(found);
  }
  ForwardingSink::finished(record);
}

void ContentsSink::value(const interp::ValueSummary& summary) {
  const auto found = pending_.find(summary.task);
  const std::vector<Write>* writes = found != pending_.end()       ? &found->second
                                     : last_.first == summary.task ? &last_.second
                                                                   : nullptr;
  if (writes == nullptr || !summary.data.empty()) return ForwardingSink::value(summary);
  for (const Write& write : *writes) {
    if (write.operand != summary.operand) continue;
    interp::BufferRef buffer = write.buffer;
    buffer.placement = write.after;
    const auto contents = interpreter_->backend().read(summary.rank, buffer, write.after->box);
    // If the digest differs, another task has written since: these are not the contents of the
    // write.
    if (!contents || hash_of(contents->data) != summary.digest) break;
    interp::ValueSummary with_data = summary;
    with_data.data = contents->data;
    return ForwardingSink::value(with_data);
  }
  ForwardingSink::value(summary);
}

}  // namespace hostir::traces
