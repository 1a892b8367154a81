// Faults of a run: recorded in its state, written to its log.
#pragma once

#include <optional>
#include <string>

#include "interp/core/engine/run_context.h"

namespace hostir::interp {

class FaultReporter {
 public:
  explicit FaultReporter(RunContext& run) : run_(run) {}

  /// Records a fault at this instruction. Returns false: it is fatal.
  bool fault(const Step& step, std::string id, const std::string& what);
  /// Records a fault that does not end the run, once per instruction. Returns true.
  bool warn(const Step& step, std::string id, const std::string& what,
            Severity severity = Severity::kError);
  /// Records the backend's reason to refuse a task. Returns false.
  bool refuse_task(const Step& step, const Error& why);
  /// A fault with rank, instruction and loop iterations; the caller adds what is wrong.
  Fault fault_at(const Step& step) const;
  void add(Fault fault);
  std::string name_of(const Step& step) const { return name_of(step.index); }  // `@f#9 launch`
  std::string name_of(CodeIndex code) const;
  std::string note_line(Rank rank, CodeIndex code, LoopPathId path) const;

  /// If set, the first fatal fault's sentence is stored here and nothing is recorded.
  std::optional<std::string>* probe = nullptr;

 private:
  RunContext& run_;
};

}  // namespace hostir::interp
