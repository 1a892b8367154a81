// Running a recorded run again, from its log alone, and comparing.
//
// Program, inputs, machine, options and decisions come from the log; the backend comes from the
// caller, because this layer knows none. Every event is compared with the logged one: order, rank,
// instruction, loop path, times, bytes, sequence numbers; every written value by its digest; the
// layouts of all tensors; the faults. A log that was cut is replayed up to the cut. Runs that were
// stepped back and forth, with frozen ranks, edits and branches, are replayed decision by decision.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "interp/session/engine.h"
#include "interp/session/value_query.h"
#include "traces/log_reader.h"

namespace hostir::traces {

/// The first place where the replay is not what was logged.
struct Divergence {
  std::string sentence;  // all of the below in words
  std::string what;      // "order", "time", "value", "layout", "fault", ...
  int64_t event = -1;    // of the log
  interp::Rank rank = interp::kNoRank;
  std::string address;           // `@f#9`
  std::string text;              // of the instruction
  std::string tensor;            // of a value
  std::vector<int64_t> element;  // global index of the first different one, if the data are there
};

struct ReplayReport {
  std::optional<Divergence> divergence;  // nothing: equal
  int64_t events = 0;                    // compared
  int64_t values = 0;
  bool cut = false;                // the log was, and was replayed up to there
  std::vector<std::string> notes;  // "digests were made with other kernels (...)"
};

/// Errors: those of opening; `replay_input` where the log does not hold an input and it cannot be
/// found or made again; `replay_program`; those of the backend.
Expected<ReplayReport> replay(const std::string& path, const interp::BackendFactory& make_backend,
                              std::stop_token stop = {});

/// "equal: 120 events, 16 values" or the divergence, with notes; several lines.
std::string to_string(const ReplayReport& report);

/// What a log says about how to run it again.
struct RecordedRun {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const interp::Code> code;
  interp::BackendRequest backend;
  std::vector<Tensor> inputs;  // by parameter
  std::vector<interp::Rank> started_ranks;
  uint64_t max_steps = 0;  // 0: no limit
};
Expected<RecordedRun> recorded_run(const LogReader& log, const interp::Preparing& watch = {});

/// What every write left in one element, by running the log again as `replay` does. Errors: those
/// of `replay`, and `replay_differs` where the run is not what was logged.
Expected<std::vector<interp::PastValue>> replay_element(const std::string& path,
                                                        const interp::BackendFactory& make_backend,
                                                        const interp::PastQuery& query,
                                                        std::stop_token stop = {});

/// What writes left, as `interp::PastRun::past_contents` wants it; ends once the last one came.
Expected<void> replay_contents(const std::string& path, const interp::BackendFactory& make_backend,
                               const std::vector<interp::PastWrite>& writes,
                               const interp::TakeContents& take, std::stop_token stop = {});

}  // namespace hostir::traces
