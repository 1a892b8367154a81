// Records every version of selected buffers during a headless run.
//
// The device runs behind the host, so the contents of a buffer "before all_reduce#1" cannot be read
// when the host issues it. The recorder notes at issue which task writes what, and reads the buffer
// when that task completes. So a version follows program order, whatever the schedule. It is a
// trace sink in front of another one. Memory: every selected version on every rank; meant for
// scripts and checks, not for long runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/tensor.h"
#include "interp/core/forwarding_sink.h"
#include "interp/core/interpreter.h"

namespace hostir::interp {

/// What one write left in a buffer on one rank.
struct RecordedVersion {
  Rank rank = 0;
  uint32_t reg = kNoRegister;
  std::string name;          // of the register, without '%'
  CodeIndex code = kNoCode;  // the writer; kNoCode: the bound contents of a parameter
  LoopPathId loop_path = 0;
  uint64_t order = 0;  // issue number of the writer on its rank; 0: a parameter
  Type type;           // layout after the write
  Placement placement;
  std::optional<Tensor> data;  // nullopt: never completed, or not readable
};

/// One executed instruction of a rank, in order of issue.
struct RecordedIssue {
  CodeIndex code = 0;
  LoopPathId loop_path = 0;
  uint64_t order = 0;  // from 1
};

class ValueRecorder final : public ForwardingSink {
 public:
  /// `wanted`: selects the buffers of the host function whose versions are kept. `next` may be
  /// null; it is not owned.
  using Wanted = std::function<bool(const Value& buffer)>;
  ValueRecorder(Wanted wanted, TraceSink* next);

  /// Call before the first decision; records the parameters.
  void attach(const Interpreter& interpreter);

  /// Called with each version of a write as soon as its contents are read, before a later task can
  /// read them. May change the buffer through the backend, and take the contents.
  using Completed = std::function<void(RecordedVersion&, const BufferRef&, Backend&)>;
  void on_completed(Completed completed) { completed_ = std::move(completed); }

  /// Contents beyond this many bytes are not kept; the versions are.
  void limit(int64_t bytes) { most_bytes_ = bytes; }

  const std::vector<RecordedVersion>& versions() const { return versions_; }
  const std::vector<RecordedIssue>& issues(Rank rank) const {
    return issues_[static_cast<size_t>(rank)];
  }

  /// Iteration of the innermost loop; nullopt outside of loops.
  std::optional<int64_t> iteration(LoopPathId path) const;

  void issued(const IssuedRecord& record) override;
  void finished(const FinishedRecord& record) override;
  void loop_path(LoopPathId id, LoopPathId parent, CodeIndex loop, int64_t iteration) override;

 private:
  void note_write(const IssuedRecord& record, const CodeInstruction& instruction, size_t operand,
                  uint64_t order);
  void add_version(const IssuedRecord& record, uint32_t reg, const BufferRef& ref, Type type,
                   Placement placement, uint64_t order);
  void read_into(RecordedVersion& version, const BufferRef& ref);

  struct Pending {
    size_t version;
    BufferRef ref;
  };
  Wanted wanted_;
  Completed completed_;
  const Interpreter* interpreter_ = nullptr;
  int64_t most_bytes_ = INT64_MAX;
  int64_t held_bytes_ = 0;
  std::vector<uint32_t> wanted_registers_;
  std::vector<RecordedVersion> versions_;
  std::vector<std::vector<RecordedIssue>> issues_;  // by rank
  std::unordered_map<TaskId, std::vector<Pending>> pending_;
  std::vector<std::vector<Pending>> open_group_;  // by rank: members waiting for the group's task
  std::unordered_map<LoopPathId, int64_t> iterations_;
};

}  // namespace hostir::interp
