// Runs a recorded run again, from its log alone, and compares.
//
// Program, inputs, machine, options and decisions come from the log; the caller provides the
// backend, because this layer does not depend on any. Compared are: every event (order, rank,
// instruction, loop path, times, bytes, sequence numbers), every written value by its digest, the
// layouts of all tensors, and the faults. A cut log is replayed up to the cut. Runs that were
// stepped back and forth, with frozen ranks, edits and branches, are replayed decision by decision.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "interp/session/prepare/prepared_run.h"
#include "interp/session/values/value_query.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

/// The first difference between the replay and the log.
struct Divergence {
  std::string sentence;  // a complete description
  std::string what;      // "order", "time", "value", "layout", "fault", ...
  int64_t event = -1;    // id in the log
  interp::Rank rank = interp::kNoRank;
  std::string address;           // `@f#9`
  std::string text;              // of the instruction
  std::string tensor;            // of a value
  std::vector<int64_t> element;  // global index of the first difference, if the data are known
};

struct ReplayReport {
  std::optional<Divergence> divergence;  // nullopt: equal
  int64_t events = 0;                    // number compared
  int64_t values = 0;
  bool cut = false;                // the log was cut; replayed up to there
  std::vector<std::string> notes;  // "digests were made with other kernels (...)"
};

/// Errors: those of opening; `replay_input` if an input is not in the log and cannot be found or
/// recreated; `replay_program`; those of the backend.
Expected<ReplayReport> replay(const std::string& path, const interp::BackendFactory& make_backend,
                              std::stop_token stop = {});

/// "equal: 120 events, 16 values" or the divergence, with notes; several lines.
std::string to_string(const ReplayReport& report);

/// The contents of an input: from the log, its generator or its file. Errors: `replay_input` if the
/// log does not have them, or what the generator or file gives now differs.
Expected<Tensor> recorded_input(const LogReader& log, size_t index);

/// The information in a log that is needed to run it again.
struct RecordedRun {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const interp::Code> code;
  interp::BackendRequest backend;
  std::vector<Tensor> inputs;  // by parameter
  std::vector<interp::Rank> started_ranks;
  uint64_t max_steps = 0;  // 0: no limit
};
Expected<RecordedRun> recorded_run(const LogReader& log, const interp::PrepareProgress& watch = {});

/// The values of one element after each write, found by running the log again as in `replay`.
/// Errors: those of `replay`, and `replay_differs` if the run deviates from the log.
Expected<std::vector<interp::PastValue>> replay_element(const std::string& path,
                                                        const interp::BackendFactory& make_backend,
                                                        const interp::PastQuery& query,
                                                        std::stop_token stop = {});

/// The contents left by writes, for `interp::ReplaySource::past_contents`; stops after the last
/// requested one.
Expected<void> replay_contents(const std::string& path, const interp::BackendFactory& make_backend,
                               const std::vector<interp::PastWrite>& writes,
                               const interp::TakeContents& take, std::stop_token stop = {});

}  // namespace hostir::traces
