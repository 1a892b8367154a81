#include "hostir/support/expected.h"

namespace hostir {

int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kExpectation:
      return 1;
    case ErrorKind::kInvalid:
      return 2;
    case ErrorKind::kRuntime:
      return 3;
    case ErrorKind::kStuck:
      return 4;
    case ErrorKind::kUsage:
      return 64;
  }
  return 3;
}

tl::unexpected<Error> fail_at(ErrorKind kind, std::string id, std::string message,
                              SourceSpan span) {
  Error error;
  error.kind = kind;
  error.diagnostics.push_back({Severity::kError, std::move(id), std::move(message), span, {}});
  return tl::unexpected(std::move(error));
}

tl::unexpected<Error> fail(ErrorKind kind, std::string id, std::string message) {
  return fail_at(kind, std::move(id), std::move(message), {});
}

}  // namespace hostir
