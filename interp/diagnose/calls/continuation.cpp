#include "interp/diagnose/calls/continuation.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>

#include "hostir/support/lists.h"
#include "interp/diagnose/calls/call_order.h"

namespace hostir::diagnose {

namespace {

using model::CommunicatorId;
using model::Rank;
using Shape = JobCall::Shape;

/// Greater than all recorded places in the order of calls.
constexpr uint64_t kLater = uint64_t{1} << 62;

class Continuation {
 public:
  Continuation(const model::Run& run, const std::vector<MayMake>& may_make, JobCalls& job)
      : run_(run),
        may_make_(may_make),
        job_(job),
        at_(job.size(), 0),
        parts_(job.size()),
        passed_(job.size()),
        is_awake_(job.size(), false),
        first_absent_(run.communicators.size(), 0) {}

  void go() {
    for (size_t r = 0; r < job_.size(); ++r) open_launch(r);
    do {
      for (; !awake_.empty(); awake_.pop_front()) {
        is_awake_[awake_.front()] = false;
        advance(awake_.front());
      }
    } while (add_awaited());
  }
  // The lines of recorded calls that block in this simulation although the record has them
  // completed. Copies of them, which ranks without a record make, have no line.
  std::set<std::string> blocked_lines() const {
    std::set<std::string> out;
    for (size_t r = 0; r < job_.size(); ++r) {
      for (const Part& part : parts_[r]) {
        const JobCall& call = job_[r][part.call];
        if (!part.done && !call.passes && call.completed && !is_continuation(call))
          out.insert(call.place);
      }
    }
    return out;
  }
  // By rank and place among its calls.
  std::vector<std::vector<bool>> finished() const {
    std::vector<std::vector<bool>> out;
    for (size_t r = 0; r < job_.size(); ++r) {
      std::vector<bool>& line = out.emplace_back(job_[r].size(), false);
      std::fill(line.begin(), line.begin() + static_cast<ptrdiff_t>(at_[r]), true);
      for (const Part& part : passed_[r]) line[part.call] = part.done;
      for (const Part& part : parts_[r]) line[part.call] = part.done;
    }
    return out;
  }
  bool is_over() const {
    const auto none = [](const std::vector<Part>& parts) { return parts.empty(); };
    return std::all_of(parts_.begin(), parts_.end(), none) &&
           std::all_of(passed_.begin(), passed_.end(), none);
  }

 private:
  /// A call of the launch that a rank is in.
  struct Part {
    size_t call = 0;
    bool done = false;
  };

  // A rank is looked at again when it opens a launch and when another rank completes a call of it:
  // nothing else lets its calls complete, because the last to come completes a call for all.
  void wake(size_t r) {
    if (is_awake_[r]) return;
    is_awake_[r] = true;
    awake_.push_back(r);
  }

  // Calls with one place in the order are issued together, and complete independently.
  void open_launch(size_t r) {
    wake(r);
    const auto& calls = job_[r];
    auto& parts = parts_[r];
    parts.clear();
    for (size_t i = at_[r]; i < calls.size(); ++i) {
      if (!parts.empty() && (calls[i].order != calls[at_[r]].order || calls[i].order == UINT64_MAX))
        break;
      parts.push_back({i, false});
    }
  }

  void advance(size_t r) {
    complete_passed(r);
    while (!parts_[r].empty()) {
      bool all_done = true;
      for (Part& part : parts_[r]) {
        if (!part.done) complete(r, part);
        all_done = all_done && (part.done || job_[r][part.call].passes);
      }
      if (!all_done) return;
      std::copy_if(parts_[r].begin(), parts_[r].end(), std::back_inserter(passed_[r]),
                   [](const Part& part) { return !part.done; });
      at_[r] += parts_[r].size();
      open_launch(r);
    }
  }

  // Calls that the host has gone past.
  void complete_passed(size_t r) {
    for (Part& part : passed_[r]) {
      if (!part.done) complete(r, part);
    }
    passed_[r].erase(std::remove_if(passed_[r].begin(), passed_[r].end(),
                                    [](const Part& part) { return part.done; }),
                     passed_[r].end());
  }

  // The collectives of a communicator, and the sends and recvs between two ranks, execute in the
  // order of their launches. A collective has no peer.
  bool is_head(size_t r, const Part& part) const {
    const JobCall& call = job_[r][part.call];
    return std::none_of(passed_[r].begin(), passed_[r].end(), [&](const Part& before) {
      const JobCall& other = job_[r][before.call];
      return !before.done && before.call < part.call && other.order != call.order &&
             other.communicator == call.communicator && other.peer == call.peer;
    });
  }

  void complete(size_t r, Part& part) {
    const JobCall& call = job_[r][part.call];
    if (!is_head(r, part)) return;
    if (call.shape != Shape::kCollective) {
      Part* other = part_of(call.peer, call.communicator, opposite(call.shape), rank_of(r));
      if (other == nullptr || !is_head(index(call.peer), *other) ||
          !model::agree(sized(call), sized(job_[index(call.peer)][other->call])))
        return;
      other->done = part.done = true;
      wake(index(call.peer));
      return;
    }
    if (!all_make(call)) return;
    part.done = true;
    for (const Rank member : members_of(call.communicator)) {
      if (rank_of(r) == member) continue;
      part_of(member, call.communicator, Shape::kCollective)->done = true;
      wake(index(member));
    }
  }

  // Starts at the member that was missing at the last look. Starting at the first member would
  // check all present members again whenever one more arrives.
  bool all_make(const JobCall& call) {
    const std::vector<Rank>& members = members_of(call.communicator);
    if (members.empty()) return true;
    size_t& at = first_absent_[call.communicator.index];
    for (size_t looked = 0; looked < members.size(); ++looked, at = (at + 1) % members.size()) {
      const Part* other = part_of(members[at], call.communicator, Shape::kCollective);
      if (other == nullptr || !same_call(call.call, job_[index(members[at])][other->call].call))
        return false;
    }
    return true;
  }

  // The fields in which a send and its recv must agree.
  static model::Call sized(const JobCall& call) {
    model::Call out;
    out.dtype = call.call.dtype;
    out.total_elems = call.call.total_elems;
    return out;
  }

  // The unfinished part of the rank's launch that is the other side of such a send or recv.
  Part* part_of(Rank rank, CommunicatorId communicator, Shape shape, Rank peer = model::kNoRank) {
    if (!is_here(rank)) return nullptr;
    for (std::vector<Part>* parts : {&passed_[index(rank)], &parts_[index(rank)]}) {
      for (Part& part : *parts) {
        const JobCall& call = job_[index(rank)][part.call];
        const bool same = call.communicator == communicator && call.shape == shape;
        if (!part.done && same && (shape == Shape::kCollective || call.peer == peer)) return &part;
      }
    }
    return nullptr;
  }

  // ---- calls in which others wait

  bool add_awaited() {
    std::map<Rank, std::vector<JobCall>> awaited;  // sends and recvs that a rank makes together
    const auto answer = [&](size_t r, const Part& part) {
      const JobCall& call = job_[r][part.call];
      if (part.done || call.shape == Shape::kCollective || !may_make(call.peer, call)) return;
      // An added call that did not complete needs no further added call.
      if (is_continuation(call)) return;
      if (!is_head(r, part)) return;
      JobCall made = call;
      made.shape = opposite(call.shape);
      made.call.kind = made.shape == Shape::kSend ? OpKind::send : OpKind::recv;
      made.peer = rank_of(r);
      awaited[call.peer].push_back(std::move(made));
    };
    for (size_t r = 0; r < job_.size(); ++r) {
      for (const Part& part : passed_[r]) answer(r, part);
      for (const Part& part : parts_[r]) answer(r, part);
    }
    for (auto& [rank, calls] : awaited) append(rank, std::move(calls));
    if (!awaited.empty()) return true;
    std::set<std::pair<CommunicatorId, bool>> refused;
    for (size_t r = 0; r < job_.size(); ++r) {
      for (const std::vector<Part>* parts : {&passed_[r], &parts_[r]}) {
        for (const Part& part : *parts) {
          if (part.done || !is_head(r, part)) continue;
          if (add_collective(rank_of(r), job_[r][part.call], refused)) return true;
        }
      }
    }
    return false;
  }

  // Only if the call then completes, that is, if every member is in it or may make it. A damaged
  // file may have calls of ranks that are not members. `refused`: those that did not, by their
  // communicator and whether they completed in the record: other members ask for the same.
  bool add_collective(Rank caller, const JobCall& call,
                      std::set<std::pair<CommunicatorId, bool>>& refused) {
    const std::pair asked(call.communicator, call.completed);
    if (call.shape != Shape::kCollective || refused.contains(asked)) return false;
    const std::vector<Rank>& members = members_of(call.communicator);
    if (!contains(members, caller)) return false;
    std::vector<Rank> absent;
    for (const Rank member : members) {
      if (part_of(member, call.communicator, Shape::kCollective) != nullptr) continue;
      if (!may_make(member, call)) {
        refused.insert(asked);
        return false;
      }
      absent.push_back(member);
    }
    const JobCall pattern = call;
    for (const Rank rank : absent) {
      JobCall made = pattern;
      fit_blocks(made, rank);
      append(rank, {std::move(made)});
    }
    if (absent.empty()) refused.insert(asked);
    return !absent.empty();
  }

  // In an all_to_all, a rank sends what the others expect from it, and expects what they send.
  void fit_blocks(JobCall& made, Rank rank) {
    const std::vector<Rank>& members = members_of(made.communicator);
    const auto mine =
        static_cast<size_t>(std::find(members.begin(), members.end(), rank) - members.begin());
    if (made.call.sends.size() != members.size() || made.call.receives.size() != members.size())
      return;
    for (size_t q = 0; q < members.size(); ++q) {
      const Part* part = part_of(members[q], made.communicator, Shape::kCollective);
      if (q == mine || part == nullptr) continue;
      const model::Call& other = job_[index(members[q])][part->call].call;
      if (mine < other.receives.size()) made.call.sends[q] = other.receives[mine];
      if (mine < other.sends.size()) made.call.receives[q] = other.sends[mine];
    }
    made.call.sends[mine] = made.call.receives[mine];
  }

  bool may_make(Rank rank, const JobCall& call) const {
    if (!is_here(rank) || !parts_[index(rank)].empty()) return false;
    const MayMake may = may_make_[index(rank)];
    return may == MayMake::kAny || (may == MayMake::kCompleted && call.completed);
  }

  void append(Rank rank, std::vector<JobCall> calls) {
    const uint64_t order = kLater + added_++;
    for (JobCall& call : calls) {
      call.place.clear();
      call.order = order;
      call.passes = false;
      call.recorded_at = SIZE_MAX;
      job_[index(rank)].push_back(std::move(call));
    }
    open_launch(index(rank));
  }

  static Shape opposite(Shape shape) { return shape == Shape::kSend ? Shape::kRecv : Shape::kSend; }
  static Rank rank_of(size_t r) { return static_cast<Rank>(r); }
  static size_t index(Rank rank) { return static_cast<size_t>(rank); }
  bool is_here(Rank rank) const { return rank >= 0 && index(rank) < job_.size(); }
  const std::vector<Rank>& members_of(CommunicatorId communicator) const {
    static const std::vector<Rank> kNone;
    const model::Communicator* facts = run_.find(communicator);
    return facts != nullptr && facts->members ? *facts->members : kNone;
  }

  const model::Run& run_;
  const std::vector<MayMake>& may_make_;
  JobCalls& job_;
  std::vector<size_t> at_;                 // by rank: the first call of its launch
  std::vector<std::vector<Part>> parts_;   // by rank: its launch; empty: it has made all its calls
  std::vector<std::vector<Part>> passed_;  // by rank: unfinished calls that do not block its host
  std::deque<size_t> awake_;               // ranks to look at
  std::vector<bool> is_awake_;             // by rank: in that list
  std::vector<size_t> first_absent_;       // by communicator: a place among its members
  uint64_t added_ = 0;
};

}  // namespace

void go_on(const model::Run& run, const std::vector<MayMake>& may_make, JobCalls& job) {
  Continuation(run, may_make, job).go();
}

bool is_continuation(const JobCall& call) {
  return call.order >= kLater && call.order != UINT64_MAX;
}

std::set<std::string> passing_lines(const model::Run& run, const std::vector<MayMake>& may_make,
                                    JobCalls job) {
  std::set<std::string> out;
  while (true) {
    JobCalls tried = job;  // grows, because ranks without a record add calls
    Continuation continuation(run, may_make, tried);
    continuation.go();
    const std::set<std::string> more = continuation.blocked_lines();
    if (more.empty()) return out;
    out.insert(more.begin(), more.end());
    for (auto& line : job) {
      for (JobCall& call : line) call.passes = call.passes || more.contains(call.place);
    }
  }
}

bool completes(const model::Run& run, JobCalls job) {
  const std::vector<MayMake> none(job.size(), MayMake::kNone);
  Continuation continuation(run, none, job);
  continuation.go();
  return continuation.is_over();
}

std::vector<std::vector<bool>> finished_calls(const model::Run& run, JobCalls job) {
  const std::vector<MayMake> none(job.size(), MayMake::kNone);
  Continuation continuation(run, none, job);
  continuation.go();
  return continuation.finished();
}

}  // namespace hostir::diagnose
