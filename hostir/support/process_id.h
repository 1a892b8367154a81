// Which process writes a file (a log, a text that is not saved yet), so that a reader can tell
// whether its writer still runs.
//
// Process numbers are reused; together with the boot and the process' start time they are not.
#pragma once

#include <string>
#include <string_view>

namespace hostir {

struct ProcessId {
  std::string boot;  // of the running kernel; empty where it is not known
  long long pid = 0;
  std::string start;  // in clock ticks since boot

  /// `boot:pid:start`
  std::string to_string() const;
};

ProcessId current_process();

/// Whether the process that `text` names (to_string()) still runs on this computer. False for any
/// other text.
bool is_running(std::string_view text);

}  // namespace hostir
