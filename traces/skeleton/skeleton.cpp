#include "traces/skeleton/skeleton.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "interp/diagnose/call_order.h"
#include "interp/diagnose/user_frame.h"

namespace hostir::traces {

using diagnose::CallEdit;
using diagnose::MemberRef;
using model::Member;
using model::MemberState;
using model::Rank;
using model::Run;

namespace {

using Shape = JobCall::Shape;

class JobBuilder {
 public:
  explicit JobBuilder(const Run& run) : run_(run), refs_(diagnose::calls_by_rank(run)) {
    job_.resize(run.ranks.size());
  }

  JobCalls record() {
    for (size_t r = 0; r < refs_.size(); ++r) {
      for (const MemberRef& ref : refs_[r]) {
        if (!lost_elsewhere(ref)) job_[r].push_back(call_of(static_cast<Rank>(r), ref));
      }
      if (refs_[r].empty()) job_[r] = of_unrecorded(static_cast<Rank>(r));
    }
    return std::move(job_);
  }

  JobCalls repaired(const std::vector<CallEdit>& edits) {
    for (size_t r = 0; r < refs_.size(); ++r) {
      std::vector<JobCall> calls;
      const auto rank = static_cast<Rank>(r);
      for (size_t i = 0; i <= refs_[r].size(); ++i) {
        place_edits(edits, rank, i, calls);
        if (i == refs_[r].size()) break;
        if (const CallEdit* edit = edit_at(edits, rank, i)) {
          if (edit->kind == CallEdit::Kind::kChange)
            calls.push_back(changed(rank, refs_[r][i], *edit));
          continue;
        }
        if (!lost_elsewhere(refs_[r][i])) calls.push_back(call_of(rank, refs_[r][i]));
      }
      if (refs_[r].empty()) {
        std::vector<JobCall> own = of_unrecorded(rank);
        own.insert(own.end(), calls.begin(), calls.end());
        calls = std::move(own);
      }
      job_[r] = std::move(calls);
    }
    go_on(edits);
    return std::move(job_);
  }

 private:
  // ---- one call

  JobCall call_of(Rank rank, const MemberRef& ref) const {
    JobCall out;
    out.communicator = ref.communicator();
    out.call = ref.member->call;
    out.order = ref.member->order.value_or(0);
    if (const model::Instruction* instruction = run_.find(ref.member->instruction))
      out.place = diagnose::stack_text(*instruction);
    if (ref.pair != nullptr) {
      const bool sends = ref.pair->source == rank;
      out.shape = sends ? Shape::kSend : Shape::kRecv;
      out.peer = sends ? ref.pair->target : ref.pair->source;
      out.call.kind = sends ? OpKind::send : OpKind::recv;
    } else if (!out.call.root) {
      out.call.root = root_of(*ref.meeting);
    }
    return out;
  }
  // Possibly only the root records that it is the root.
  static std::optional<int32_t> root_of(const model::Meeting& meeting) {
    for (const Member& member : meeting.members) {
      if (member.arrived() && member.call.root) return member.call.root;
    }
    return std::nullopt;
  }

  // An added or changed call is on its own: nothing is issued together with it.
  JobCall changed(Rank rank, const MemberRef& wrong, const CallEdit& edit) const {
    JobCall out = call_of(rank, edit.pattern);
    out.order = wrong.member->order.value_or(0);
    if (const model::Instruction* instruction = run_.find(wrong.member->instruction))
      out.place = diagnose::stack_text(*instruction);
    if (edit.pattern.meeting != nullptr && out.call.kind == OpKind::all_to_all)
      fit_blocks(out.call, *edit.pattern.meeting, rank);
    return out;
  }
  // Takes block sizes from what the others send and expect, if known.
  static void fit_blocks(model::Call& call, const model::Meeting& meeting, Rank rank) {
    const auto& members = meeting.members;
    size_t mine = 0;
    while (mine < members.size() && members[mine].rank != rank) ++mine;
    if (mine == members.size() || call.sends.size() != members.size() ||
        call.receives.size() != members.size())
      return;
    for (size_t q = 0; q < members.size(); ++q) {
      if (q == mine) continue;
      if (mine < members[q].call.receives.size()) call.sends[q] = members[q].call.receives[mine];
      if (mine < members[q].call.sends.size()) call.receives[q] = members[q].call.sends[mine];
    }
    call.sends[mine] = call.receives[mine];
  }

  // ---- lost calls

  // A call that some member's ring buffer has lost would hang the others.
  bool lost_elsewhere(const MemberRef& ref) const {
    if (ref.pair != nullptr) {
      const Member& other = ref.sends() ? ref.pair->recv : ref.pair->send;
      return other.state == MemberState::kUnknown && !is_missing(other.rank);
    }
    return std::any_of(ref.meeting->members.begin(), ref.meeting->members.end(),
                       [&](const Member& member) {
                         return member.state == MemberState::kUnknown && !is_missing(member.rank);
                       });
  }
  bool is_missing(Rank rank) const {
    const model::RankFacts* facts = run_.find(rank);
    return facts == nullptr || facts->record == model::RecordState::kMissing;
  }

  // ---- ranks without a record

  // The meetings that others completed, in an order consistent with that of all of them.
  std::vector<JobCall> of_unrecorded(Rank rank) const {
    if (!is_missing(rank)) return {};
    std::vector<const model::Meeting*> meetings;
    for (const model::Meeting& meeting : run_.meetings) {
      const Member* mine = meeting.member(rank);
      if (mine == nullptr || mine->arrived()) continue;
      const bool over =
          std::any_of(meeting.members.begin(), meeting.members.end(),
                      [](const Member& m) { return m.state == MemberState::kCompleted; });
      const bool whole = std::none_of(
          meeting.members.begin(), meeting.members.end(),
          [&](const Member& m) { return m.state == MemberState::kUnknown && !is_missing(m.rank); });
      if (over && whole) meetings.push_back(&meeting);
    }
    std::vector<JobCall> out;
    for (const model::Meeting* meeting : in_order(meetings)) {
      const auto known = std::find_if(meeting->members.begin(), meeting->members.end(),
                                      [](const Member& m) { return m.arrived(); });
      out.push_back(call_of(rank, {meeting, nullptr, &*known}));
      out.back().order = UINT64_MAX;  // nothing is issued together with it
    }
    return out;
  }

  std::vector<const model::Meeting*> in_order(
      const std::vector<const model::Meeting*>& meetings) const {
    std::map<const model::Meeting*, std::set<const model::Meeting*>> before;
    for (const model::Meeting* meeting : meetings) before[meeting];
    for (const auto& calls : refs_) {
      const model::Meeting* last = nullptr;
      for (const MemberRef& ref : calls) {
        if (ref.meeting == nullptr || before.count(ref.meeting) == 0) continue;
        if (last != nullptr) before[ref.meeting].insert(last);
        last = ref.meeting;
      }
    }
    std::vector<const model::Meeting*> out;
    std::vector<const model::Meeting*> left = meetings;
    while (!left.empty()) {
      auto next = std::find_if(left.begin(), left.end(), [&](const model::Meeting* m) {
        return std::none_of(left.begin(), left.end(), [&](const model::Meeting* other) {
          return before[m].count(other) != 0;
        });
      });
      if (next == left.end()) next = left.begin();
      out.push_back(*next);
      left.erase(next);
    }
    return out;
  }

  // ---- edits

  static const CallEdit* edit_at(const std::vector<CallEdit>& edits, Rank rank, size_t at) {
    const auto found = std::find_if(edits.begin(), edits.end(), [&](const CallEdit& edit) {
      return edit.rank == rank && edit.at == at && edit.kind != CallEdit::Kind::kAdd;
    });
    return found == edits.end() ? nullptr : &*found;
  }
  void place_edits(const std::vector<CallEdit>& edits, Rank rank, size_t at,
                   std::vector<JobCall>& calls) const {
    for (const CallEdit& edit : edits) {
      if (edit.rank != rank) continue;
      if (edit.kind == CallEdit::Kind::kAdd && edit.at == at) {
        calls.push_back(call_of(rank, edit.pattern));
        calls.back().order = UINT64_MAX;
      }
      if (edit.kind == CallEdit::Kind::kMove && edit.to == at) {
        calls.push_back(call_of(rank, refs_[static_cast<size_t>(rank)][edit.at]));
        calls.back().order = UINT64_MAX;
      }
    }
  }

  // Ranks that were prevented from making calls the others made now make them. A rank that nothing
  // prevented, and that the repair does not change, makes none: a wrong repair must not complete.
  void go_on(const std::vector<CallEdit>& edits) {
    can_go_on_.assign(job_.size(), false);
    for (size_t r = 0; r < refs_.size(); ++r) {
      can_go_on_[r] = is_missing(static_cast<Rank>(r)) ||
                      std::any_of(refs_[r].begin(), refs_[r].end(),
                                  [](const MemberRef& ref) { return ref.member->unfinished(); });
    }
    for (const CallEdit& edit : edits) can_go_on_[static_cast<size_t>(edit.rank)] = true;
    std::map<model::CommunicatorId, std::vector<Rank>> members;
    for (const model::Meeting& meeting : run_.meetings) {
      auto& list = members[meeting.communicator];
      if (!list.empty()) continue;
      for (const Member& member : meeting.members) list.push_back(member.rank);
    }
    going_on_.resize(job_.size());
    for (const auto& [communicator, ranks] : members) collectives_go_on(communicator, ranks);
    pairs_go_on();
    for (size_t r = 0; r < job_.size(); ++r) {
      // The ranks that made them counted their calls alike, so that this is the order of all.
      std::stable_sort(going_on_[r].begin(), going_on_[r].end(),
                       [](const JobCall& a, const JobCall& b) { return a.order < b.order; });
      for (JobCall& call : going_on_[r]) {
        // Sends and recvs of one group stay together, but not with what the rank has called itself.
        const bool grouped = call.shape != Shape::kCollective && call.order < kLater;
        call.order = grouped ? call.order + kLater : UINT64_MAX;
        job_[r].push_back(std::move(call));
      }
    }
  }
  std::vector<JobCall> collectives(Rank rank, model::CommunicatorId communicator) const {
    std::vector<JobCall> out;
    for (const JobCall& call : job_[static_cast<size_t>(rank)]) {
      if (call.shape == Shape::kCollective && call.communicator == communicator)
        out.push_back(call);
    }
    return out;
  }
  void collectives_go_on(model::CommunicatorId communicator, const std::vector<Rank>& ranks) {
    std::vector<JobCall> longest;
    std::map<Rank, size_t> made;
    for (const Rank rank : ranks) {
      if (run_.find(rank) == nullptr) return;
      std::vector<JobCall> mine = collectives(rank, communicator);
      made[rank] = mine.size();
      if (mine.size() > longest.size()) longest = std::move(mine);
    }
    for (const auto& [rank, count] : made) {
      for (size_t k = count; k < longest.size(); ++k) append(rank, longest[k]);
    }
  }
  void append(Rank rank, JobCall call) {
    if (!can_go_on_[static_cast<size_t>(rank)]) return;
    call.place.clear();
    going_on_[static_cast<size_t>(rank)].push_back(std::move(call));
  }
  void pairs_go_on() {
    using Line = std::tuple<model::CommunicatorId, Rank, Rank>;
    std::map<Line, std::vector<JobCall>> sends;
    std::map<Line, std::vector<JobCall>> recvs;
    for (size_t r = 0; r < job_.size(); ++r) {
      const auto rank = static_cast<Rank>(r);
      for (const JobCall& call : job_[r]) {
        if (call.shape == Shape::kSend) sends[{call.communicator, rank, call.peer}].push_back(call);
        if (call.shape == Shape::kRecv) recvs[{call.communicator, call.peer, rank}].push_back(call);
      }
    }
    const auto answer = [&](const std::map<Line, std::vector<JobCall>>& made,
                            std::map<Line, std::vector<JobCall>>& answers, Shape shape) {
      for (const auto& [line, calls] : made) {
        const auto& [communicator, source, target] = line;
        for (size_t k = answers[line].size(); k < calls.size(); ++k) {
          JobCall call = calls[k];
          call.shape = shape;
          call.peer = shape == Shape::kRecv ? source : target;
          call.call.kind = shape == Shape::kRecv ? OpKind::recv : OpKind::send;
          append(shape == Shape::kRecv ? target : source, std::move(call));
        }
      }
    };
    auto sends_before = sends;
    answer(sends, recvs, Shape::kRecv);
    answer(recvs, sends_before, Shape::kSend);
  }

  const Run& run_;
  static constexpr uint64_t kLater = uint64_t{1} << 62;

  std::vector<std::vector<MemberRef>> refs_;
  JobCalls job_;
  std::vector<bool> can_go_on_;
  JobCalls going_on_;  // by rank: calls that it makes once it is no longer prevented
};

}  // namespace

JobCalls job_of(const Run& run) { return JobBuilder(run).record(); }

JobCalls repaired(const Run& run, const std::vector<CallEdit>& edits) {
  return JobBuilder(run).repaired(edits);
}

}  // namespace hostir::traces
