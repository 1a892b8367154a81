// Executes one `run` statement: prepares it once, runs it under each schedule, and records the
// events and values that later expectations need.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hostir/script/event_recorder.h"
#include "hostir/script/runner.h"
#include "interp/session/prepare/prepared_run.h"
#include "interp/session/values/value_recorder.h"

namespace hostir::script {

/// One execution under one schedule.
struct Execution {
  uint64_t schedule = 0;
  interp::RunResult result;
  std::unique_ptr<EventRecorder> events;
  std::unique_ptr<interp::ValueRecorder> values;
};

/// The outcome of a run statement.
struct RunRecord {
  const RunStatement* statement = nullptr;
  SourceSpan span;
  std::shared_ptr<const interp::Prepared> prepared;  // null if preparing failed, see `error`
  std::optional<Error> error;                        // why the run failed
  std::vector<Execution> executions;
  std::vector<std::string> expected_faults;  // ids; expectations have checked these
};

/// Values bound so far, by name. A generator without a shape is kept as a generator.
using Environment = std::map<std::string, interp::InputValue>;

struct RunContext {
  const Program* program;
  const TestOptions& options;
  const interp::BackendFactory& make_backend;
  std::string directory;              // base of relative paths in values
  std::vector<std::string> recorded;  // values to record for the test's expectations
  bool watches_values = false;        // an expectation names the first NaN or differing replica
  uint64_t steps_left = UINT64_MAX;   // remaining host instructions of the test
};

/// The `max_steps` error: the test has used all its host instructions.
Error steps_used(const RunContext& context);
/// Host instructions that the executions took, counting at least one for each.
uint64_t steps_of(const RunRecord& run);

/// Errors in the program or its inputs go into the record. Only an invalid script returns an error.
Expected<RunRecord> execute_run(const RunStatement& statement, const Environment& environment,
                                const RunContext& context);

/// The value of `spec`, with names looked up in `environment`.
Expected<interp::InputValue> value_of(const ValueSpec& spec, const Environment& environment,
                                      const std::string& directory);

/// False for the `null` backend, whose outputs are unwritten zeros.
bool computes_values(const interp::BackendRequest& backend);

/// The backend of a run, with the file's machine if it has one.
interp::BackendRequest backend_request(const TestOptions& options, const Program& program,
                                       uint64_t schedule, uint64_t seed);

}  // namespace hostir::script
