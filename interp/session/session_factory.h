// How windows and the debugger open sessions, independent of backends and logs.
//
// The command line implements it: it injects the backend, the log and the readers of recorded runs,
// which `interp/session` does not depend on.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/session/prepare/prepare_progress.h"
#include "interp/session/session.h"

namespace hostir::interp {

struct OpenRequest {
  std::string path;      // a `.hir` file or a log, detected by content
  std::string text;      // program text in place of the file's (an edited buffer)
  std::string function;  // without '@'; empty: the main function
  std::vector<std::pair<std::string, int64_t>> mesh_sizes;
  // name, and `@x.npy`, `4xf32=[..]` or a generator
  std::vector<std::pair<std::string, std::string>> inputs;
  std::vector<std::string> breakpoints;  // commands to execute once it is open
  bool at_outcome = false;  // a long log: show its end, and run the program when something moves
};

class SessionFactory {
 public:
  virtual ~SessionFactory() = default;
  /// Errors carry diagnostics whose spans point into `sources()`; `cancelled` if `watch` cancelled
  /// it.
  virtual Expected<std::unique_ptr<Session>> open(const OpenRequest& request,
                                                  const PrepareProgress& watch = {}) = 0;
  /// Opens a log to compare with: it is read and run again for contents, never stepped. The open
  /// session stays open. May be called from any thread, concurrently with the other functions.
  /// Errors: `not_a_log`, those of reading, `cancelled`.
  virtual Expected<std::unique_ptr<ReplaySource>> open_for_comparison(
      const std::string& path, const PrepareProgress& watch = {}) const;
  virtual const SourceManager& sources() const = 0;
  /// What the last successful open chose by default (generated inputs); empty if nothing.
  virtual std::string notice() const { return {}; }
  /// Problems of what it opened (a truncated log), as sentences; empty if there are none.
  virtual std::string warning() const { return {}; }
};

}  // namespace hostir::interp
