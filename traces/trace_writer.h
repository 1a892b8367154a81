// Writes the log of one run.
//
// A sink call copies a record of a few words into a bounded ring and returns; a writer thread
// joins, packs and inserts in large transactions. One ring, because one interpreter thread runs all
// ranks of a process: order of issue is then total and nothing has to be merged. Everything known
// before the first event is committed by `create`. Rows are committed every 100 ms, and every 300
// ms (at once when there is nothing else to do) what is in flight is written too: a killed run
// leaves a log that opens and lacks at most the last 0.3 s and what was in the ring. Threads: the
// sink functions, `flush` and `close` belong to one thread. When the ring is full the caller waits;
// no row is dropped. Errors of the disk are kept and come out of `flush` and `close`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interp/core/trace_sink.h"
#include "traces/run_description.h"

namespace hostir::traces {

struct TraceOptions {
  int64_t inputs_max_bytes = int64_t{64} << 20;  // of all inputs, compressed
  int64_t ring_bytes = int64_t{128} << 20;       // about 800,000 events; touched as it fills
  int64_t plain_events = 65536;                  // further events are packed (schema: event_block)
  std::vector<std::string> data_globs;  // tensors by name whose contents are kept: `y`, `w*`
  std::string value_mode = "digest";    // as the run asked for; for the record
};

struct TraceStatistics {
  int64_t events = 0;
  uint64_t stalls = 0;  // how often the ring was full
};

class TraceWriter final : public interp::TraceSink {
 public:
  /// Replaces an older log at `path`; any other file is left alone. Errors: `log_exists`,
  /// `log_io`, `log_full`.
  static Expected<std::unique_ptr<TraceWriter>> create(const std::string& path,
                                                       const RunDescription& run,
                                                       const TraceOptions& options = {});
  /// Closes without an outcome if `close` was not called.
  ~TraceWriter() override;

  /// The kernels of the run, when the backend has compiled them; before the first event.
  void kernels(std::vector<KernelDescription> kernels);
  /// A row of the table `property`, as RunDescription::properties.
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

  /// Commits everything up to now, work in flight included, so that readers see it.
  Expected<void> flush();
  /// The end: `outcome` is "ok" or the kind of the fault; empty: the kind of the first fault that
  /// was logged, or "ok". Leaves one file.
  Expected<TraceStatistics> close(const std::string& outcome = {});

 private:
  struct Impl;
  explicit TraceWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// `*` any run of characters, `?` one; the whole name must match.
bool matches_glob(std::string_view glob, std::string_view name);

}  // namespace hostir::traces
