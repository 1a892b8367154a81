#include "interp/session/ledger_snapshot.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "hostir/ops/record.h"
#include "interp/session/snapshot_builder.h"

namespace hostir::interp {
namespace {

// What the members called, by vote.
struct Votes {
  std::string most;       // what most of them called; the first of them on a tie
  bool expected = false;  // more than half of the members did, and not all who came
};

Votes votes_of(const MeetingView& meeting) {
  std::map<std::string_view, size_t> count;
  for (const ArrivalView& a : meeting.arrivals) {
    if (a.arrived) ++count[a.fingerprint];
  }
  Votes out;
  for (const ArrivalView& a : meeting.arrivals) {
    if (a.arrived && (out.most.empty() || count[a.fingerprint] > count[out.most]))
      out.most = a.fingerprint;
  }
  out.expected = count.size() > 1 && 2 * count[out.most] > meeting.arrivals.size();
  return out;
}

// Everybody is there, at the head of the stream.
bool all_ready(const MeetingView& meeting) {
  return meeting.complete && std::none_of(meeting.arrivals.begin(), meeting.arrivals.end(),
                                          [](const ArrivalView& a) { return a.queued; });
}

LedgerCell cell_of(const Code& code, const MeetingView& meeting, bool ready, const ArrivalView& a,
                   const Votes& votes) {
  LedgerCell out;
  out.rank = a.rank;
  if (!a.arrived) return out;
  out.code = a.code;
  out.address = code.address(a.code);
  out.fingerprint = a.fingerprint;
  out.task = a.task;
  out.arrived_ns = a.arrived_ns;
  if (a.finished)
    out.state = LedgerCell::State::kDone;
  else if (a.queued)
    out.state = LedgerCell::State::kQueued;
  else if (ready && !meeting.mismatch)
    out.state = LedgerCell::State::kRunning;
  else
    out.state = LedgerCell::State::kArrived;
  // Without a majority nobody is the one who is right.
  if (meeting.mismatch && (!votes.expected || a.fingerprint != votes.most))
    out.state = LedgerCell::State::kDiffers;
  return out;
}

LedgerRow row_of(const Code& code, const MeetingView& meeting) {
  LedgerRow out;
  out.comm = meeting.comm;
  out.comm_name = code.communicators[meeting.comm].name;
  out.group = meeting.group;
  out.sequence = meeting.sequence;
  out.point_to_point = meeting.point_to_point;
  const bool ready = all_ready(meeting);
  if (meeting.mismatch)
    out.state = LedgerRow::State::kMismatch;
  else if (meeting.finished)
    out.state = LedgerRow::State::kDone;
  else if (ready)
    out.state = LedgerRow::State::kRunning;
  const Votes votes = votes_of(meeting);
  for (const ArrivalView& a : meeting.arrivals) {
    out.cells.push_back(cell_of(code, meeting, ready, a, votes));
    if (!a.arrived || a.fingerprint != votes.most || !out.kind.empty()) continue;
    out.kind = record(a.kind).mnemonic;
    out.bytes = a.count_elems * size_bytes(a.dtype);
  }
  return out;
}

}  // namespace

std::vector<LedgerRow> make_ledger_snapshot(const Interpreter& interpreter) {
  std::vector<LedgerRow> out;
  for (const MeetingView& meeting : interpreter.ledger())
    out.push_back(row_of(interpreter.code(), meeting));
  return out;
}

}  // namespace hostir::interp
