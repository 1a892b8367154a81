#include "interp/session/what_if/what_if_stop.h"

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "interp/session/answers/fault_names.h"

namespace hostir::interp::what_if_parts {
namespace {

StuckCall& add_call(std::vector<StuckCall>& calls, const InstructionSite& at, Rank rank) {
  auto found = std::find_if(calls.begin(), calls.end(),
                            [&](const StuckCall& call) { return call.at == at; });
  if (found == calls.end()) found = calls.insert(calls.end(), StuckCall{at, {}, {}});
  insert_once(found->ranks, rank);
  return *found;
}

void add_callers(StuckCall& call, const Code& code, CodeIndex index,
                 const EditableProgram& program) {
  for (CodeIndex at = code.instructions[index].call; at != kNoCode;
       at = code.instructions[at].call) {
    const auto spot = program.find(code, at);
    if (spot && !contains(call.callers, *spot)) call.callers.push_back(*spot);
  }
}

StuckMeeting meeting_of(const LedgerRow& row, const Code& code, const EditableProgram& program) {
  StuckMeeting out;
  out.comm = row.comm;
  out.point_to_point = row.point_to_point;
  out.mismatch = row.state == LedgerRow::State::kMismatch;
  for (const LedgerCell& cell : row.cells) {
    if (cell.state == LedgerCell::State::kMissing) {
      insert_once(out.missing, cell.rank());
    } else if (const auto spot = program.find(code, cell.code()); spot && cell.arrived()) {
      add_callers(add_call(out.calls, *spot, cell.rank()), code, cell.code(), program);
    }
  }
  if (row.point_to_point && row.cells.size() == 2)
    out.pairs.emplace_back(row.cells[0].rank(), row.cells[1].rank());
  return out;
}

bool alike(const StuckMeeting& a, const StuckMeeting& b) {
  if (a.comm != b.comm || a.mismatch != b.mismatch || a.calls.size() != b.calls.size())
    return false;
  return std::all_of(a.calls.begin(), a.calls.end(), [&](const StuckCall& call) {
    return std::any_of(b.calls.begin(), b.calls.end(),
                       [&](const StuckCall& other) { return other.at == call.at; });
  });
}

void merge(std::vector<StuckMeeting>& meetings, StuckMeeting meeting) {
  for (StuckMeeting& m : meetings) {
    if (!alike(m, meeting)) continue;
    for (const StuckCall& call : meeting.calls) {
      for (const Rank r : call.ranks) add_call(m.calls, call.at, r).callers = call.callers;
    }
    for (const Rank r : meeting.missing) insert_once(m.missing, r);
    m.pairs.insert(m.pairs.end(), meeting.pairs.begin(), meeting.pairs.end());
    return;
  }
  if (meetings.size() < kMostMeetings) meetings.push_back(std::move(meeting));
}

// True if the fault names every call of a send/recv row. The ledger itself marks mismatches of
// collectives only.
bool names_all(const FaultSnapshot& fault, const LedgerRow& row, const model::Run& run) {
  if (fault.kind != "collective_mismatch" || !row.point_to_point || fault.instructions.empty())
    return false;
  return std::all_of(row.cells.begin(), row.cells.end(), [&](const LedgerCell& cell) {
    return contains(fault.instructions, cell.address(run));
  });
}

std::optional<InstructionSite> spot_at(const Code& code, const EditableProgram& program,
                                       const std::string& address) {
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (code.address(i) == address) return program.find(code, i);
  }
  return std::nullopt;
}

}  // namespace

std::vector<StuckCall> StopPicture::calls() const {
  std::vector<StuckCall> out;
  for (const StuckMeeting& meeting : meetings) {
    for (const StuckCall& call : meeting.calls) {
      for (const Rank r : call.ranks) add_call(out, call.at, r);
    }
  }
  return out;
}

StopPicture stop_picture(const Snapshot& shot, const EditableProgram& program) {
  StopPicture out;
  out.code = shot.program->code.get();
  const FaultSnapshot& fault = shot.faults->back();
  std::vector<StuckMeeting> others;
  for (const LedgerRow& row : *shot.ledger) {
    if (row.state == LedgerRow::State::kDone) continue;
    StuckMeeting meeting = meeting_of(row, *out.code, program);
    if (meeting.calls.empty()) continue;
    meeting.mismatch |= names_all(fault, row, *shot.run);
    std::vector<StuckMeeting>& kept = meeting.mismatch ? out.meetings : others;
    merge(kept, std::move(meeting));
  }
  for (StuckMeeting& meeting : others) {
    if (out.meetings.size() < kMostMeetings) out.meetings.push_back(std::move(meeting));
  }
  for (StuckMeeting& meeting : out.meetings) {
    std::stable_sort(
        meeting.calls.begin(), meeting.calls.end(),
        [](const StuckCall& a, const StuckCall& b) { return a.ranks.size() > b.ranks.size(); });
  }
  for (const auto& rank : shot.ranks) {
    if (rank->status != RankStatus::kBlocked) continue;
    const auto spot = program.find(*out.code, rank->code);
    if (spot && record(program.at(*spot).kind).role == HostRole::kWait)
      add_call(out.waits, *spot, rank->rank);
  }
  for (const FaultSnapshot& found : *shot.faults) {
    if (!is_race(found.kind) || found.instructions.size() < 2) continue;
    const auto second = spot_at(*out.code, program, found.instructions[0]);
    const auto first = spot_at(*out.code, program, found.instructions[1]);
    if (first && second && out.races.size() < kMostMeetings) out.races.push_back({*first, *second});
  }
  return out;
}

}  // namespace hostir::interp::what_if_parts
