// Where a run is stuck, in terms of its text: meetings that did not come about, and waits.
#pragma once

#include <utility>
#include <vector>

#include "interp/session/snapshot.h"
#include "interp/session/what_if_program.h"

namespace hostir::interp::what_if_parts {

/// An instruction that ranks are stuck in.
struct StuckCall {
  Spot at;
  std::vector<Rank> ranks;  // ascending
};

/// Meetings at the same instructions are one, whichever groups and sequence numbers they are of.
struct StuckMeeting {
  CommIndex comm = 0;
  bool point_to_point = false;
  bool mismatch = false;
  std::vector<StuckCall> calls;  // most ranks first
  std::vector<Rank> missing;     // who did not come, ascending
  /// Of send and recv: source and target of each pair.
  std::vector<std::pair<Rank, Rank>> pairs;
};

struct StopPicture {
  const Code* code = nullptr;
  std::vector<StuckMeeting> meetings;  // mismatches first
  std::vector<StuckCall> waits;        // `wait` instructions that hosts stand at
  /// All calls of the meetings, each instruction once.
  std::vector<StuckCall> calls() const;
};

/// At most so many meetings and calls of each: what a search can look at.
inline constexpr size_t kMostMeetings = 8;

StopPicture stop_picture(const Snapshot& shot, const EditableProgram& program);

}  // namespace hostir::interp::what_if_parts
