// Reads a log: the implementation of `LogView`, and what headless queries need in addition.
//
// `open_log` reads the small tables. `refresh()` loads the timeline stored in the log and reads the
// events it does not cover into timelines in memory; the first time with several threads, showing
// what has been read so far. Reading never changes the file.
// Threads: as for LogView. Rows are read through separate connections; timelines are guarded by a
// lock that is held for milliseconds at most. Any damage is an error, never a crash.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/tensor.h"
#include "interp/session/log/log_view.h"
#include "traces/database/connection_pool.h"
#include "traces/reader/event_loader.h"
#include "traces/reader/log_tables.h"
#include "traces/reader/stored_log.h"
#include "traces/reader/undone_events.h"
#include "traces/timeline/timeline.h"

namespace hostir::traces {

class LogReader final : public interp::LogView {
 public:
  LogReader(ReadableFile file, LogTables tables);
  ~LogReader() override;

  const interp::LogRun& run() const override { return tables_.run; }
  const std::vector<interp::LogTrack>& tracks() const override { return tables_.tracks; }
  const std::vector<interp::LogInstruction>& instructions() const override {
    return tables_.instructions;
  }
  const std::vector<interp::LogCommunicator>& communicators() const override {
    return tables_.communicators;
  }
  const std::vector<interp::LogTensor>& tensors() const override { return tables_.tensors; }
  const std::vector<interp::PhaseText>& phases() const { return tables_.recorded.phases; }
  const std::vector<interp::LogExplain>& explanations() const override {
    return tables_.explanations;
  }
  const std::vector<interp::LogInput>& inputs() const override { return tables_.inputs; }

  Expected<interp::LogExtent> refresh(std::stop_token stop = {}) override;
  interp::LogExtent extent() const override;
  interp::LogEnding ending() const override { return ending_; }
  interp::LogProgress progress() const override;
  bool shows(int64_t event) const override;
  std::vector<interp::TimelineSlice> timeline(
      const interp::TimelineRequest& request) const override;
  std::vector<interp::TimelineSum> sums(int64_t from_ns, int64_t to_ns) const override;
  Expected<void> durations(interp::TrackId track, int64_t from_ns, int64_t to_ns,
                           std::vector<interp::Durations>& by_instruction,
                           std::stop_token stop = {}) const override;
  Expected<std::vector<interp::LogEvent>> events(const interp::EventFilter& filter,
                                                 std::stop_token stop = {}) const override;
  Expected<interp::LogEvent> event(int64_t id) const override;
  std::string loop_path(interp::LoopPathId path) const override;
  Expected<std::vector<interp::LogCollective>> collectives(
      const interp::EventFilter& filter, std::stop_token stop = {}) const override;
  Expected<std::vector<interp::LogMemoryPoint>> memory(interp::Rank rank, int64_t from_ns,
                                                       int64_t to_ns, int32_t columns,
                                                       std::stop_token stop = {}) const override;
  Expected<interp::LogWrites> find_writes(const interp::WriteFilter& filter,
                                          std::stop_token stop = {}) const override;
  Expected<std::vector<interp::LogValue>> read_writes(
      std::span<const interp::LogWrite> places, const std::optional<std::vector<int64_t>>& element,
      std::stop_token stop = {}) const override;
  Expected<Tensor> contents(const interp::LogWrite& place) const override;
  Expected<std::vector<interp::FaultRecord>> faults() const override;
  Expected<std::vector<interp::DecisionRecord>> decisions() const override;
  Expected<interp::LogTable> query(std::string_view sql, int64_t max_rows = 100000,
                                   std::stop_token stop = {}) const override;
  interp::LogProgress query_progress() const override { return {query_read_, query_total_, false}; }
  Expected<void> save(const std::string& path) const override;

  // ---- in addition to LogView

  const LogTables& tables() const { return tables_; }
  /// A connection for custom scans.
  Expected<ConnectionPool::Lease> connect(std::stop_token stop = {}) const {
    return pool_.acquire(std::move(stop));
  }
  /// The contents of an input. Errors: `log_no_input` if they are not in the log.
  Expected<Tensor> input_data(size_t index) const;
  /// The recorded contents with this digest, row-major over the local box. Errors: `log_no_data`.
  Expected<std::vector<std::byte>> data(uint64_t digest) const;
  /// Passes on all drawn events of a track that may begin in [from, to), block by block, in order
  /// of begin except for late ones; damaged blocks are left out.
  Expected<void> each_drawn(interp::TrackId track, int64_t from_ns, int64_t to_ns,
                            const std::stop_token& stop,
                            const std::function<void(std::span<const TimelineEvent>)>& take) const;
  /// For `query_progress`.
  void report_progress(int64_t read, int64_t total) const {
    query_read_ = read;
    query_total_ = total;
  }
  /// All problems of the file: SQLite's own check, digests of the tables, checksums of the blocks.
  /// Empty if there are none.
  Expected<std::vector<std::string>> check(std::stop_token stop = {}) const;

 private:
  struct Loaded {
    StoredLog stored;                 // the stored timeline, up to its `next_id`
    std::vector<Timeline> timelines;  // by track: later events
    std::vector<std::vector<interp::LogMemoryPoint>> memory;  // by rank, in order of time
    interp::Lineage lineage;
    std::vector<EventRange> undone;  // by `lineage`, for the events present when it was read
    interp::LogExtent extent;
    int64_t next_id = 0;     // events below it were read, except those in `open`
    int64_t row_count = 0;   // number of events read
    std::set<int64_t> open;  // unfinished when they were read
  };
  /// Rows found by a refresh; they are added to the timelines under the lock.
  struct NewRows {
    EventPart part;
    std::vector<int64_t> finished;  // formerly `open`; also in `part`
  };
  Expected<interp::LogEnding> ending_now();
  Expected<void> read_newest(const std::stop_token& stop);
  Expected<void> load_all(interp::Lineage lineage, const std::stop_token& stop);
  void begin(interp::Lineage lineage, std::vector<EventRange> undone, StoredLog stored);
  /// The events of `loaded.open` that have finished.
  Expected<NewRows> read_open(Database& database, const Loaded& loaded) const;
  /// Those events, and all events after the loaded ones.
  Expected<NewRows> read_news(Database& database, const Loaded& loaded) const;
  void merge_news(Loaded& loaded, const NewRows& news) const;
  void take_in(Loaded& loaded, const EventPart& part) const;
  BlockCache::BlockPtr fetch_block(int64_t row) const;
  Expected<bool> is_whole(Database& database, const Loaded& loaded) const;

  LogTables tables_;
  mutable ConnectionPool pool_;
  std::unique_ptr<Database> loader_;  // refresh() only: its data_version shows changes
  int64_t data_version_ = -1;         // of loader_, at the last read
  std::chrono::steady_clock::time_point looked_at_ending_{};
  std::mutex refresh_mutex_;
  std::atomic<int64_t> read_ = 0;  // for progress()
  std::atomic<int64_t> total_ = 0;
  std::atomic<bool> reading_ = true;  // until the first refresh has ended
  std::atomic<interp::LogEnding> ending_;
  mutable BlockCache blocks_;
  mutable std::shared_mutex mutex_;  // guards loaded_
  Loaded loaded_;
  mutable std::atomic<int64_t> query_read_ = 0;  // for query_progress()
  mutable std::atomic<int64_t> query_total_ = 0;
};

/// The kind of a decision from its name in the log; never kRun. Errors: `log_damaged`.
Expected<interp::DecisionRecord::Kind> decision_kind(std::string_view name);

/// Opens a log, including one that is being written or was cut. `home`: a temporary folder that
/// holds the log and is deleted with the reader.
/// Errors: `log_missing`, `log_not_a_log`, `log_newer`, `log_old`, `log_empty` (cut before the run
/// was described), `log_damaged`, `log_io`.
Expected<std::unique_ptr<LogReader>> open_log(const std::string& path,
                                              std::unique_ptr<TemporaryDirectory> home = nullptr);

}  // namespace hostir::traces
