// Identifies the process that writes a file (a log, an unsaved text), so that a reader can tell if
// the writer is still running.
//
// The kernel reuses process ids, so the id includes the boot id and the process start time.
#pragma once

#include <string>
#include <string_view>

namespace hostir {

struct ProcessId {
  std::string boot;  // boot id of the kernel; empty if unknown
  long long pid = 0;
  std::string start;  // in clock ticks since boot

  /// `boot:pid:start`
  std::string to_string() const;
};

ProcessId current_process();

/// True if the process named by `text` (from to_string()) is still running on this computer. False
/// for any other text.
bool is_running(std::string_view text);

}  // namespace hostir
