// Where a predicted run spends its time, and what a rank holds when it holds most.
//
// A buffer is a gradient if it is named after one (`d_w1`, `d_w1_scattered`), else a buffer of
// communication if a collective writes it and nothing else does, or if only collectives read it.
// Everything else that is allocated counts as activations. Of a fusion without gradients, all
// parameters count as such; else those without a gradient are inputs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "interp/core/code/code.h"
#include "interp/core/forwarding_sink.h"

namespace hostir::api {

/// Bytes of one rank.
struct MemorySplit {
  int64_t parameters = 0;
  int64_t inputs = 0;
  int64_t gradients = 0;
  int64_t optimizer = 0;
  int64_t activations = 0;
  int64_t communication = 0;

  int64_t total() const {
    return parameters + inputs + gradients + optimizer + activations + communication;
  }
  /// The parts that are not 0, with their names.
  std::vector<std::pair<std::string, int64_t>> parts() const;
};

/// The times of one rank, whose work and communication overlap.
struct TimeSplit {
  int64_t compute_ns = 0;
  std::map<std::string, int64_t> collectives_ns;  // by axes: `{tp}`
};

/// The parameters for which the fusion has a result `d_<parameter>`.
std::set<std::string> trained_parameters(const Function& fusion);

/// Observes a run; if it has several ranks, only the first of them.
class RunProfile : public interp::ForwardingSink {
 public:
  /// `code` must outlive this. `optimizer_bytes`: held during the whole run, in addition.
  RunProfile(const interp::Code& code, std::set<std::string> trained, int64_t optimizer_bytes);

  void issued(const interp::IssuedRecord& record) override;
  void finished(const interp::FinishedRecord& record) override;

  const MemorySplit& memory_at_peak() const { return at_peak_; }
  const TimeSplit& times() const { return times_; }
  /// After each alloc and free.
  const std::vector<int64_t>& live_bytes() const { return live_bytes_; }

 private:
  int64_t& part_of(const std::string& value);

  const interp::Code& code_;
  std::set<std::string> trained_;
  std::set<std::string> communication_;  // buffers, by name
  std::map<interp::TaskId, interp::IssuedRecord> open_;
  std::map<std::string, int64_t> bytes_;  // of buffers that are held, by name
  MemorySplit held_;
  MemorySplit at_peak_;
  TimeSplit times_;
  std::vector<int64_t> live_bytes_;
};

}  // namespace hostir::api
