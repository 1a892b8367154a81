// Counts collectives and tracks the last finish time during a run, forwarding all events.
//
// A sink in front of the log's sink. Counting costs one table lookup per instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "interp/core/code/code.h"
#include "interp/core/forwarding_sink.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::interp {

class RunSummary final : public ForwardingSink {
 public:
  /// `next` may be null; neither is owned.
  RunSummary(const Code& code, TraceSink* next);

  void issued(const IssuedRecord& record) override;
  void finished(const FinishedRecord& record) override;

  /// Communication per rank. Equal collectives (kind, reduction, axes, bytes) are one entry,
  /// ordered by first use.
  std::vector<CollectiveCount> collectives() const;
  int64_t finished_ns() const { return finished_ns_; }

 private:
  // The calls of order_; equal collectives of one group are merged.
  std::vector<std::vector<CodeIndex>> calls() const;

  struct Use {
    int64_t count = 0;
    int64_t bytes = 0;
  };
  const Code& code_;
  std::vector<uint8_t> communicates_;  // by CodeIndex
  std::vector<std::vector<Use>>
      by_rank_;                   // [rank][CodeIndex], made when the rank first communicates
  std::vector<CodeIndex> order_;  // of first use
  int64_t finished_ns_ = 0;
};

/// `{tp}`, `groups [[0, 1], [2, 3]]`.
std::string describe_axes(const Communicator& comm);

}  // namespace hostir::interp
