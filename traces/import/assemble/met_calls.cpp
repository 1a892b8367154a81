// 1. In each file, every call but the last of its group is taken for completed.
// 2. A rank's last call has completed if another member went on from it.
// 3. A call that a member lacks holds up its group on all ranks that made it: from there on nothing
//    has completed. A call that one of its members has not come to is held up as well.
#include "traces/import/assemble/met_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hostir::traces::import {

using model::Member;
using model::MemberState;
using model::Rank;

void complete_followed_calls(ProcessDump& dump) {
  dump.no_completions = true;
  std::map<size_t, DumpCall*> last;  // by group
  for (DumpCall& call : dump.calls) {
    DumpCall*& before = last[call.group];
    if (before != nullptr) before->state = MemberState::kCompleted;
    before = &call;
  }
}

namespace {

class MetCalls {
 public:
  MetCalls(const std::vector<ProcessDump>& dumps, model::Run& run) : run_(run) {
    for (const ProcessDump& dump : dumps) {
      if (dump.no_completions) concerned_.insert(*dump.rank);
    }
  }

  void settle() {
    if (concerned_.empty()) return;
    for (model::Meeting& meeting : run_.meetings) complete(meeting);
    note_calls();
    for (size_t i = 0; i < meets_.size(); ++i) {
      if (!meets_[i].met) hold_up(i);
    }
    while (!held_up_.empty()) {
      const size_t meet = held_up_.back();
      held_up_.pop_back();
      for (const auto& [line, place] : meets_[meet].places) shorten(*line, place);
    }
    for (const auto& [key, line] : lines_) {
      for (size_t i = line.open; i < line.calls.size(); ++i) {
        if (line.calls[i].member->state == MemberState::kCompleted)
          line.calls[i].member->state = MemberState::kScheduled;
      }
    }
  }

 private:
  /// A collective, or a send with its recv.
  struct Line;
  struct Meet {
    bool met = true;
    bool held_up = false;
    std::vector<std::pair<Line*, size_t>> places;  // of the calls in lines_
  };
  struct LineCall {
    Member* member = nullptr;
    bool pair = false;
    size_t meet = 0;  // in meets_
  };
  /// A rank's calls in one group, in order.
  struct Line {
    std::vector<LineCall> calls;
    size_t open = 0;  // from here on, no call has completed
  };

  void complete(model::Meeting& meeting) const {
    std::vector<Member>& members = meeting.members;
    const auto completed = std::find_if(members.begin(), members.end(), [](const Member& member) {
      return member.state == MemberState::kCompleted;
    });
    if (completed == members.end()) return;
    const bool met = std::all_of(members.begin(), members.end(), [&](const Member& member) {
      return member.arrived() && agree(member.call, completed->call);
    });
    if (!met) return;
    for (Member& member : members) {
      if (concerned_.contains(member.rank)) member.state = MemberState::kCompleted;
    }
  }

  void note_calls() {
    for (model::Meeting& meeting : run_.meetings) {
      const Member* first = nullptr;
      bool met = true;
      for (Member& member : meeting.members) {
        if (member.state == MemberState::kNotArrived) met = false;
        if (!member.arrived()) continue;
        if (first == nullptr) first = &member;
        met = met && agree(member.call, first->call);
        add(meeting.communicator, member, false);
      }
      meets_.push_back({met, false, {}});
    }
    for (model::SendRecv& pair : run_.pairs) {
      bool met = true;
      for (Member* side : {&pair.send, &pair.recv}) {
        if (side->state == MemberState::kNotArrived) met = false;
        if (side->arrived()) add(pair.communicator, *side, true);
      }
      meets_.push_back({met, false, {}});
    }
    for (auto& [key, line] : lines_) {
      std::stable_sort(
          line.calls.begin(), line.calls.end(),
          [](const LineCall& a, const LineCall& b) { return a.member->order < b.member->order; });
      line.open = line.calls.size();
      for (size_t i = 0; i < line.calls.size(); ++i)
        meets_[line.calls[i].meet].places.emplace_back(&line, i);
    }
  }
  void add(model::CommunicatorId communicator, Member& member, bool pair) {
    if (concerned_.contains(member.rank))
      lines_[{member.rank, communicator}].calls.push_back({&member, pair, meets_.size()});
  }

  void hold_up(size_t meet) {
    if (meets_[meet].held_up) return;
    meets_[meet].held_up = true;
    held_up_.push_back(meet);
  }
  // Sends and recvs in a row may be one launch, which these files do not show: they do not wait for
  // each other.
  void shorten(Line& line, size_t place) {
    if (place >= line.open) return;
    const bool pair = line.calls[place].pair;
    size_t next = place + 1;
    while (pair && next < line.open && line.calls[next].pair) ++next;
    for (size_t i = next; i < line.open; ++i) hold_up(line.calls[i].meet);
    line.open = next;
    if (line.calls[place].member->state == MemberState::kCompleted)
      line.calls[place].member->state = MemberState::kScheduled;
  }

  model::Run& run_;
  std::set<Rank> concerned_;
  std::map<std::pair<Rank, model::CommunicatorId>, Line> lines_;
  std::vector<Meet> meets_;
  std::vector<size_t> held_up_;
};

}  // namespace

void settle_met_calls(const std::vector<ProcessDump>& dumps, model::Run& run) {
  MetCalls(dumps, run).settle();
}

}  // namespace hostir::traces::import
