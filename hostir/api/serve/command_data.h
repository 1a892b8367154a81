// The `data` of a command's answer, for those commands that show more than `info`.
//
// One shape per command, listed in hostir/api/README.md. Only the JSON files here include it.
#pragma once

#include <stop_token>

#include "hostir/api/serve/snapshot_json.h"
#include "interp/session/answers/answer.h"
#include "interp/session/session.h"

namespace hostir::api {

struct CommandResult {
  interp::Outcome outcome;
  Json data;  // null: the command has none
};

/// Executes a command. Errors: those of Session::execute and of what it reads.
Expected<CommandResult> carry_out(interp::Session& session, const interp::Command& command,
                                  const std::stop_token& stop);

/// Layout and state of a value that was read, without its elements.
Json value_json(const interp::PrintedValue& value, const interp::ValueReading& reading);

}  // namespace hostir::api
