#include "interp/session/snapshots/ledger_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "interp/diagnose/charges/disagreement.h"
#include "interp/diagnose/engine/queues.h"
#include "interp/diagnose/verdicts.h"
#include "interp/session/snapshots/declarations.h"

namespace hostir::interp {
namespace {

using diagnose::MemberRef;

// The members' calls, and how many members made each.
struct Votes {
  std::string most;       // the most frequent call; the first of them on a tie
  bool expected = false;  // a strict majority made it, but not all arrived members
};

class LedgerMaker {
 public:
  explicit LedgerMaker(const model::Run& run) : run_(run), queues_(run), declarations_(run) {}

  std::vector<LedgerRow> rows() {
    for (const model::Meeting& meeting : run_.meetings) {
      LedgerRow row = row_of(meeting.communicator, meeting.sequence);
      std::vector<MemberRef> members;
      for (const model::Member& m : meeting.members) members.push_back({&meeting, nullptr, &m});
      fill(row, members, diagnose::disagree(meeting));
      rows_.push_back(std::move(row));
    }
    for (const model::SendRecv& pair : run_.pairs) {
      LedgerRow row = row_of(pair.communicator, pair.ordinal);
      row.point_to_point = true;
      fill(row, {{nullptr, &pair, &pair.send}, {nullptr, &pair, &pair.recv}},
           diagnose::sides_differ(pair));
      rows_.push_back(std::move(row));
    }
    return std::move(rows_);
  }

 private:
  LedgerRow row_of(model::CommunicatorId id, uint64_t sequence) const {
    LedgerRow row;
    row.sequence = sequence;
    const model::Communicator* communicator = run_.find(id);
    if (communicator == nullptr) return row;
    row.comm = declarations_.index_of(id);
    row.comm_name = communicator->name;
    row.comm_text = comm_text(*communicator);
    row.group = communicator->group.value_or(0);
    return row;
  }

  static Votes votes_of(const std::vector<std::string>& calls) {
    std::map<std::string_view, size_t> count;
    for (const std::string& call : calls) {
      if (!call.empty()) ++count[call];
    }
    Votes out;
    for (const std::string& call : calls) {
      if (!call.empty() && (out.most.empty() || count[call] > count[out.most])) out.most = call;
    }
    out.expected = count.size() > 1 && 2 * count[out.most] > calls.size();
    return out;
  }

  void fill(LedgerRow& row, const std::vector<MemberRef>& members, bool mismatch) {
    std::vector<std::string> calls;
    bool finished = true;
    // A member completed it, so all arrived, whether recorded or lost. A send may be done early.
    const bool over = std::any_of(members.begin(), members.end(), [](const MemberRef& m) {
      return m.member->state == model::MemberState::kCompleted &&
             (m.pair == nullptr || m.member == &m.pair->recv);
    });
    bool ready = true;  // all members are at the head of their streams
    for (const MemberRef& m : members) {
      const bool came = m.member->arrived();
      calls.push_back(came ? model::call_text(m.member->call) : std::string());
      const bool completed = m.member->state == model::MemberState::kCompleted;
      const bool lost = m.member->state == model::MemberState::kUnknown || (over && !came);
      finished = finished && (completed || lost);
      ready = ready && came && (!m.member->unfinished() || queues_.is_ready(m));
    }
    if (mismatch)
      row.state = LedgerRow::State::kMismatch;
    else if (finished && over)
      row.state = LedgerRow::State::kDone;
    else if (ready)
      row.state = LedgerRow::State::kRunning;
    if (mismatch) tell_blocks(members, calls);
    const Votes votes = votes_of(calls);
    for (size_t i = 0; i < members.size(); ++i) {
      row.cells.push_back(cell_of(members[i], calls[i], ready && !mismatch));
      LedgerCell& cell = row.cells.back();
      if (over && cell.state == LedgerCell::State::kMissing)
        cell.state = LedgerCell::State::kUnknown;
      // Without a majority, no call counts as correct.
      if (mismatch && !calls[i].empty() && (!votes.expected || calls[i] != votes.most))
        cell.state = LedgerCell::State::kDiffers;
      if (calls[i].empty() || (mismatch && calls[i] != votes.most)) continue;
      const model::Call& call = members[i].member->call;
      if (calls[i] == votes.most) row.kind = model::kind_text(call);
      if (call.dtype) row.bytes = std::max(row.bytes, elements(call) * size_bytes(*call.dtype));
    }
  }

  // Members of a permute or an all_to_all state what they send and receive, which may be nothing.
  static int64_t elements(const model::Call& call) {
    const auto sum = [](const auto& counts) {
      return std::accumulate(counts.begin(), counts.end(), int64_t{0});
    };
    return std::max({call.total_elems.value_or(0), sum(call.sends), sum(call.receives)});
  }

  // Calls with equal texts do not match: they differ in what each member sends and expects.
  static void tell_blocks(const std::vector<MemberRef>& members, std::vector<std::string>& calls) {
    const bool alike = std::all_of(calls.begin(), calls.end(),
                                   [&](const std::string& call) { return call == calls.front(); });
    for (size_t i = 0; alike && i < members.size(); ++i) {
      const model::Call& call = members[i].member->call;
      if (call.sends.empty() && call.receives.empty()) continue;
      calls[i] += fmt::format(" sends [{}], expects [{}]", fmt::join(call.sends, ", "),
                              fmt::join(call.receives, ", "));
    }
  }

  LedgerCell cell_of(const MemberRef& ref, const std::string& call, bool running) const {
    const model::Member& m = *ref.member;
    LedgerCell out;
    out.member = &m;
    if (m.state == model::MemberState::kUnknown) out.state = LedgerCell::State::kUnknown;
    if (!m.arrived()) return out;
    out.call = call;
    if (!m.unfinished())
      out.state = LedgerCell::State::kDone;
    else if (!queues_.is_ready(ref))
      out.state = LedgerCell::State::kQueued;
    else
      out.state = running ? LedgerCell::State::kRunning : LedgerCell::State::kArrived;
    return out;
  }

  const model::Run& run_;
  diagnose::Queues queues_;
  Declarations declarations_;
  std::vector<LedgerRow> rows_;
};

}  // namespace

std::string comm_text(const model::Communicator& communicator) {
  const bool is_declared =
      communicator.description.empty() || communicator.description.starts_with("comm ");
  return is_declared ? "%" + communicator.name : communicator.description;
}

std::string LedgerCell::address(const model::Run& run) const {
  const model::Instruction* instruction = arrived() ? run.find(member->instruction) : nullptr;
  return instruction ? model::place_text(*instruction) : std::string();
}

std::shared_ptr<const std::vector<LedgerRow>> make_ledger_snapshot(
    std::shared_ptr<const model::Run> run) {
  struct RowsOfRun {
    std::shared_ptr<const model::Run> run;  // its members are in the cells
    std::vector<LedgerRow> rows;
  };
  auto kept = std::make_shared<RowsOfRun>();
  kept->rows = LedgerMaker(*run).rows();
  kept->run = std::move(run);
  return {kept, &kept->rows};
}

}  // namespace hostir::interp
