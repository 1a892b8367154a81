// All writes of a run, compact enough for a million: what comparing two runs needs of a log.
//
// Only the history that ended last is kept: what was undone by going back did not happen. Made
// once, on whatever thread; plain values, so a run can be kept while its session goes on.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "interp/session/log_view.h"

namespace hostir::interp {

struct RunWrite {
  int64_t event = -1;
  int64_t row = 0;  // of the log's table of values (LogWrite)
  int64_t time_ns = kUnknownNs;
  uint64_t digest = 0;
  Rank rank = kNoRank;
  uint32_t tensor = 0;  // index in LogView::tensors()
  CodeIndex instruction = 0;
  uint32_t loop = 0;  // index in RunWrites::loops
  float min = 0, max = 0;
  bool has_stats = false;
  bool has_data = false;  // the log kept the contents
  bool not_finite = false;
};

/// A value that was set by hand.
struct RunEdit {
  std::string value;  // without '%'
  std::vector<Rank> ranks;
  uint64_t decision = 0;     // of the first of them
  int64_t offset_bytes = 0;  // in the rank's buffer
  std::string data;          // what was written, hexadecimal
};

struct RunWrites {
  std::vector<RunWrite> writes;    // in order of event, tensor
  std::vector<std::string> loops;  // "3.0"; the first is empty
  std::vector<RunEdit> edits;
  std::vector<LogFault> faults;  // so far: those of a log that goes on are not this run's
  std::vector<LogInput> inputs;
  bool finished = true;  // false: the run has not ended, and more may come
};

/// How far a run has come that goes on while it is read.
struct RunLimit {
  uint32_t branch = 0;     // of the history
  uint64_t decisions = 0;  // made on it, with those before it
};

/// What was read so far, for whoever waits.
struct DiffProgress {
  std::atomic<int64_t> done = 0;
  std::atomic<int64_t> total = 0;
};

/// With `limit` only what had been issued by then. Errors: those of the log, `log_cancelled`.
/// `finished` is what the log's run says.
Expected<RunWrites> read_writes_of(const LogView& log, const std::optional<RunLimit>& limit,
                                   DiffProgress& progress, const std::stop_token& stop);

}  // namespace hostir::interp
