// Adds the contents of selected tensors to the events of a log (`--trace-values data=GLOB`).
//
// A sink in front of another one. At issue, when names are known, it notes which buffers the task
// writes. When the task's digest arrives, memory is as the task left it, and the contents are read
// and forwarded with the digest.
// Ownership: interpreter and next sink outlive it.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interp/core/forwarding_sink.h"
#include "interp/core/interpreter.h"

namespace hostir::traces {

class ContentsSink final : public interp::ForwardingSink {
 public:
  /// `globs`: names of buffers, without '%'.
  ContentsSink(std::vector<std::string> globs, interp::TraceSink& next)
      : ForwardingSink(&next), globs_(std::move(globs)) {}

  /// Call before the first decision.
  void attach(const interp::Interpreter& interpreter);

  void issued(const interp::IssuedRecord& record) override;
  void finished(const interp::FinishedRecord& record) override;
  void value(const interp::ValueSummary& summary) override;

 private:
  /// A selected buffer that a task writes.
  struct Write {
    uint16_t operand = 0;  // among the written operands
    interp::BufferRef buffer;
    const Placement* after = nullptr;
  };
  bool wants(const std::string& name) const;
  std::vector<Write> writes_of(const interp::IssuedRecord& record) const;

  const std::vector<std::string> globs_;
  const interp::Interpreter* interpreter_ = nullptr;
  std::unordered_map<interp::TaskId, std::vector<Write>> pending_;
  // the task that has just finished
  std::pair<interp::TaskId, std::vector<Write>> last_{interp::kNoTask, {}};
};

}  // namespace hostir::traces
