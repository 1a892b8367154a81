// A session driven by texts: commands go in as a debugger takes them, answers come out as JSON.
//
// Exactly what callers in other languages need; the C interface (c/hostir.h) and `hostir serve` are
// thin clients of it. Answers are described in answer_json.h. Threads: one at a time, except for
// interrupt().
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/api/open/open_session.h"

namespace hostir::api {

/// Why something failed: the kind decides the status, `json` is error_json().
struct TextError {
  ErrorKind kind = ErrorKind::kRuntime;
  std::string json;
};
template <class T>
using Answered = tl::expected<T, TextError>;
tl::unexpected<TextError> failed(const Error& error, const SourceManager& sources);

class TextSession {
 public:
  /// Opens a program, a log, or a folder of logs. `options`: open_options.h; `tensors`: inputs in
  /// addition to those that the options name. Errors: those of the options, of reading, of
  /// preparing.
  static Answered<std::unique_ptr<TextSession>> open(const std::string& path,
                                                     std::string_view options,
                                                     std::vector<interp::NamedInput> tensors);

  /// What was opened.
  std::string opened() const;

  /// Executes one command. A fault or deadlock of the program is not an error but the reason for
  /// the stop. `stop` ends it early, after a complete decision; so does interrupt(). Errors: the
  /// text is not a command, or a value cannot be read.
  Answered<std::string> execute(std::string_view command, std::stop_source stop = {});

  /// Any read-only SQL on the session's log (traces/SCHEMA.md). `stop` and interrupt() end it with
  /// the error `log_cancelled`.
  Answered<std::string> query(std::string_view sql, std::stop_source stop = {});

  /// `arguments` of a `print` that reads one value: `%y`, `%y rank 1`, `%y[0:2, :] global`. Errors:
  /// those of reading; `not_written` if nothing wrote it; kUsage if several ranks are named.
  struct ReadTensor {
    Tensor tensor;
    std::string json;  // reading_json()
  };
  Answered<ReadTensor> read(std::string_view arguments);

  /// Stops the running command, if any, after a complete decision, or the running query. Any
  /// thread.
  void interrupt();

 private:
  TextSession() = default;
  Expected<ReadTensor> read_one(std::string_view arguments);
  void begin(const std::stop_source& stop);

  std::unique_ptr<SessionOpener> opener_;  // the sources that diagnostics point into
  std::unique_ptr<interp::Session> session_;
  std::mutex mutex_;  // guards running_
  std::stop_source running_{std::nostopstate};
};

/// The verdict on other tools' dumps of a job (PyTorch Flight Recorder, ...), as `hostir open
/// --json` prints it.
Answered<std::string> diagnose_dumps(const std::vector<std::string>& paths);

}  // namespace hostir::api
