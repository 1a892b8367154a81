#include "hostir/api/serve/text_session.h"

#include <fmt/core.h>

#include "hostir/api/open/backends.h"
#include "hostir/api/serve/answer_json.h"
#include "hostir/api/serve/open_options.h"
#include "interp/session/log/log_view.h"
#include "traces/job/open_job.h"

namespace hostir::api {

tl::unexpected<TextError> failed(const Error& error, const SourceManager& sources) {
  return tl::unexpected(TextError{error.kind, error_json(error, sources)});
}

Answered<std::unique_ptr<TextSession>> TextSession::open(const std::string& path,
                                                         std::string_view options,
                                                         std::vector<interp::NamedInput> tensors) {
  auto parsed = parse_open_options(options);
  if (!parsed) return failed(parsed.error(), SourceManager());
  parsed->request.path = path;
  parsed->session.program.tensors = std::move(tensors);
  std::unique_ptr<TextSession> out(new TextSession());
  out->opener_ = std::make_unique<SessionOpener>(std::move(parsed->session));
  auto session = out->opener_->open(parsed->request);
  if (!session) return failed(session.error(), out->opener_->sources());
  out->session_ = std::move(*session);
  return out;
}

std::string TextSession::opened() const {
  return opened_json(*session_->snapshot(), opener_->notice(), opener_->warning());
}

Answered<std::string> TextSession::execute(std::string_view command, std::stop_source stop) {
  const auto parsed = interp::parse_command(command);
  if (!parsed) return failed(parsed.error(), SourceManager());
  begin(stop);
  auto answer = execute_json(*session_, *parsed, stop.get_token());
  if (!answer) return failed(answer.error(), SourceManager());
  return std::move(*answer);
}

void TextSession::begin(const std::stop_source& stop) {
  const std::lock_guard lock(mutex_);
  running_ = stop;
}

Answered<std::string> TextSession::query(std::string_view sql, std::stop_source stop) {
  constexpr int64_t kMostRows = 100'000;  // as hostir.h says
  begin(stop);
  const auto table = session_->log()->query(sql, kMostRows, stop.get_token());
  if (!table) return failed(table.error(), SourceManager());
  return table_json(*table);
}

Expected<TextSession::ReadTensor> TextSession::read_one(std::string_view arguments) {
  HOSTIR_ASSIGN_OR_RETURN(const interp::Command command,
                          interp::parse_command("print " + std::string(arguments)));
  HOSTIR_ASSIGN_OR_RETURN(auto values, interp::read_printed(*session_, command));
  if (values.size() != 1) {
    return fail(ErrorKind::kUsage, "one_tensor",
                fmt::format("\"{}\" names {} tensors, one per rank; name one rank, or `global`",
                            arguments, values.size()));
  }
  interp::PrintedValue& value = values.front();
  if (value.reading->undefined) {
    return fail(ErrorKind::kRuntime, "not_written",
                fmt::format("%{} has not been written yet", value.name));
  }
  std::string json = reading_json(value, *value.reading);
  return ReadTensor{std::move(value.reading->tensor), std::move(json)};
}

Answered<TextSession::ReadTensor> TextSession::read(std::string_view arguments) {
  auto out = read_one(arguments);
  if (!out) return failed(out.error(), SourceManager());
  return std::move(*out);
}

void TextSession::interrupt() {
  const std::lock_guard lock(mutex_);
  running_.request_stop();
}

Answered<std::string> diagnose_dumps(const std::vector<std::string>& paths) {
  auto job = traces::open_job(paths);
  if (!job) return failed(job.error(), SourceManager());
  try_out(*job, make_backend_factory());
  return to_json(*job);
}

}  // namespace hostir::api
