// All writes of a run, compact enough for a million: what a comparison of two runs reads from a
// log.
//
// Contains only the final history: undone steps are left out. Created once, on any thread; plain
// values, so that a run can be kept while its session continues.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "interp/session/log/log_view.h"

namespace hostir::interp {

struct RunWrite {
  int64_t event = -1;
  int64_t row = 0;  // in the log's table of values (LogWrite)
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

/// A value set by the user.
struct RunEdit {
  std::string value;  // without '%'
  std::vector<Rank> ranks;
  uint64_t decision = 0;     // decision of the first such edit
  int64_t offset_bytes = 0;  // into the rank's buffer
  std::string data;          // the written bytes, hexadecimal
};

struct RunWrites {
  std::vector<RunWrite> writes;    // ordered by event, tensor
  std::vector<std::string> loops;  // "3.0"; the first is empty
  std::vector<RunEdit> edits;
  std::vector<FaultRecord> faults;  // found so far; a continuing log may add some
                                    // this run's
  std::vector<LogInput> inputs;
  bool finished = true;  // false: the run has not ended and may write more
};

/// Limits reading to part of a run that continues meanwhile.
struct RunLimit {
  uint32_t branch = 0;     // history branch
  uint64_t decisions = 0;  // on this branch, including its ancestors
};

/// Progress of reading.
struct DiffProgress {
  std::atomic<int64_t> done = 0;
  std::atomic<int64_t> total = 0;
};

/// With `limit`, only what had been issued by then. `finished` is taken from the log's run.
/// Errors: those of the log, `log_cancelled`.
Expected<RunWrites> read_writes_of(const LogView& log, const std::optional<RunLimit>& limit,
                                   DiffProgress& progress, const std::stop_token& stop);

}  // namespace hostir::interp
