// The findings about a job from other tools' files, as texts. A log keeps it in its properties, so
// that a log, a report and the window say the same as `hostir open`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interp/session/log/log_records.h"

namespace hostir::traces {

class LogReader;

/// A call that the verdict is about, with what each member did there.
struct CallAtFault {
  std::string communicator;  // its name, not its description
  uint64_t sequence = 0;
  bool pair = false;  // a send and its recv
  std::string text;   // `seq 4 on default_pg: ranks 0, 2, 3 all_reduce f32[128], rank 1 ..`
};

struct JobFindings {
  enum class Holds : uint8_t {
    kNever,  // nobody is accused
    kOpen,   // it holds if the job is stuck, or depends on a file that cannot be read
    kAlways,
  } holds = Holds::kNever;
  std::string verdict;             // on the dumps; empty: there are none
  std::string trial;               // the result of running the repaired program; empty: not tried
  std::string profile;             // whom the ranks wait for; empty: there are no profiles
  std::vector<std::string> notes;  // one sentence each
  std::vector<CallAtFault> at_fault;  // the wrong call, and the one that it replaced

  /// When the dumps were written, as far as their times can be trusted: calls in flight last until
  /// then.
  std::optional<int64_t> ended_unix_ns;

  const std::string& sentence() const { return verdict.empty() ? profile : verdict; }
};

using LogProperties = std::vector<std::pair<std::string, std::string>>;

LogProperties to_properties(const JobFindings& findings);
/// nullopt: the log was not written from other tools' files.
std::optional<JobFindings> findings_of(const LogProperties& properties);
/// The time of the log at which its record ends: that of the dumps, else of the last event.
int64_t record_end_ns(const LogReader& log);

}  // namespace hostir::traces
