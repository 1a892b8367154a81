// Answers of a session as JSON, for programs in other languages. One line each.
//
// Every member is always present; unknown ones are null. Names of values are without '%', times are
// in ns, sizes in bytes, boxes are global and half-open: [[lo, hi], ...], one pair per dimension.
// Numbers that JSON cannot represent (NaN, Inf) are strings.
#pragma once

#include <stop_token>
#include <string>

#include "interp/session/answers/answer.h"
#include "interp/session/log/log_records.h"
#include "interp/session/session.h"

namespace hostir::api {

/// Executes a command. Returns `text` as the terminal prints it, `position`, and if the command ran
/// the program, `stop`, `moved` and `logged`. `data` is described in hostir/api/README.md; null for
/// commands without it. Errors: those of the command.
Expected<std::string> execute_json(interp::Session& session, const interp::Command& command,
                                   const std::stop_token& stop);

/// What was opened: the function, ranks, mesh, and what was chosen by default.
std::string opened_json(const interp::Snapshot& snapshot, const std::string& notice,
                        const std::string& warning);

/// Layout and state of a value that was read, without its elements.
std::string reading_json(const interp::PrintedValue& value, const interp::ValueReading& reading);

/// The rows of a table, one object each, under `rows`.
std::string table_json(const interp::LogTable& table);

/// `{"error": {"status", "id", "message", "text", "diagnostics"}}`: `text` is what a
/// terminal prints, with source lines and carets.
std::string error_json(const Error& error, const SourceManager& sources);

}  // namespace hostir::api
