// Errors as values.
//
// `Error` is a list of diagnostics that made an operation fail, with the class that decides the
// exit status. Every function that can fail on input returns `Expected<T>`; nothing of ours throws
// and nothing aborts on input. Source positions are optional: an error met at run time names ranks
// and instructions in its notes instead.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir {

/// What kind of failure it is; the exit status of the command follows from it (DESIGN section 8).
enum class ErrorKind {
  kExpectation,  // exit 1: an expectation failed or two runs differ
  kInvalid,      // exit 2: text that does not parse or verify
  kRuntime,      // exit 3: a failure while running: files, shapes, memory, races
  kStuck,        // exit 4: deadlock or collective mismatch
  kUsage,        // exit 64: wrong command line
};

struct Error {
  ErrorKind kind = ErrorKind::kRuntime;
  std::vector<Diagnostic> diagnostics;  // never empty

  /// The first diagnostic's message, for places that show one line.
  const std::string& message() const { return diagnostics.front().message; }
};

/// Exit status of the command for an error of this kind.
int exit_status(ErrorKind kind);

template <class T>
using Expected = tl::expected<T, Error>;

/// An `unexpected` with one diagnostic without a source position.
tl::unexpected<Error> fail(ErrorKind kind, std::string id, std::string message);
tl::unexpected<Error> fail_at(ErrorKind kind, std::string id, std::string message, SourceSpan span);

}  // namespace hostir

/// Returns the error of `expr` from the current function, or goes on.
#define HOSTIR_TRY(expr)                                                           \
  do {                                                                             \
    auto hostir_result_ = (expr);                                                  \
    if (!hostir_result_) return tl::unexpected(std::move(hostir_result_.error())); \
  } while (false)

#define HOSTIR_CONCAT_INNER_(a, b) a##b
#define HOSTIR_CONCAT_(a, b) HOSTIR_CONCAT_INNER_(a, b)
#define HOSTIR_ASSIGN_OR_RETURN_INNER_(tmp, decl, expr)    \
  auto tmp = (expr);                                       \
  if (!tmp) return tl::unexpected(std::move(tmp.error())); \
  decl = std::move(*tmp)
/// `HOSTIR_ASSIGN_OR_RETURN(auto x, f());` unpacks an Expected or returns its error.
#define HOSTIR_ASSIGN_OR_RETURN(decl, expr) \
  HOSTIR_ASSIGN_OR_RETURN_INNER_(HOSTIR_CONCAT_(hostir_tmp_, __LINE__), decl, expr)
