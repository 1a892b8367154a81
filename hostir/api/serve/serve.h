// Sessions over JSON-RPC 2.0, one message per line: what `hostir serve` speaks.
//
// Methods, with named parameters: `open` {path, options}, `command` {session, command}, `interrupt`
// {session}, `query` {session, sql}, `tensor` {session, value}, `lower` and `import` {path,
// options}, `diagnose` {paths}, `close` {session}. Results are the answers of TextSession and
// text_program.h; `open` adds `session`, a number, `tensor` adds `npy`, an .npy file in base64, and
// `interrupt` returns {interrupted}, the number of the session's commands and queries that were
// asked to stop.
// Errors of the program have its exit status as code and error_json()'s members as data; those of
// the protocol have JSON-RPC's codes.
#pragma once

#include <istream>
#include <ostream>

namespace hostir::api {

/// Answers every line of `input` until its end; sessions that are still open are closed then.
/// Requests are handled one after another, except for `interrupt`, which takes effect at once.
/// Notifications (without `id`) get no answer.
void serve(std::istream& input, std::ostream& output);

}  // namespace hostir::api
