#include "hostir/api/open/run_log.h"

#include <algorithm>
#include <filesystem>

#include "hostir/io/files.h"
#include "traces/writer/run_description.h"

namespace hostir::api {

std::string this_command_line() {
  const auto raw = io::read_file("/proc/self/cmdline");
  if (!raw) return "hostir";
  std::string out;
  for (const char c : *raw) out += c == '\0' ? ' ' : c;
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

RunLog::RunLog(std::unique_ptr<traces::TraceWriter> writer, interp::Backend::ValueMode mode,
               const std::vector<std::string>& data_globs)
    : writer_(std::move(writer)), mode_(mode) {
  if (!data_globs.empty()) {
    contents_ = std::make_unique<traces::ContentsSink>(data_globs, *writer_);
  }
}

void RunLog::attach(interp::RunOptions& options) {
  options.trace = writer_.get();
  if (contents_) options.trace = contents_.get();
  options.value_mode = mode_;
  if (options.max_steps > 0) writer_->property("max_steps", std::to_string(options.max_steps));
  options.attach = [this, before = options.attach](interp::Interpreter& interpreter) {
    if (before) before(interpreter);
    if (contents_) {
      contents_->attach(interpreter);
      interpreter.backend().set_stepwise(true);  // contents are read as soon as they are written
    }
    for (const auto& [name, value] : interpreter.backend().properties()) {
      writer_->property(name, value);
    }
    writer_->kernels(traces::describe_kernels(interpreter));
  };
  // Some properties are known only after the run.
  options.ended = [this, before = options.ended](const interp::Interpreter& interpreter) {
    if (before) before(interpreter);
    for (const auto& [name, value] : interpreter.backend().properties()) {
      writer_->property(name, value);
    }
  };
}

Expected<void> RunLog::close(std::span<const interp::Fault> faults) {
  const auto error = std::find_if(faults.begin(), faults.end(), [](const interp::Fault& f) {
    return f.severity == Severity::kError;
  });
  return close(error == faults.end() ? "ok" : error->record.kind);
}

Expected<void> RunLog::close(const std::string& outcome) {
  const auto closed = writer_->close(outcome);
  if (!closed) return tl::unexpected(closed.error());
  return {};
}

Expected<std::unique_ptr<RunLog>> LogOptions::open(const interp::Prepared& prepared,
                                                   const interp::BackendRequest& backend) const {
  constexpr int64_t kInputsMaxMib = 64;
  // Reading values makes a device wait for the host after every instruction, so do it by default
  // only in simulation.
  const bool computed = backend.traits.clock == interp::ClockDomain::kVirtual;
  const std::string kept = values.value_or(computed ? "digest" : "none");
  traces::TraceOptions options;
  options.inputs_max_bytes = inputs_max_mib.value_or(kInputsMaxMib) << 20;
  options.value_mode = kept;
  auto mode = interp::Backend::ValueMode::kDigest;
  if (kept == "none") {
    mode = interp::Backend::ValueMode::kNone;
  } else if (kept == "stats") {
    mode = interp::Backend::ValueMode::kStats;
  } else if (kept.starts_with("data=")) {
    options.data_globs.push_back(kept.substr(5));
  } else if (kept != "digest") {
    return fail(ErrorKind::kUsage, "usage",
                "--trace-values takes none, digest, stats or data=GLOB, not " + kept);
  }
  if (path.empty() && (values || inputs_max_mib)) {
    return fail(ErrorKind::kUsage, "usage",
                std::string(values ? "--trace-values" : "--trace-inputs-max") +
                    " needs --trace: without it there is no log");
  }
  if (path.empty()) return nullptr;
  // One log per process: run.db, run.1.db, ...
  std::filesystem::path file_path = path;
  if (backend.process.index > 0) {
    const std::string extension = file_path.extension().string();
    file_path.replace_extension(std::to_string(backend.process.index) + extension);
  }
  traces::RunDescription run = traces::describe(prepared, backend);
  run.command_line = this_command_line();
  HOSTIR_ASSIGN_OR_RETURN(auto writer,
                          traces::TraceWriter::create(file_path.string(), run, options));
  return std::make_unique<RunLog>(std::move(writer), mode, options.data_globs);
}

}  // namespace hostir::api
