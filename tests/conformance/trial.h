// One run of a text on a backend, with the accessors that cases need.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends.h"
#include "interp/core/history/history.h"
#include "interp/core/interpreter.h"
#include "watched_backend.h"

namespace hostir::conformance {

using interp::Rank;
using interp::RunEnd;

/// Keeps the records that a log would receive.
struct Recorder final : interp::TraceSink {
  void issued(const interp::IssuedRecord&) override {}
  void finished(const interp::FinishedRecord& record) override { tasks[record.task] = record; }
  void value(const interp::ValueSummary& summary) override { values.push_back(summary); }
  void decision(const interp::DecisionRecord&) override {}
  void fault(const interp::FaultRecord&) override {}
  void loop_path(interp::LoopPathId, interp::LoopPathId, interp::CodeIndex, int64_t) override {}

  std::map<interp::TaskId, interp::FinishedRecord> tasks;
  std::vector<interp::ValueSummary> values;  // without data
};

struct Trial {
  std::shared_ptr<const interp::Code> code;
  std::unique_ptr<WatchedBackend> backend;
  Recorder recorder;
  std::unique_ptr<interp::Interpreter> interpreter;

  /// Runs to the end; expects no faults and nothing in flight.
  void finish();
  /// `kind: sentence` of the first fault; empty if there is none.
  std::string fault() const;
  /// A rank's contents of a returned buffer, row-major; zeros if it cannot be read.
  Tensor result(Rank rank, size_t index = 0) const;
};

/// Prepares the first host function of the text with bound parameters. Reports a test failure and
/// returns nullptr if that fails.
std::unique_ptr<Trial> start(const BackendUnderTest& backend, const std::string& text,
                             const std::vector<Tensor>& inputs,
                             const interp::InterpreterOptions& options = {});

/// start() and finish(); the returned trial has run. Null on failure.
std::unique_ptr<Trial> run(const BackendUnderTest& backend, const std::string& text,
                           const std::vector<Tensor>& inputs);

/// Expects the run to end with a fault that begins with `fault`: its kind, or more.
void expect_fault(const BackendUnderTest& backend, const std::string& text,
                  const std::vector<Tensor>& inputs, const std::string& fault,
                  const interp::InterpreterOptions& options = {});

/// `4xf32=[1 2 3 4]`
Tensor tensor(const std::string& text);

}  // namespace hostir::conformance
