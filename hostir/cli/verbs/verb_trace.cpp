#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <limits>

#include "hostir/cli/verbs/verbs.h"
#include "hostir/io/npy.h"
#include "traces/database/schema.h"
#include "traces/export/export_chakra.h"
#include "traces/export/export_chrome.h"
#include "traces/export/export_value.h"
#include "traces/export/queries.h"
#include "traces/reader/log_reader.h"
#include "traces/reader/open_file.h"

namespace hostir::cli {

namespace {

class TraceVerb : public Verb {
 public:
  std::string_view name() const override { return "trace"; }
  std::string_view summary() const override {
    return "Read a log: info, events, collectives, memory, sql, export";
  }
  std::string_view example() const override {
    return "  hostir trace info run.db --check\n"
           "  hostir trace collectives run.db --format csv\n"
           "  hostir trace events run.db 'op=all_reduce,launch rank=0..3 dur>5us'\n"
           "  hostir trace sql run.db 'select * from v_slowest_waits limit 5'\n"
           "  hostir trace export run.db -o run.json         opens in the Perfetto UI\n"
           "  hostir trace export run.db --value %y -o y.npy    if logged with --trace-values "
           "data=y; with --rank 1, its part\n"
           "  hostir trace export run.db --format chakra -o job          job.0.et, ..., "
           "job.groups.json\n"
           "  hostir trace info ssh:node7:/tmp/run.db        every verb that reads a log takes one "
           "from ssh\n"
           "  hostir trace schema                            the tables and columns, in Markdown";
  }
  void declare(Arguments& arguments) override {
    arguments.choice(
        "what", what_,
        {"info", "events", "collectives", "memory", "faults", "sql", "export", "schema"},
        "what to read");
    arguments.positional("log", log_, "a log", Presence::kOptional);
    arguments.positional("query", query_,
                         "sql: the statement; events: words that must all hold, or a condition",
                         Presence::kOptional);
    arguments.choice(
        "--format", format_, {"table", "csv", "json", "perfetto", "chakra", "log"},
        "output format; export: perfetto (default), csv (one row per event), chakra (one file "
        "per rank, with the prefix -o), log (a copy, also of a log that is still being written)");
    arguments.option("--value", value_, "export: a tensor's last contents as .npy");
    arguments.option("--rank", rank_,
                     "export --value: the rank whose part is written; left out: the whole tensor, "
                     "from all ranks' parts");
    arguments.option("-o,--output", output_, "a file instead of stdout");
    arguments.repeated("--op", ops_, "events: only these mnemonics");
    arguments.option("--limit", limit_, "events: maximum number");
    arguments.flag("--check", check_,
                   "info: verify digests and checksums; exit status 3 if the file is damaged");
  }
  int execute(Terminal& terminal) override {
    if (output_ == "-") output_.clear();
    const auto status = read(terminal);
    return status ? *status : terminal.report(status.error());
  }

 private:
  Expected<int> read(Terminal& terminal) {
    if (what_ == "schema") {
      HOSTIR_TRY(write(terminal, traces::schema_markdown()));
      return 0;
    }
    if (log_.empty())
      return fail(ErrorKind::kUsage, "usage",
                  "trace " + what_ + " needs a log, as in hostir trace " + what_ + " run.db");
    HOSTIR_ASSIGN_OR_RETURN(const auto log, traces::open_log(log_));
    HOSTIR_TRY(log->refresh());
    if (what_ == "export") return export_log(terminal, *log);
    HOSTIR_ASSIGN_OR_RETURN(const traces::TableFormat format, traces::parse_table_format(format_));
    HOSTIR_ASSIGN_OR_RETURN(const interp::LogTable table, question(*log));
    HOSTIR_TRY(write(terminal, traces::print_table(table, format)));
    if (!check_) return 0;
    HOSTIR_ASSIGN_OR_RETURN(const std::vector<std::string> problems, log->check());
    for (const std::string& p : problems) terminal.note("damaged: " + p);
    if (problems.empty()) terminal.print("check: all tables and blocks are intact\n");
    return problems.empty() ? 0 : 3;
  }

  Expected<interp::LogTable> question(const traces::LogReader& log) const {
    if (what_ == "info") return traces::info_table(log);
    if (what_ == "events") return traces::events_table(log, event_words(), limit_);
    if (what_ == "collectives") return traces::collectives_table(log);
    if (what_ == "memory") return traces::memory_table(log);
    if (what_ == "faults") return traces::faults_table(log);
    if (query_.empty()) return fail(ErrorKind::kUsage, "usage", "trace sql needs a statement");
    return log.query(query_);
  }

  // `--op a --op b` becomes the word `op=a,b`.
  std::string event_words() const {
    return ops_.empty() ? query_ : fmt::format("op={} {}", fmt::join(ops_, ","), query_);
  }

  Expected<int> export_log(Terminal& terminal, const traces::LogReader& log) const {
    if (!value_.empty()) return export_value(terminal, log);
    if (format_ == "csv") {
      HOSTIR_ASSIGN_OR_RETURN(const interp::LogTable table,
                              log.query("SELECT * FROM v_timeline ORDER BY event",
                                        std::numeric_limits<int64_t>::max()));
      HOSTIR_TRY(write(terminal, traces::print_table(table, traces::TableFormat::kCsv)));
      return 0;
    }
    if (format_ == "log") return export_copy(log);
    if (format_ == "chakra") {
      if (output_.empty()) {
        return fail(ErrorKind::kUsage, "usage",
                    "--format chakra writes a file for each rank: give the files' prefix with -o");
      }
      HOSTIR_TRY(traces::export_chakra(log, output_));
      return 0;
    }
    if (output_.empty()) {
      HOSTIR_TRY(traces::export_chrome(log, std::cout));
      return 0;
    }
    std::ofstream file(output_);
    if (!file) return fail(ErrorKind::kRuntime, "file_open", output_ + ": cannot be written");
    HOSTIR_TRY(traces::export_chrome(log, file));
    return 0;
  }

  static Expected<void> print_file(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    std::cout << file.rdbuf() << std::flush;
    if (file && std::cout) return {};
    return fail(ErrorKind::kRuntime, "file_write", "stdout: the log cannot be written");
  }

  Expected<int> export_copy(const traces::LogReader& log) const {
    if (!output_.empty()) {
      HOSTIR_TRY(log.save(output_));
      return 0;
    }
    HOSTIR_ASSIGN_OR_RETURN(const auto folder, traces::TemporaryDirectory::create());
    HOSTIR_TRY(log.save(folder->path() + "/copy.db"));
    HOSTIR_TRY(print_file(folder->path() + "/copy.db"));
    return 0;
  }

  Expected<int> export_value(Terminal& terminal, const traces::LogReader& log) const {
    if (output_.empty()) return fail(ErrorKind::kUsage, "usage", "export --value needs -o y.npy");
    const auto rank = rank_ ? std::optional(static_cast<interp::Rank>(*rank_)) : std::nullopt;
    auto value =
        traces::exported_value(log, value_.starts_with('%') ? value_.substr(1) : value_, rank);
    if (!value) {
      for (Diagnostic& d : value.error().diagnostics) d.message = log_ + ": " + d.message;
      return tl::unexpected(std::move(value.error()));
    }
    if (!value->note.empty()) terminal.note(value->note);
    HOSTIR_TRY(io::write_npy(output_, value->tensor));
    return 0;
  }

  Expected<void> write(Terminal& terminal, const std::string& text) const {
    if (output_.empty()) {
      terminal.print(text);
      return {};
    }
    std::ofstream file(output_);
    file << text;
    if (!file) return fail(ErrorKind::kRuntime, "file_write", output_ + ": cannot be written");
    return {};
  }

  std::string what_ = "info";
  std::string log_;
  std::string query_;
  std::string format_ = "table";
  std::string output_;
  std::string value_;
  std::optional<int64_t> rank_;
  std::vector<std::string> ops_;
  int64_t limit_ = 1000;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_trace_verb() { return std::make_unique<TraceVerb>(); }

}  // namespace hostir::cli
