// How windows and the debugger open things, without knowing backends or logs.
//
// The command line implements it: it injects the backend, the log and the readers of recorded
// runs. `interp/session` itself includes neither.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/session/preparing.h"
#include "interp/session/session.h"

namespace hostir::interp {

struct OpenRequest {
  std::string path;      // a `.hir` file or a log; what it is is found out from its bytes
  std::string text;      // program text to use instead of the file's (an edited buffer)
  std::string function;  // without '@'; empty: the main function
  std::vector<std::pair<std::string, int64_t>> mesh_sizes;
  std::vector<std::pair<std::string, std::string>> inputs;  // name, `@x.npy` or `4xf32=[..]` or a
                                                            // generator
  std::vector<std::string> breakpoints;                     // commands to run once it is open
};

class SessionFactory {
 public:
  virtual ~SessionFactory() = default;
  /// Errors carry diagnostics whose spans point into `sources()`; `cancelled` where `watch` called
  /// it off.
  virtual Expected<std::unique_ptr<Session>> open(const OpenRequest& request,
                                                  const Preparing& watch = {}) = 0;
  /// A log to compare with: it is looked at and run again for contents, never stepped. What is open
  /// stays. May be called from any thread beside the other functions. Errors: `not_a_log`, those of
  /// reading, `cancelled`.
  virtual Expected<std::unique_ptr<PastRun>> open_beside(const std::string& path,
                                                         const Preparing& watch = {}) const;
  virtual const SourceManager& sources() const = 0;
  /// What the last successful opening decided by itself (inputs that it made up); empty: nothing.
  virtual std::string notice() const { return {}; }
  /// What is wrong with what it opened (a log that was cut): sentences; empty: nothing.
  virtual std::string warning() const { return {}; }
};

}  // namespace hostir::interp
