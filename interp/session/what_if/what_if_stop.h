// Where a run is stuck, in terms of its text: incomplete meetings, waits, and races.
#pragma once

#include <utility>
#include <vector>

#include "interp/session/snapshots/snapshot.h"
#include "interp/session/what_if/what_if_program.h"

namespace hostir::interp::what_if_parts {

/// An instruction at which ranks are stuck.
struct StuckCall {
  InstructionSite at;
  std::vector<Rank> ranks;               // ascending
  std::vector<InstructionSite> callers;  // the `call` instructions that led there, innermost first
};

/// Meetings at the same instructions count as one, even of different groups and sequence numbers.
struct StuckMeeting {
  CommIndex comm = 0;
  bool point_to_point = false;
  bool mismatch = false;
  std::vector<StuckCall> calls;  // most ranks first
  std::vector<Rank> missing;     // absent ranks, ascending
  /// For send and recv: source and target of each pair.
  std::vector<std::pair<Rank, Rank>> pairs;
};

/// Two unordered accesses of one rank.
struct StuckRace {
  InstructionSite first;
  InstructionSite second;
};

struct StopPicture {
  const Code* code = nullptr;
  std::vector<StuckRace> races;
  std::vector<StuckMeeting> meetings;  // mismatches first
  std::vector<StuckCall> waits;        // `wait` instructions at which hosts are blocked
  /// The calls of all meetings, each instruction once.
  std::vector<StuckCall> calls() const;
};

/// The search considers at most this many races, meetings, and calls of each.
inline constexpr size_t kMostMeetings = 8;

StopPicture stop_picture(const Snapshot& shot, const EditableProgram& program);

}  // namespace hostir::interp::what_if_parts
