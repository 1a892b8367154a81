// The joined profiles of all processes of a job: which ranks met in which collectives, on one
// clock, and who waited.
//
// Collectives of the processes are matched by sequence number or, where the profiles have none, by
// order, kind and size. Clocks are aligned on the ends of collectives, which all members reach
// together. Every time below is on the common clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "traces/profile/profile.h"

namespace hostir::traces::profile {

/// One rank's part in a collective: `wait_ns` + `transfer_ns` = `time_ns()`.
struct MemberTimes {
  uint32_t process = 0;  // in JobProfile::processes
  uint32_t row = 0;      // in its rows
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::optional<int64_t> issued_ns;
  std::optional<int64_t> step;  // number of the step in which it was launched
  int64_t wait_ns = 0;          // until the last member began
  int64_t transfer_ns = 0;      // while all were in it
  int64_t exposed_ns = 0;       // while no other kernel of the rank ran
  int64_t time_ns() const { return end_ns - begin_ns; }
};

/// A collective, or a send with its recv. `skew_ns` + `transfer_ns` = `time_ns()`.
struct Meeting {
  uint32_t group = 0;  // in JobProfile::groups
  uint64_t sequence = 0;
  bool pair = false;
  std::vector<MemberTimes> members;  // by rank; of a pair: send, recv
  uint32_t expected = 0;             // members of the group; 0: unknown
  uint32_t last = 0;                 // index of the member that arrived last
  int64_t begin_ns = 0;              // first arrival
  int64_t all_in_ns = 0;             // last arrival
  int64_t end_ns = 0;                // last end
  int64_t end_spread_ns = 0;         // between the first and the last end
  bool ends_together = false;        // several members, and of a kind that none can leave early
  bool shared() const { return members.size() >= 2; }
  bool whole() const { return shared() && (expected == 0 || members.size() == expected); }
  int64_t skew_ns() const { return all_in_ns - begin_ns; }
  int64_t transfer_ns() const { return end_ns - all_in_ns; }
  int64_t time_ns() const { return end_ns - begin_ns; }
};

/// local time + offset + drift * (local time - origin) = common time.
struct ClockFit {
  double offset_ns = 0;
  double drift = 0;  // ns per ns
  int64_t origin_ns = 0;
  size_t collectives = 0;  // shared with ranks aligned before
  bool connected = false;  // false: its clock is used as it is
  int64_t common(int64_t local_ns) const;
};

struct RankWaits {
  size_t last = 0;        // collectives in which it arrived last, beyond the clocks' error
  int64_t caused_ns = 0;  // mean wait of the other members for it, summed over those collectives
  int64_t wait_ns = 0;    // its own waits, transfers, exposed times, summed
  int64_t transfer_ns = 0;
  int64_t exposed_ns = 0;
};

struct JobProfile {
  std::vector<ProcessProfile> processes;  // by rank
  std::vector<Group> groups;              // with members as far as known
  std::vector<Meeting> meetings;          // by begin_ns
  std::vector<ClockFit> clocks;           // by process
  std::vector<RankWaits> waits;           // by process
  /// By process: for how long the row's process waited for the column's.
  std::vector<std::vector<int64_t>> waited_for;
  int64_t error_ns = 0;          // collectives end on all their members within this
  int64_t typical_error_ns = 0;  // half of them within this
  size_t aligned_on = 0;         // collectives
  size_t steps = 0;              // distinct numbers
  std::vector<std::string> notes;

  const Call& call(const Meeting& meeting) const {
    const MemberTimes& first = meeting.members.front();
    const ProcessProfile& process = processes[first.process];
    return process.calls[process.rows[first.row].call];
  }
  model::Rank rank(size_t process) const { return *processes[process].rank; }
};

/// Joins the profiles. Ranks that no profile states are numbered in order of the files, with a
/// note. Errors: `profile_rank` (two profiles of one rank).
Expected<JobProfile> join(std::vector<ProcessProfile> processes);

/// The step whose host interval contains the time.
std::optional<int64_t> step_of(const ProcessProfile& process, int64_t local_ns);

/// `rank 3 arrives last in 41 of 60 collectives; the others wait for it, 2.1 ms per step`.
std::string sentence(const JobProfile& job);

// The steps of join(), in this order.
void match_meetings(JobProfile& job);
void align_clocks(JobProfile& job);
void measure_waits(JobProfile& job);

}  // namespace hostir::traces::profile
