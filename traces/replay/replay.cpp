#include "traces/replay/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "interp/core/history/history.h"
#include "interp/core/interpreter.h"
#include "traces/database/schema.h"
#include "traces/reader/element_text.h"
#include "traces/replay/recorded_line.h"
#include "traces/replay/replay_checker.h"
#include "traces/writer/contents_sink.h"

namespace hostir::traces {

using interp::LogEvent;

namespace {

constexpr std::string_view kLayoutQuery =
    "SELECT t.function || '/' || t.name AS name, t.dtype, t.shape, t.sharding, s.rank, s.offset, "
    "s.local_shape, s.bytes FROM tensor t LEFT JOIN shard s ON s.tensor = t.id ORDER BY t.id, "
    "s.rank";

/// A sentence about the first row in which the results from two databases differ; empty if none.
Expected<std::string> first_difference(Database& logged, Database& now, std::string_view sql) {
  HOSTIR_ASSIGN_OR_RETURN(Statement a, logged.prepare(sql));
  HOSTIR_ASSIGN_OR_RETURN(Statement b, now.prepare(sql));
  const auto text = [](const Statement& row) {
    std::string out;
    for (int i = 0; i < row.column_count(); ++i) {
      out += fmt::format("{}{}={}", i > 0 ? " " : "", row.column_name(i), row.text(i));
    }
    return out;
  };
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const bool more_a, a.step());
    HOSTIR_ASSIGN_OR_RETURN(const bool more_b, b.step());
    if (!more_a && !more_b) return std::string();
    const std::string was = more_a ? text(a) : "nothing";
    const std::string is = more_b ? text(b) : "nothing";
    if (was != is) return fmt::format("was {}, is {}", was, is);
  }
}

/// Executes the logged decisions. `History` is created only if the log goes back or branches.
class Driver {
 public:
  Driver(const LogReader& log, Database& database, ReplayChecker& checker,
         interp::Interpreter& interpreter, interp::History* history)
      : log_(log),
        database_(database),
        checker_(checker),
        interpreter_(interpreter),
        history_(history) {}

  Expected<void> run(const std::stop_token& stop) {
    HOSTIR_ASSIGN_OR_RETURN(decisions_,
                            manual_decisions(database_, interpreter_.code().rank_count));
    HOSTIR_ASSIGN_OR_RETURN(EventScanner scanner,
                            EventScanner::create(database_, log_.tables().limits(), {}));
    int64_t next_id = 0;
    while (!checker_.divergence() && !checker_.enough()) {
      if (stop.stop_requested()) {
        return fail(ErrorKind::kRuntime, "log_cancelled", "the replay was cancelled");
      }
      HOSTIR_ASSIGN_OR_RETURN(const LogEvent* event, scanner.next());
      if (event == nullptr || event->id != next_id) break;  // a cut log may have gaps at the end
      ++next_id;
      HOSTIR_TRY(decide_until(event->id));
      HOSTIR_TRY(execute(*event));
      if (!checker_.error()) return checker_.error();
    }
    if (checker_.divergence() || checker_.enough()) return {};
    HOSTIR_TRY(decide_until(std::numeric_limits<int64_t>::max()));
    return provoke_fault();
  }

 private:
  Expected<void> go_to(uint64_t position) {
    if (interpreter_.position() == position) return {};
    if (history_ == nullptr || position > history_->size()) {
      return fail(ErrorKind::kRuntime, "log_damaged",
                  fmt::format("the log has no decision {} before decision {}",
                              interpreter_.position(), position));
    }
    HOSTIR_ASSIGN_OR_RETURN(const auto moved, history_->go_to(position));
    return {};
  }

  Expected<void> decide_until(int64_t event) {
    for (; next_decision_ < decisions_.size() && decisions_[next_decision_].before_event <= event;
         ++next_decision_) {
      HOSTIR_TRY(decide(decisions_[next_decision_]));
    }
    return {};
  }

  Expected<void> decide(const ManualDecision& d) {
    HOSTIR_TRY(go_to(d.number));
    using Kind = interp::DecisionRecord::Kind;
    if (d.kind == Kind::kFreeze) {
      history_ != nullptr ? history_->freeze(d.rank) : interpreter_.freeze(d.rank);
    } else if (d.kind == Kind::kThaw) {
      history_ != nullptr ? history_->thaw(d.rank) : interpreter_.thaw(d.rank);
    } else if (d.kind == Kind::kEdit) {
      return edit(d);
    }
    return {};
  }

  Expected<void> edit(const ManualDecision& d) {
    const interp::RecordedEdit& e = d.edit;
    const auto allocation = interp::newest_allocation(interpreter_, d.rank, e.buffer);
    if (!allocation) {
      return fail(ErrorKind::kRuntime, "log_damaged",
                  fmt::format("the edited buffer {} does not exist on rank {}", e.buffer, d.rank));
    }
    return history_ != nullptr ? history_->edit(d.rank, *allocation, e.offset_bytes, e.data)
                               : interpreter_.edit(d.rank, *allocation, e.offset_bytes, e.data);
  }

  Expected<interp::StepResult> step(interp::Rank rank) {
    return history_ != nullptr ? history_->step(rank) : interpreter_.step(rank);
  }

  Expected<void> execute(const LogEvent& event) {
    HOSTIR_TRY(go_to(event.decision));
    checker_.expect(event);
    HOSTIR_ASSIGN_OR_RETURN(const interp::StepResult result, step(event.rank));
    using Outcome = interp::StepResult::Outcome;
    if (result.outcome == Outcome::kExecuted || result.outcome == Outcome::kFault) return {};
    Divergence d;
    d.what = "order";
    d.event = event.id;
    d.rank = event.rank;
    d.address = log_.instructions()[event.instruction].address;
    d.text = log_.instructions()[event.instruction].text;
    d.sentence =
        fmt::format("event {}, rank {}, {} {}: was executed here, but in the replay the rank {}",
                    d.event, d.rank, d.address, d.text,
                    result.outcome == Outcome::kBlocked  ? "is blocked"
                    : result.outcome == Outcome::kFrozen ? "is frozen"
                                                         : "has returned");
    checker_.report(std::move(d));
    return {};
  }

  /// An instruction that fails leaves a fault but no event: execute it again too.
  Expected<void> provoke_fault() {
    HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::FaultRecord> faults, log_.faults());
    if (log_.run().ending != interp::LogEnding::kClosed) return {};
    for (size_t i = checker_.faults().size(); i < faults.size(); ++i) {
      if (faults[i].ranks.empty() || checker_.faults().size() > i) continue;
      const auto next = interpreter_.next_rank();
      const interp::Rank rank = next.value_or(faults[i].ranks.front());
      if (rank < 0 || rank >= interpreter_.code().rank_count) return {};
      HOSTIR_TRY(step(rank));
    }
    return {};
  }

  const LogReader& log_;
  Database& database_;
  ReplayChecker& checker_;
  interp::Interpreter& interpreter_;
  interp::History* history_;
  std::vector<ManualDecision> decisions_;
  size_t next_decision_ = 0;
};

/// Compares layouts of all tensors and the list of instructions; a sentence if they differ.
Expected<std::string> compare_program(Database& logged, Database& now) {
  HOSTIR_ASSIGN_OR_RETURN(std::string difference,
                          first_difference(logged, now, "SELECT id, address, op FROM instruction"));
  if (!difference.empty()) return "an instruction " + difference;
  HOSTIR_ASSIGN_OR_RETURN(difference, first_difference(logged, now, kLayoutQuery));
  if (!difference.empty()) return "a layout " + difference;
  return std::string();
}

Expected<bool> goes_back(Database& database) {
  HOSTIR_ASSIGN_OR_RETURN(
      const auto branches,
      database.query_int("SELECT COUNT(*) FROM decision WHERE kind = 'branch'"));
  return branches.value_or(0) > 0;
}

interp::Backend::ValueMode value_mode_of(Database& database) {
  const auto stats = database.query_int(
      "SELECT COUNT(mean) * 2 + (COUNT(*) > 0) FROM (SELECT mean FROM value "
      "LIMIT 1)");
  const int64_t found = stats ? stats->value_or(0) : 0;
  return found > 1   ? interp::Backend::ValueMode::kStats
         : found > 0 ? interp::Backend::ValueMode::kDigest
                     : interp::Backend::ValueMode::kNone;
}

/// Which contents to read during a re-run, and their receiver.
struct Collector {
  std::vector<std::string> names;  // of tensors, without '%'
  ReplayChecker::OnContents take;
};

/// Runs a log again.
Expected<ReplayReport> run_again(const LogReader* log, const interp::BackendFactory& make_backend,
                                 const Collector* collector, std::stop_token stop) {
  HOSTIR_ASSIGN_OR_RETURN(RecordedRun recorded, recorded_run(*log, {stop, {}}));
  HOSTIR_ASSIGN_OR_RETURN(const auto connection, log->connect(stop));
  Database& database = *connection;

  ReplayReport report;
  report.cut = log->run().ending != interp::LogEnding::kClosed;
  ProgramDescription again = describe_program(*recorded.code);
  HOSTIR_ASSIGN_OR_RETURN(Database tables, Database::in_memory());
  HOSTIR_TRY(tables.execute(schema_sql()));
  HOSTIR_TRY(write_instruction_rows(tables, again));
  HOSTIR_TRY(write_tensor_rows(tables, again));
  HOSTIR_ASSIGN_OR_RETURN(const std::string difference, compare_program(database, tables));
  if (!difference.empty()) {
    report.divergence.emplace();
    report.divergence->what = "layout";
    report.divergence->sentence = difference;
    return report;
  }

  HOSTIR_ASSIGN_OR_RETURN(const std::unique_ptr<interp::Backend> backend,
                          make_backend(recorded.backend));
  backend->set_value_mode(value_mode_of(database));
  ReplayChecker checker(*log, *recorded.code, std::move(again));
  HOSTIR_TRY(checker.prepare(database));
  ContentsSink contents(collector ? collector->names : std::vector<std::string>{}, checker);
  interp::TraceSink& sink = collector ? static_cast<interp::TraceSink&>(contents) : checker;
  if (collector) checker.collect(collector->take);
  interp::InterpreterOptions options;
  options.issue_ns = interp::issue_ns(recorded.backend.machine);
  options.ranks = recorded.started_ranks;
  if (recorded.max_steps > 0) options.max_steps = recorded.max_steps;
  options.max_memory_bytes =
      interp::memory_limit_bytes(recorded.backend, recorded.code->rank_count);
  HOSTIR_ASSIGN_OR_RETURN(const std::unique_ptr<interp::Interpreter> interpreter,
                          interp::Interpreter::create(recorded.code, *backend, &sink, options));
  checker.set_interpreter(interpreter.get());
  contents.attach(*interpreter);
  if (recorded.inputs.size() != recorded.code->parameters.size()) {
    return fail(ErrorKind::kRuntime, "replay_input", "the log does not hold every input");
  }
  for (size_t i = 0; i < recorded.inputs.size(); ++i) {
    HOSTIR_TRY(interpreter->bind(i, recorded.inputs[i]));
  }
  std::unique_ptr<interp::History> history;
  HOSTIR_ASSIGN_OR_RETURN(const bool back, goes_back(database));
  if (back) {
    HOSTIR_ASSIGN_OR_RETURN(history, interp::History::create(*interpreter));
  }
  HOSTIR_TRY(Driver(*log, database, checker, *interpreter, history.get()).run(stop));
  if (!checker.enough()) checker.finish();
  HOSTIR_TRY(checker.error());

  report.divergence = checker.divergence();
  report.events = checker.events();
  report.values = checker.values();
  if (report.divergence && report.divergence->what == "value") {
    report.notes.push_back(fmt::format("the log was made on {}", log->run().host));
  }
  return report;
}

}  // namespace

Expected<ReplayReport> replay(const std::string& path, const interp::BackendFactory& make_backend,
                              std::stop_token stop) {
  HOSTIR_ASSIGN_OR_RETURN(const std::unique_ptr<LogReader> log, open_log(path));
  return run_again(log.get(), make_backend, nullptr, std::move(stop));
}

namespace {

Expected<void> must_be_equal(const ReplayReport& report) {
  if (!report.divergence) return {};
  return fail(ErrorKind::kRuntime, "replay_differs",
              "the program does not run as it was logged: " + report.divergence->sentence);
}

}  // namespace

Expected<std::vector<interp::PastValue>> replay_element(const std::string& path,
                                                        const interp::BackendFactory& make_backend,
                                                        const interp::PastQuery& query,
                                                        std::stop_token stop) {
  HOSTIR_ASSIGN_OR_RETURN(const std::unique_ptr<LogReader> log, open_log(path));
  std::vector<interp::PastValue> values;
  const auto take = [&](const interp::PastWrite& write, std::span<const std::byte> data) {
    const interp::LogTensor& info = log->tensors()[static_cast<size_t>(write.tensor)];
    const Box& box = info.boxes[static_cast<size_t>(write.rank)];
    bool inside = info.name == query.value && box.lo.size() == query.element.size();
    for (size_t i = 0; inside && i < box.lo.size(); ++i)
      inside = query.element[i] >= box.lo[i] && query.element[i] < box.hi[i];
    if (inside)
      values.push_back(
          {write.event, write.rank, element_text(info.dtype, box, query.element, data)});
    return true;
  };
  const Collector collector{{query.value}, take};
  HOSTIR_ASSIGN_OR_RETURN(const ReplayReport report,
                          run_again(log.get(), make_backend, &collector, std::move(stop)));
  HOSTIR_TRY(must_be_equal(report));
  return values;
}

Expected<void> replay_contents(const std::string& path, const interp::BackendFactory& make_backend,
                               const std::vector<interp::PastWrite>& writes,
                               const interp::TakeContents& take, std::stop_token stop) {
  HOSTIR_ASSIGN_OR_RETURN(const std::unique_ptr<LogReader> log, open_log(path));
  std::set<interp::PastWrite> missing(writes.begin(), writes.end());
  std::set<std::string> names;
  for (const interp::PastWrite& write : writes) {
    const auto tensor = static_cast<size_t>(write.tensor);
    if (tensor < log->tensors().size()) names.insert(log->tensors()[tensor].name);
  }
  const auto hand_on = [&](const interp::PastWrite& write, std::span<const std::byte> data) {
    if (missing.erase(write) == 0) return true;
    const interp::LogTensor& info = log->tensors()[static_cast<size_t>(write.tensor)];
    Tensor tensor{info.dtype, info.boxes[static_cast<size_t>(write.rank)].extents(), {}};
    if (static_cast<int64_t>(data.size()) != tensor.element_count() * size_bytes(info.dtype))
      return !missing.empty();
    tensor.data.assign(data.begin(), data.end());
    return take(write, std::move(tensor)) && !missing.empty();
  };
  const Collector collector{{names.begin(), names.end()}, hand_on};
  HOSTIR_ASSIGN_OR_RETURN(const ReplayReport report,
                          run_again(log.get(), make_backend, &collector, std::move(stop)));
  return must_be_equal(report);
}

std::string to_string(const ReplayReport& report) {
  std::string out =
      report.divergence
          ? fmt::format("differs: {}\n", report.divergence->sentence)
          : fmt::format("equal: {} events, {} values{}\n", report.events, report.values,
                        report.cut ? "; the log was cut and is equal up to there" : "");
  for (const std::string& note : report.notes) out += "note: " + note + "\n";
  return out;
}

}  // namespace hostir::traces
