#include "interp/diagnose/calls/job_calls.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/common_past.h"
#include "interp/diagnose/calls/continuation.h"
#include "interp/diagnose/calls/user_frame.h"

namespace hostir::diagnose {

using model::Member;
using model::MemberState;
using model::Rank;
using model::Run;

namespace {

using Shape = JobCall::Shape;

class JobBuilder {
 public:
  JobBuilder(const Run& run, const std::vector<std::vector<MemberRef>>& refs, Passing passing,
             std::vector<size_t> past)
      : run_(run), refs_(refs), past_(std::move(past)) {
    past_.resize(refs_.size(), 0);
    job_.resize(run.ranks.size());
    note_passing_lines(passing);
  }

  JobCalls record() {
    std::vector<MayMake> may_make;
    for (size_t r = 0; r < refs_.size(); ++r) {
      job_[r] = recorded(static_cast<Rank>(r), past_[r]);
      may_make.push_back(is_missing(static_cast<Rank>(r)) ? MayMake::kCompleted : MayMake::kNone);
    }
    let_pass();
    go_on(run_, may_make, job_);
    return std::move(job_);
  }

  JobCalls repaired(const std::vector<CallEdit>& edits) {
    std::vector<std::vector<CallEdit>> by_rank(refs_.size());
    for (const CallEdit& edit : edits) by_rank[static_cast<size_t>(edit.rank)].push_back(edit);
    for (size_t r = 0; r < refs_.size(); ++r) {
      std::vector<JobCall> calls;
      const auto rank = static_cast<Rank>(r);
      for (size_t i = past_[r]; i <= refs_[r].size(); ++i) {
        place_edits(by_rank[r], rank, i, calls);
        if (i == refs_[r].size()) break;
        if (const CallEdit* edit = edit_at(by_rank[r], i)) {
          if (edit->kind == CallEdit::Kind::kChange)
            calls.push_back(changed(rank, refs_[r][i], *edit));
          continue;
        }
        if (lost_elsewhere(refs_[r][i])) continue;
        calls.push_back(call_of(rank, refs_[r][i]));
        calls.back().recorded_at = i;
      }
      job_[r] = std::move(calls);
    }
    let_pass();
    go_on(run_, may_make(edits), job_);
    return std::move(job_);
  }

 private:
  std::vector<JobCall> recorded(Rank rank, size_t from) const {
    const auto& line = refs_[static_cast<size_t>(rank)];
    std::vector<JobCall> out;
    out.reserve(line.size() - from);
    for (size_t i = from; i < line.size(); ++i) {
      if (!lost_elsewhere(line[i])) out.push_back(call_of(rank, line[i]));
    }
    return out;
  }

  // Notes the lines whose calls did not hold up their rank: it completed a later call while this
  // one was unfinished. With kIssued, a send or recv passes if a later call was merely issued.
  void note_passing_lines(Passing passing) {
    for (const auto& line : refs_) {
      uint64_t completed = 0;  // the last one, in the order of calls
      uint64_t issued = 0;
      for (const MemberRef& ref : line) {
        issued = std::max(issued, ref.member->order.value_or(0));
        if (ref.member->state == MemberState::kCompleted)
          completed = std::max(completed, ref.member->order.value_or(0));
      }
      for (const MemberRef& ref : line) {
        const uint64_t last =
            passing == Passing::kIssued && ref.pair != nullptr ? issued : completed;
        if (ref.member->unfinished() && ref.member->order.value_or(0) < last)
          passing_.insert(ref.member->instruction.index);
      }
    }
  }

  // Lets completed calls pass where the simulation would hang in them: the record shows that they
  // did not block. In a large record without sends, only the calls that are run are searched.
  void let_pass() {
    constexpr size_t kMostSearched = 20'000;
    size_t recorded_calls = 0;
    for (const auto& line : refs_) recorded_calls += line.size();
    const bool whole = !run_.pairs.empty() || recorded_calls <= kMostSearched;
    JobCalls all(refs_.size());
    std::vector<MayMake> may_make;
    for (size_t r = 0; r < refs_.size(); ++r) {
      all[r] = recorded(static_cast<Rank>(r), whole ? 0 : past_[r]);
      may_make.push_back(is_missing(static_cast<Rank>(r)) ? MayMake::kCompleted : MayMake::kNone);
    }
    const std::set<std::string> lines = passing_lines(run_, may_make, std::move(all));
    if (lines.empty()) return;
    for (auto& line : job_) {
      for (JobCall& call : line) call.passes = call.passes || lines.contains(call.place);
    }
  }

  // ---- one call

  JobCall call_of(Rank rank, const MemberRef& ref) const {
    JobCall out;
    out.communicator = ref.communicator();
    out.from = ref;
    out.call = ref.member->call;
    out.order = ref.member->order.value_or(0);
    out.completed = ref.member->state == MemberState::kCompleted;
    out.place = place_of(*ref.member);
    out.passes = passing_.contains(ref.member->instruction.index);
    if (ref.pair != nullptr) {
      const bool sends = ref.pair->source == rank;
      out.shape = sends ? Shape::kSend : Shape::kRecv;
      out.peer = sends ? ref.pair->target : ref.pair->source;
      out.call.kind = sends ? OpKind::send : OpKind::recv;
      complete(ref.other_side().call, out.call);
      return out;
    }
    const MeetingFacts& facts = facts_of(*ref.meeting);
    if (!out.call.root) out.call.root = facts.root;
    if (facts.with_size != nullptr) complete(facts.with_size->call, out.call);
    if (out.call.kind == OpKind::all_to_all) choose_blocks(out.call, *ref.meeting, rank);
    return out;
  }
  // If the size of a call is not recorded, it is that of another member.
  static void complete(const model::Call& other, model::Call& call) {
    if (call.total_elems || call.local_elems) return;
    call.total_elems = other.total_elems;
    call.local_elems = other.local_elems;
    if (!call.dtype) call.dtype = other.dtype;
  }
  // The text of a stack is made once for each instruction, not for each call.
  const std::string& place_of(const Member& member) const {
    const auto [at, added] = places_.try_emplace(member.instruction.index);
    const model::Instruction* instruction = added ? run_.find(member.instruction) : nullptr;
    if (instruction != nullptr) at->second = stack_text(*instruction);
    return at->second;
  }
  // If only totals are recorded: blocks that add up to them, so that the skeleton has no mismatch
  // that the job did not have. Totals that do not fit are left alone.
  static void choose_blocks(model::Call& call, const model::Meeting& meeting, Rank rank) {
    const size_t n = meeting.members.size();
    if (call.sends.size() == n && call.receives.size() == n) return;
    std::vector<int64_t> sent;
    std::vector<int64_t> expected;
    size_t mine = n;
    for (const Member& member : meeting.members) {
      if (member.rank == rank) mine = sent.size();
      sent.push_back(elements(member, member.call.inputs));
      expected.push_back(elements(member, member.call.outputs));
    }
    if (mine == n) return;
    // Equal blocks, as in most exchanges.
    const int64_t all = *std::max_element(sent.begin(), sent.end());
    const auto fits = [&](int64_t each) { return each < 0 || each == all; };
    if (all % static_cast<int64_t>(n) == 0 && std::ranges::all_of(sent, fits) &&
        std::ranges::all_of(expected, fits) && all > 0) {
      call.sends.assign(n, all / static_cast<int64_t>(n));
      call.receives = call.sends;
      return;
    }
    complete_totals(sent, expected);
    const auto sum = [](const std::vector<int64_t>& list) {
      return std::accumulate(list.begin(), list.end(), int64_t{0});
    };
    if (sum(sent) != sum(expected)) return;
    call.sends.assign(n, 0);
    call.receives.assign(n, 0);
    for (size_t p = 0, q = 0; p < n && q < n;) {
      const int64_t block = std::min(sent[p], expected[q]);
      if (p == mine) call.sends[q] = block;
      if (q == mine) call.receives[p] = block;
      sent[p] -= block;
      expected[q] -= block;
      sent[p] == 0 ? ++p : ++q;
    }
  }
  // An unknown total (-1) takes up the difference between the known ones.
  static void complete_totals(std::vector<int64_t>& sent, std::vector<int64_t>& expected) {
    const auto known = [](const std::vector<int64_t>& list) {
      return std::accumulate(list.begin(), list.end(), int64_t{0}, [](int64_t sum, int64_t each) {
        return sum + std::max(each, int64_t{0});
      });
    };
    int64_t lacking = known(sent) - known(expected);  // of what is expected
    for (std::vector<int64_t>* list : {&expected, &sent}) {
      for (int64_t& each : *list) {
        if (each >= 0) continue;
        each = std::max(lacking, int64_t{0});
        lacking -= each;
      }
      lacking = -lacking;
    }
  }
  static int64_t elements(const Member& member, const std::vector<Extents>& shapes) {
    if (!member.arrived() || member.call.kind != OpKind::all_to_all || shapes.empty()) return -1;
    int64_t all = 0;
    for (const Extents& shape : shapes) {
      const auto n = element_count(shape);
      if (!n || *n < 0 || *n > INT32_MAX || all > INT32_MAX) return -1;
      all += *n;
    }
    return all;
  }

  // An added or changed call is issued alone.
  JobCall changed(Rank rank, const MemberRef& wrong, const CallEdit& edit) const {
    JobCall out = copied(rank, edit.pattern);
    out.order = wrong.member->order.value_or(0);
    out.place = place_of(*wrong.member);
    return out;
  }
  // Another rank's call as `rank` would make it: in an exchange, each rank has its own blocks.
  JobCall copied(Rank rank, const MemberRef& pattern) const {
    JobCall out = call_of(rank, pattern);
    if (pattern.meeting != nullptr && out.call.kind == OpKind::all_to_all)
      fit_blocks(out.call, *pattern.meeting, rank);
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

  // ---- facts about a meeting that all its members share

  struct MeetingFacts {
    std::optional<int32_t> root;        // it may be that only the root records it
    const Member* with_size = nullptr;  // one whose size is recorded
    bool lost = false;                  // some member's ring buffer has lost its call
  };
  // Computed once per meeting, not once per member.
  const MeetingFacts& facts_of(const model::Meeting& meeting) const {
    const auto [at, added] = facts_.try_emplace(&meeting);
    if (!added) return at->second;
    for (const Member& member : meeting.members) {
      MeetingFacts& facts = at->second;
      if (!facts.root && member.arrived()) facts.root = member.call.root;
      if (facts.with_size == nullptr && member.arrived() &&
          (member.call.total_elems || member.call.local_elems))
        facts.with_size = &member;
      if (member.state == MemberState::kUnknown && !is_missing(member.rank)) facts.lost = true;
    }
    return at->second;
  }

  // ---- lost calls

  // A call that some member's ring buffer has lost would hang the others.
  bool lost_elsewhere(const MemberRef& ref) const {
    if (ref.pair != nullptr) {
      const Member& other = ref.other_side();
      return other.state == MemberState::kUnknown && !is_missing(other.rank);
    }
    return facts_of(*ref.meeting).lost;
  }
  bool is_missing(Rank rank) const {
    const model::RankFacts* facts = run_.find(rank);
    return facts == nullptr || facts->record == model::RecordState::kMissing;
  }

  // ---- edits

  // `edits` are those of the rank.
  static const CallEdit* edit_at(const std::vector<CallEdit>& edits, size_t at) {
    const auto found = std::find_if(edits.begin(), edits.end(), [&](const CallEdit& edit) {
      return edit.at == at && edit.kind != CallEdit::Kind::kAdd;
    });
    return found == edits.end() ? nullptr : &*found;
  }
  void place_edits(const std::vector<CallEdit>& edits, Rank rank, size_t at,
                   std::vector<JobCall>& calls) const {
    for (const CallEdit& edit : edits) {
      // After its last call, a rank makes the calls that the others wait for.
      const bool goes_on = at == refs_[static_cast<size_t>(rank)].size();
      if (edit.kind == CallEdit::Kind::kAdd && edit.at == at && !goes_on) {
        calls.push_back(copied(rank, edit.pattern));
        calls.back().order = UINT64_MAX;
        if (edit.communicator.valid()) calls.back().communicator = edit.communicator;
      }
      if (edit.kind == CallEdit::Kind::kMove && edit.to == at) {
        calls.push_back(call_of(rank, refs_[static_cast<size_t>(rank)][edit.at]));
        calls.back().order = UINT64_MAX;
      }
    }
  }

  // A rank that was not blocked, and that the repair does not change, has made all its calls.
  std::vector<MayMake> may_make(const std::vector<CallEdit>& edits) const {
    std::vector<MayMake> out;
    for (size_t r = 0; r < refs_.size(); ++r) {
      const bool waits = std::any_of(refs_[r].begin(), refs_[r].end(),
                                     [](const MemberRef& ref) { return ref.member->unfinished(); });
      out.push_back(waits || is_missing(static_cast<Rank>(r)) ? MayMake::kAny : MayMake::kNone);
    }
    for (const CallEdit& edit : edits) out[static_cast<size_t>(edit.rank)] = MayMake::kAny;
    return out;
  }

  const Run& run_;
  const std::vector<std::vector<MemberRef>>& refs_;
  std::vector<size_t> past_;  // by rank: its first calls, which are left out
  mutable std::unordered_map<const model::Meeting*, MeetingFacts> facts_;
  mutable std::unordered_map<uint32_t, std::string> places_;  // by instruction
  std::unordered_set<uint32_t> passing_;                      // instructions
  JobCalls job_;
};

}  // namespace

JobCalls job_of(const Run& run, Passing passing, const std::vector<size_t>& past) {
  return JobBuilder(run, calls_by_rank(run), passing, past).record();
}

JobCalls repaired(const Run& run, const std::vector<CallEdit>& edits, Passing passing,
                  const std::vector<size_t>& past) {
  return JobBuilder(run, calls_by_rank(run), passing, past).repaired(edits);
}

std::optional<Passing> completes_with(const Run& run, const std::vector<CallEdit>& edits) {
  const std::vector<std::vector<MemberRef>> calls = calls_by_rank(run);
  const std::vector<size_t> past = common_past(run, calls, edits);
  const auto completes_if = [&](Passing passing) {
    return completes(run, JobBuilder(run, calls, passing, past).repaired(edits));
  };
  if (completes_if(Passing::kShown)) return Passing::kShown;
  if (run.pairs.empty() || !completes_if(Passing::kIssued)) return std::nullopt;
  return Passing::kIssued;
}

}  // namespace hostir::diagnose
