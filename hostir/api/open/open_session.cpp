#include "hostir/api/open/open_session.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

#include "hostir/api/check/check_claims.h"
#include "hostir/api/open/backends.h"
#include "hostir/api/open/logged_session.h"
#include "hostir/api/open/run_log.h"
#include "hostir/io/files.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "interp/session/live/live_session.h"
#include "interp/session/values/value_watch.h"
#include "traces/job/open_job.h"
#include "traces/reader/log_reader.h"
#include "traces/recorded/log_session.h"
#include "traces/replay/recorded_line.h"
#include "traces/replay/replay.h"

namespace hostir::api {

namespace {

// The scheduler makes the same decisions again, so a longer run's decisions are read only if the
// user took some of them. Reading them delays opening.
constexpr uint64_t kMaxReadDecisions = 1'000'000;

// True if the first word after comments may start a program. Not used for `.hir` files, where a
// wrong word is a syntax error.
bool may_be_program(std::string_view head) {
  for (;;) {
    head = trimmed(head);
    if (!head.starts_with("//")) break;
    head.remove_prefix(std::min(head.find('\n'), head.size()));
  }
  const std::string_view word = head.substr(0, head.find_first_of(" \t\r\n@"));
  // The last two begin StableHLO and HLO.
  constexpr std::array<std::string_view, 8> kFirst = {"mesh", "machine", "fusion", "kernel",
                                                      "host", "test",    "module", "HloModule"};
  return head.empty() || contains(kFirst, word);
}

// Rejects binary files, and text that cannot be a program.
Expected<void> check_text(const std::string& path, const std::string& head) {
  const bool named = path.ends_with(".hir") || path.ends_with(".mlir") || path.ends_with(".hlo");
  if (head.find('\0') == std::string::npos && (named || may_be_program(head))) return {};
  return fail(ErrorKind::kInvalid, "not_a_program",
              "\"" + path +
                  "\" is neither a program (a text, `.hir`) nor a log (an SQLite file); `hostir "
                  "open` reads dumps and profiles");
}

/// The log of other tools' files: dumps, profiles.
Expected<std::unique_ptr<traces::LogReader>> log_of_job(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(traces::OpenedJob job, traces::open_job({path}));
  try_out(job, make_backend_factory());
  HOSTIR_ASSIGN_OR_RETURN(auto folder, traces::TemporaryDirectory::create());
  const std::string log = folder->path() + "/job.db";
  HOSTIR_TRY(write_job_log(job, log, this_command_line(), path));
  return traces::open_log(log, std::move(folder));
}

/// The log at `path`, or the log of the job whose files are there. If neither opens, the error is
/// that of opening a log.
Expected<std::unique_ptr<traces::LogReader>> log_in_folder(const std::string& path) {
  auto log = traces::open_log(path);
  if (log || log.error().diagnostics.front().id != "log_missing") return log;
  if (auto made = log_of_job(path)) return made;
  return log;
}

// Describes what is missing from a log; empty if it is complete.
std::string damage(const interp::LogRun& run) {
  std::string out;
  if (run.ending == interp::LogEnding::kCut)
    out = "The program that wrote this log was killed: it ends where its last transaction did. ";
  if (!run.complete) out += "This log is incomplete: some instruction rows were dropped. ";
  return out;
}

Expected<interp::Backend::ValueMode> value_mode(const std::string& values) {
  if (values == "none") return interp::Backend::ValueMode::kNone;
  return values == "stats" ? interp::Backend::ValueMode::kStats
                           : interp::Backend::ValueMode::kDigest;
}

/// The reason why the log's program cannot be run again: it has several processes or only some of
/// the ranks. Empty if it can.
std::string why_not_run_again(const traces::LogReader& log) {
  if (const std::string files = log.run().property("merged_files"); !files.empty())
    return "it was read from the files of " + files + " processes";
  if (const std::string producer = log.run().property("producer"); !producer.empty())
    return "it was written from files of " + producer;
  const auto remote = log.query("SELECT COUNT(*) FROM rank WHERE local = 0");
  const auto* count = remote && !remote->rows.empty()
                          ? std::get_if<int64_t>(&remote->rows.front().front())
                          : nullptr;
  if (count == nullptr || *count == 0) return {};
  return fmt::format("it holds {} of {} ranks: the others ran in other processes",
                     log.run().rank_count - *count, log.run().rank_count);
}

}  // namespace

bool is_log(std::string_view head) { return head.starts_with("SQLite format 3"); }

Expected<std::shared_ptr<const interp::Prepared>> SessionOpener::prepare_program(
    const interp::OpenRequest& request, const interp::PrepareProgress& watch) {
  ProgramOptions arguments = options_.program;
  arguments.path = request.path;
  arguments.input_data = options_.backend.input_data();
  arguments.machine = options_.backend.machine;
  arguments.alternatives = Alternatives::kExplained;
  if (!request.function.empty()) arguments.function = request.function;
  for (const auto& [axis, size] : request.mesh_sizes)
    arguments.mesh.push_back(axis + "=" + std::to_string(size));
  for (const auto& [name, value] : request.inputs) arguments.inputs.push_back(name + "=" + value);
  const importer::ImportOptions import{.arguments = arguments.argument_values()};
  if (request.text.empty()) {
    HOSTIR_ASSIGN_OR_RETURN(file_, load_file(request.path, import));
  } else {
    file_ = load_text(request.path, request.text, import);
  }
  HOSTIR_TRY(arguments.differentiate(file_));
  const bool make_up = options_.missing_inputs == SessionOptions::MissingInputs::kMakeUp;
  return arguments.prepare(file_, make_up ? &notice_ : nullptr, watch);
}

Expected<std::unique_ptr<interp::Session>> SessionOpener::start(
    std::shared_ptr<const interp::Prepared> prepared, interp::LiveOptions live,
    const interp::OpenRequest& request, const interp::PrepareProgress& watch,
    std::unique_ptr<traces::LogReader>* recorded) {
  HOSTIR_TRY(watch.begin("starting the run"));
  HOSTIR_ASSIGN_OR_RETURN(live.value_mode, value_mode(options_.values));
  live.breakpoints = request.breakpoints;
  live.check_claims = claims_of_tests(
      request.path, std::filesystem::path(request.path).parent_path().string(), live.backend);
  traces::TraceOptions trace;
  trace.value_mode = options_.values;
  auto session = std::make_unique<LoggedSession>();
  HOSTIR_TRY(session->start(std::move(prepared), std::move(live), options_.log_path,
                            this_command_line(), trace));
  if (recorded) {
    const bool written_now = (*recorded)->run().ending == interp::LogEnding::kRunning;
    session->show_recorded(std::move(*recorded), request.path);
    if (request.at_outcome &&
        (written_now || session->snapshot()->last_decision > options_.max_decisions_to_outcome))
      HOSTIR_TRY(session->show_end());
  }
  return session;
}

Expected<std::unique_ptr<interp::Session>> SessionOpener::start_recorded(
    std::unique_ptr<traces::LogReader>& log, const interp::OpenRequest& request,
    const interp::PrepareProgress& watch) {
  HOSTIR_ASSIGN_OR_RETURN(const traces::RecordedRun run, traces::recorded_run(*log, watch));
  std::vector<interp::NamedInput> inputs;
  const Function& entry = *run.code->functions.front();
  for (size_t i = 0; i < run.inputs.size() && i < entry.params.size(); ++i) {
    inputs.push_back({entry.value(entry.params[i].value).name, run.inputs[i]});
  }
  interp::PrepareOptions options;
  options.function = run.code->entry;
  options.watch = watch;
  options.recorded = &log->tables().recorded;
  for (const auto& [name, size] : run.code->sizes.all()) options.sizes.emplace_back(name, size);
  HOSTIR_ASSIGN_OR_RETURN(auto prepared, interp::prepare(*run.program, inputs, options));
  interp::LiveOptions live;
  live.backend = run.backend;
  name_backend(live.backend, run.backend.name);
  live.ranks = run.started_ranks;
  const auto length = traces::recorded_length(*log, prepared->code->rank_count);
  if (length) live.recorded_length = length->decisions;
  if (!length || length->by_hand || length->decisions <= kMaxReadDecisions) {
    auto line = traces::recorded_line(*log, prepared->code->rank_count);
    if (line)
      live.recorded = std::move(*line);
    else
      notice_ += line.error().message() + "; the scheduler chooses the ranks instead. ";
  }
  return start(std::move(prepared), std::move(live), request, watch, &log);
}

Expected<std::unique_ptr<interp::Session>> SessionOpener::open_recorded(
    std::unique_ptr<traces::LogReader> log, const interp::OpenRequest& request,
    const interp::PrepareProgress& watch) {
  warning_ = damage(log->run());
  const std::string& outcome = log->run().outcome;
  if (!outcome.empty() && outcome != "ok")
    notice_ = "The recorded run ended with " + outcome + ". ";
  file_ = {};
  if (const std::string why = why_not_run_again(*log); !why.empty()) {
    // Nothing can be stepped, so the verdict comes first.
    const auto faults = log->faults();
    if (faults && !faults->empty()) notice_ = faults->front().sentence;
    return traces::LogSession::create(std::move(log), why);
  }
  auto session = start_recorded(log, request, watch);
  HOSTIR_TRY(watch.begin("showing the log"));
  if (session) return session;
  return traces::LogSession::create(std::move(log), session.error().message());
}

Expected<std::unique_ptr<interp::Session>> SessionOpener::open(
    const interp::OpenRequest& request, const interp::PrepareProgress& watch) {
  notice_.clear();
  warning_.clear();
  HOSTIR_TRY(watch.begin("reading the file"));
  if (request.text.empty()) {
    std::error_code no_folder;
    if (std::filesystem::is_directory(request.path, no_folder)) {
      HOSTIR_TRY(watch.begin("reading the log"));
      HOSTIR_ASSIGN_OR_RETURN(auto log, log_in_folder(request.path));
      return open_recorded(std::move(log), request, watch);
    }
    HOSTIR_ASSIGN_OR_RETURN(const std::string head, io::read_file_head(request.path, kHeadBytes));
    const auto text = check_text(request.path, head);
    if (is_log(head) || !text) {
      HOSTIR_TRY(watch.begin("reading the log"));
      auto log = is_log(head) ? traces::open_log(request.path) : log_of_job(request.path);
      if (log) return open_recorded(std::move(*log), request, watch);
      return tl::unexpected(is_log(head) ? log.error() : text.error());
    }
  }
  HOSTIR_ASSIGN_OR_RETURN(auto prepared, prepare_program(request, watch));
  interp::LiveOptions live;
  HOSTIR_ASSIGN_OR_RETURN(live.backend, options_.backend.request(*prepared->program));
  return start(std::move(prepared), std::move(live), request, watch, nullptr);
}

}  // namespace hostir::api
