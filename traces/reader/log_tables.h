// The small tables of a log, loaded when it is opened.
#pragma once

#include <string>
#include <vector>

#include "interp/session/log/log_records.h"
#include "interp/session/prepare/program_view.h"
#include "traces/database/sqlite.h"
#include "traces/reader/event_scanner.h"

namespace hostir::traces {

struct LogTables {
  interp::LogRun run;
  std::string mesh;                // of the world, without '@'
  std::string function;            // the requested one
  std::string program;             // the program that ran
  interp::RecordedTexts recorded;  // the texts as given, if it is known what is where in them
  std::vector<std::string> streams;
  std::vector<interp::LogTrack> tracks;  // per rank: host, then streams
  std::vector<interp::LogInstruction> instructions;
  std::vector<interp::LogCommunicator> communicators;
  std::vector<interp::LogTensor> tensors;
  std::vector<interp::LogExplain> explanations;
  std::vector<interp::LogInput> inputs;
  std::vector<interp::Rank> started_ranks;
  // By instruction: the stream that a `group` runs on, its first member's; -1 for others.
  std::vector<int32_t> group_streams;

  EventLimits limits() const;
  /// The event with the stream that it is drawn on: the event of a `group` has none.
  interp::LogEvent on_stream(const interp::LogEvent& event) const {
    interp::LogEvent drawn = event;
    const bool grouped = event.stream < 0 && event.task != interp::kNoTask;
    if (grouped) drawn.stream = group_streams[event.instruction];
    return drawn;
  }
  /// The track of an event that has passed the limits check.
  interp::TrackId track_of(const interp::LogEvent& event) const {
    return static_cast<interp::TrackId>(static_cast<size_t>(event.rank) * (streams.size() + 1) +
                                        static_cast<size_t>(event.stream + 1));
  }
};

/// Whether the log is being written now.
Expected<interp::LogEnding> read_ending(Database& database);

/// Errors: `log_damaged` and those of SQLite. An invalid field is an error and never causes a large
/// allocation.
Expected<LogTables> load_tables(Database& database);

}  // namespace hostir::traces
