// Sessions over JSON-RPC 2.0, one message per line: what `hostir serve` speaks.
//
// Methods, with named parameters: `open` {path, options}, `command` {session, command}, `query`
// {session, sql}, `tensor` {session, value}, `diagnose` {paths}, `close` {session}. Results are the
// answers of TextSession; `open` adds `session`, a number, and `tensor` adds `npy`, an .npy file in
// base64. Errors of the program have its exit status as code and error_json()'s members as data;
// those of the protocol have JSON-RPC's codes.
#pragma once

#include <istream>
#include <ostream>

namespace hostir::api {

/// Answers every line of `input` until its end; sessions that are still open are closed then.
/// Requests are carried out one after another. Notifications (without `id`) get no answer.
void serve(std::istream& input, std::ostream& output);

}  // namespace hostir::api
