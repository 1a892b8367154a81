// Writes the log of one run.
//
// A sink call copies a record of a few words into a bounded ring and returns. A writer thread
// joins, packs and inserts the records in large transactions. There is one ring, because one
// interpreter thread runs all ranks of a process: the order of issue is total, and nothing has to
// be merged. `create` commits everything known before the first event. Rows are committed every 100
// ms. Every 300 ms, or at once when idle, work in flight is written too: a killed run leaves a log
// that opens and lacks at most the last 0.3 s and the contents of the ring.
// Threads: the sink functions, `flush` and `close` belong to one thread. When the ring is full the
// caller waits; no row is dropped.
// Errors: disk errors are kept and returned by `flush` and `close`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interp/core/trace_sink.h"
#include "traces/writer/run_description.h"

namespace hostir::traces {

struct TraceOptions {
  int64_t inputs_max_bytes = int64_t{64} << 20;  // of all inputs, compressed
  int64_t ring_bytes = int64_t{128} << 20;       // about 800,000 events; committed as it fills
  int64_t plain_events = 65536;                  // later events are packed (schema: event_block)
  std::vector<std::string> data_globs;  // names of tensors whose contents are kept: `y`, `w*`
  std::string value_mode = "digest";    // as requested; recorded in the log
};

struct TraceStatistics {
  int64_t events = 0;
  uint64_t stalls = 0;  // number of times the ring was full
};

class TraceWriter final : public interp::TraceSink {
 public:
  /// Replaces an older log at `path`; any other file is left alone.
  /// Errors: `log_exists`, `log_io`, `log_full`.
  static Expected<std::unique_ptr<TraceWriter>> create(const std::string& path,
                                                       const RunDescription& run,
                                                       const TraceOptions& options = {});
  /// Closes without an outcome if `close` was not called.
  ~TraceWriter() override;

  /// The kernels of the run, once the backend has compiled them; call before the first event.
  void kernels(std::vector<KernelDescription> kernels);
  /// Writes a row of the table `property`, as in RunDescription::properties.
  void property(const std::string& key, const std::string& value);

  void called(const interp::CallRecord& record) override;
  void issued(const interp::IssuedRecord& record) override;
  void finished(const interp::FinishedRecord& record) override;
  void value(const interp::ValueSummary& summary) override;
  void decision(const interp::DecisionRecord& record) override;
  void fault(const interp::FaultRecord& record) override;
  void rank_state(const interp::RankStateRecord& record) override;
  void loop_path(interp::LoopPathId id, interp::LoopPathId parent, interp::CodeIndex loop,
                 int64_t iteration) override;

  /// Commits everything so far, including work in flight, so that readers see it.
  Expected<void> flush();
  /// Ends the log. `outcome` is "ok" or the kind of the fault; if empty, the kind of the first
  /// logged fault, or "ok". Leaves a single file.
  Expected<TraceStatistics> close(const std::string& outcome = {});

 private:
  struct Impl;
  explicit TraceWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hostir::traces
