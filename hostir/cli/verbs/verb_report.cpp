#include <fmt/format.h>

#include <filesystem>

#include "hostir/api/open/backends.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/io/files.h"
#include "traces/database/schema.h"
#include "traces/job/open_job.h"
#include "traces/reader/open_file.h"
#include "traces/report/report.h"

namespace hostir::cli {

namespace {

/// Any input becomes a log first; the report is made from the log.
class ReportVerb : public Verb {
 public:
  std::string_view name() const override { return "report"; }
  std::string_view summary() const override {
    return "Write a run as one HTML file: verdict, waits, timeline, layouts, memory, program";
  }
  std::string_view example() const override {
    return "  hostir report run.db -o run.html\n"
           "  hostir report tests/programs/deadlock.hir -o hang.html    runs it first; missing "
           "inputs are generated\n"
           "  hostir report dumps/ -o hang.html                         what hostir open reads: "
           "dumps, "
           "profiles\n"
           "The file needs no network and is readable on a phone.";
  }
  void declare(Arguments& arguments) override {
    declare_program(program_, arguments);
    declare_inputs(program_, arguments);
    declare_backend(backend_, arguments);
    arguments.option("-o,--output", output_, "the HTML file to write; standard output without it");
  }
  int execute(Terminal& terminal) override {
    const auto done = write(terminal);
    return done ? 0 : terminal.report(done.error());
  }

 private:
  Expected<void> write(Terminal& terminal) {
    HOSTIR_ASSIGN_OR_RETURN(const auto folder, traces::TemporaryDirectory::create());
    std::string title = io::file_name(program_.path);
    if (title.empty()) title = program_.path;
    HOSTIR_ASSIGN_OR_RETURN(const std::string path, log_of(terminal, folder->path() + "/run.db"));
    HOSTIR_ASSIGN_OR_RETURN(const auto log, traces::open_log(path));
    HOSTIR_TRY(log->refresh());
    HOSTIR_ASSIGN_OR_RETURN(const std::string html, traces::report::report_html(*log, title));
    if (output_.empty()) {
      terminal.print(html);
      return {};
    }
    HOSTIR_TRY(io::write_file(output_, html));
    terminal.note(fmt::format("{}: {} KiB", output_, html.size() / 1024));
    return {};
  }

  /// The path of the log: the given path, or `scratch`, to which the program's run or the dumps are
  /// written.
  Expected<std::string> log_of(Terminal& terminal, const std::string& scratch) {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(program_.path, error);
    const auto head = folder ? Expected<std::string>() : io::read_file_head(program_.path, 128);
    if (head && traces::is_log_head(*head)) return program_.path;
    const std::string extension = std::filesystem::path(program_.path).extension().string();
    if (extension == ".hir" || extension == ".mlir" || extension == ".hlo") {
      HOSTIR_TRY(run(terminal, scratch));
      return scratch;
    }
    auto job = traces::open_job({program_.path});
    if (!job && folder) return program_.path;  // a folder of logs, else open_log() reports it
    if (!job) return tl::unexpected(job.error());
    try_out(*job, api::make_backend_factory());
    HOSTIR_TRY(write_job_log(*job, scratch, "hostir report " + program_.path, program_.path));
    return scratch;
  }

  Expected<void> run(Terminal& terminal, const std::string& scratch) {
    HOSTIR_ASSIGN_OR_RETURN(const api::LoadedFile file, api::load_file(program_.path));
    if (!file.parsed) return tl::unexpected(Error{ErrorKind::kInvalid, file.diagnostics});
    std::string notice;
    HOSTIR_ASSIGN_OR_RETURN(const auto prepared, program_.prepare(file, &notice));
    if (!notice.empty()) terminal.note(notice);
    HOSTIR_ASSIGN_OR_RETURN(const interp::BackendRequest request,
                            backend_.request(*prepared->program));
    api::LogOptions options;
    options.path = scratch;
    HOSTIR_ASSIGN_OR_RETURN(const auto log, options.open(*prepared, request));
    interp::RunOptions how;
    how.backend = request;
    how.max_steps = static_cast<uint64_t>(backend_.max_steps);
    log->attach(how);
    HOSTIR_ASSIGN_OR_RETURN(const interp::RunResult result,
                            interp::run(*prepared, api::make_backend_factory(), how));
    return log->close(result.faults);
  }

  api::ProgramOptions program_;
  api::BackendOptions backend_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Verb> make_report_verb() { return std::make_unique<ReportVerb>(); }

}  // namespace hostir::cli
