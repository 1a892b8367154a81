// The options of opening a program or a log as one JSON object, for callers in other languages.
//
// The members have the names of the command's options. `hostir.h` lists them for its users.
#pragma once

#include <string_view>

#include "hostir/api/open/open_session.h"

namespace hostir::api {

struct OpenOptions {
  SessionOptions session;
  interp::OpenRequest request;  // path, text and breakpoints; the rest is in `session`
};

/// `json` is an object; empty text means no options. Errors: `open_options` naming the member, what
/// it is and what it should be; kUsage.
Expected<OpenOptions> parse_open_options(std::string_view json);

}  // namespace hostir::api
