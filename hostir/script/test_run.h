// One `run` statement: prepared once, executed under each schedule, with everything recorded that
// the expectations after it may ask.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hostir/script/event_recorder.h"
#include "hostir/script/runner.h"
#include "interp/session/engine.h"
#include "interp/session/value_recorder.h"

namespace hostir::script {

/// One execution under one schedule.
struct Execution {
  uint64_t schedule = 0;
  interp::RunResult result;
  std::unique_ptr<EventRecorder> events;
  std::unique_ptr<interp::ValueRecorder> values;
};

/// What became of a run statement.
struct RunRecord {
  const RunStatement* statement = nullptr;
  SourceSpan span;
  std::shared_ptr<const interp::Prepared> prepared;  // null: `error`
  std::optional<Error> error;                        // why there was no run
  std::vector<Execution> executions;
  bool faults_expected = false;  // an expectation took account of errors and faults
};

/// Values by name, as bound so far; a generator without a shape stays a generator.
using Environment = std::map<std::string, interp::InputValue>;

struct RunContext {
  const Program& program;
  const TestOptions& options;
  const interp::BackendFactory& make_backend;
  std::string directory;              // for files in values
  std::vector<std::string> recorded;  // values that expectations of the test name
  uint64_t steps_left = UINT64_MAX;   // host instructions that the test may still run
};

/// `max_steps`: the test may run no more.
Error steps_used(const RunContext& context);
/// Counts what its runs took, at least one instruction each.
uint64_t steps_of(const RunRecord& run);

/// Errors of the program or its inputs are in the record; only a wrong script is an error here.
Expected<RunRecord> execute_run(const RunStatement& statement, const Environment& environment,
                                const RunContext& context);

/// A value of a script for a place of known type (which may be null).
Expected<interp::InputValue> value_of(const ValueSpec& spec, const Environment& environment,
                                      const std::string& directory);

/// False of `null`, whose outputs are zeros that nothing wrote.
bool computes_values(const interp::BackendRequest& backend);

/// The backend of a run: the file's machine, if it has one.
interp::BackendRequest backend_request(const TestOptions& options, const Program& program,
                                       uint64_t schedule, uint64_t seed);

}  // namespace hostir::script
