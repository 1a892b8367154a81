// Programs as texts: lowered, and imported from other compilers. For callers in other languages.
#pragma once

#include <string>
#include <string_view>

#include "hostir/api/serve/text_session.h"

namespace hostir::api {

/// Lowers a fusion to host IR without inputs; a host function stays as it is. `options` as in
/// open_options.h: text, function, mesh, ranks, sizes, keep, grad, wrt and machine count.
/// The answer: {function, phases: list of {name, text}, text, explanation: list of {value, what,
/// sentence, from, pass}}. Errors: those of the options, of reading and of the passes.
Answered<std::string> lower_text(const std::string& path, std::string_view options);

/// Converts StableHLO or HLO to our text: {text, notes}. `options`: {"text"}.
/// Errors: those of reading; `usage` if it is our text already.
Answered<std::string> import_text(const std::string& path, std::string_view options);

}  // namespace hostir::api
