// Errors as values.
//
// An `Error` holds the diagnostics of a failed operation and the kind that decides the exit status.
// Every function that can fail on its input returns `Expected<T>`. Our code does not throw and does
// not abort on bad input. Source positions are optional: a run-time error names ranks and
// instructions in its notes instead.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir {

/// The kind of failure; it decides the exit status of the command.
enum class ErrorKind {
  kExpectation,  // exit 1: an expectation failed or two runs differ
  kInvalid,      // exit 2: the program does not parse or verify
  kRuntime,      // exit 3: a run-time failure: files, shapes, memory, races
  kStuck,        // exit 4: deadlock or collective mismatch
  kUsage,        // exit 64: wrong command line
};

struct Error {
  ErrorKind kind = ErrorKind::kRuntime;
  std::vector<Diagnostic> diagnostics;  // never empty

  /// The message of the first diagnostic, for places that show one line.
  const std::string& message() const { return diagnostics.front().message; }
};

/// The command's exit status for an error of this kind.
int exit_status(ErrorKind kind);

template <class T>
using Expected = tl::expected<T, Error>;

/// An error with one diagnostic and no source position.
tl::unexpected<Error> fail(ErrorKind kind, std::string id, std::string message);
tl::unexpected<Error> fail_at(ErrorKind kind, std::string id, std::string message, SourceSpan span);

}  // namespace hostir

/// Returns from the current function if `expr` is an error.
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
/// `HOSTIR_ASSIGN_OR_RETURN(auto x, f());` unwraps an Expected, or returns its error.
#define HOSTIR_ASSIGN_OR_RETURN(decl, expr) \
  HOSTIR_ASSIGN_OR_RETURN_INNER_(HOSTIR_CONCAT_(hostir_tmp_, __LINE__), decl, expr)
