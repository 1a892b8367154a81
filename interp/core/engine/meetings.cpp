#include "interp/core/engine/meetings.h"

#include <fmt/core.h>

#include <algorithm>

#include "interp/core/claims/partial_claims.h"

namespace hostir::interp {

bool arrivals_agree(const Arrival& a, const Arrival& b) {
  if (a.fingerprint == b.fingerprint) return true;
  const auto both = [](int64_t x, int64_t y) { return x < 0 || y < 0 || x == y; };
  // Members that do not state a total (gather's senders) may differ only in that.
  return a.kind == b.kind && a.dtype == b.dtype && a.reduction == b.reduction && a.root == b.root &&
         (a.total_elems < 0 || b.total_elems < 0 || a.row_elems < 0 || b.row_elems < 0) &&
         both(a.total_elems, b.total_elems) && both(a.row_elems, b.row_elems);
}

namespace {

void take_place(Arrival& slot, Step& step, const TaskRecord& task, const ResolvedCall& item) {
  slot = item.arrival;
  slot.arrived = true;
  slot.code = item.item.code;
  slot.loop_path = task.loop_path;
  slot.task = step.task;
  slot.stream = task.stream;
  slot.stream_sequence = task.sequence;
  slot.arrived_ns = task.issued_ns;
}

// Once there is a mismatch: counts the members that agree with a new arrival.
void count_agreeing(GroupLedger& group, uint64_t sequence, Arrival& own) {
  for (uint32_t p = 0; p < group.members(); ++p) {
    Arrival& other = group.arrival(sequence, p);
    if (!other.arrived || !arrivals_agree(own, other)) continue;
    ++own.agreeing;
    if (&other != &own) ++other.agreeing;
  }
}

// For the first mismatch, or after arrivals that other processes reported. Agreement is not
// transitive, because a member may not state a total, so every pair is compared.
void count_all_agreeing(GroupLedger& group, uint64_t sequence) {
  for (uint32_t p = 0; p < group.members(); ++p) {
    Arrival& one = group.arrival(sequence, p);
    one.agreeing = 0;
    for (uint32_t q = 0; q < group.members() && one.arrived; ++q) {
      const Arrival& other = group.arrival(sequence, q);
      if (other.arrived && arrivals_agree(one, other)) ++one.agreeing;
    }
  }
}

bool has_majority(GroupLedger& group, uint64_t sequence) {
  for (uint32_t p = 0; p < group.members(); ++p) {
    if (2 * group.arrival(sequence, p).agreeing > group.members()) return true;
  }
  return false;
}

// True if every block that one member sends is what the receiver expects.
bool exchanges_fit(const GroupLedger& group, uint64_t sequence) {
  for (uint32_t p = 0; p < group.members(); ++p) {
    for (uint32_t q = 0; q < group.members(); ++q) {
      if (group.arrival(sequence, p).sends[q] != group.arrival(sequence, q).receives[p])
        return false;
    }
  }
  return true;
}

// scatter, gather: true if the root expects the size of every member's block. If not, fills in who
// sends how much to whom, for the verdict.
bool blocks_fit(GroupLedger& group, uint64_t sequence, const Arrival& any) {
  if (any.root < 0) return true;
  Arrival& root = group.arrival(sequence, static_cast<uint32_t>(any.root));
  const MemberCounts blocks = root.blocks;
  const bool root_sends =
      communication_facts(any.kind)->root == CommunicationFacts::RootHas::kInput;
  bool fit = true;
  for (uint32_t p = 0; p < group.members() && p < blocks.size(); ++p) {
    Arrival& member = group.arrival(sequence, p);
    if (&member == &root || member.local_elems < 0 || member.local_elems == blocks[p]) continue;
    fit = false;
    (root_sends ? root.sends : root.receives) = blocks.list();
    std::vector<int64_t>& own = root_sends ? member.receives : member.sends;
    own.assign(static_cast<size_t>(any.root) + 1, 0);
    own.back() = member.local_elems;
  }
  return fit;
}

}  // namespace

void Meetings::check_received(const Pair& pair) {
  auto sentence = received_addends(*run_.code, pair.send.code, pair.recv.code);
  if (!sentence) return;
  const auto is_known = [&](const Fault& fault) { return fault.record.sentence == *sentence; };
  const std::vector<Fault>& faults = run_.state.faults;
  if (std::any_of(faults.begin(), faults.end(), is_known)) return;
  Fault fault;
  fault.fatal = false;
  fault.record.kind = "partial_claim";
  fault.record.sentence = std::move(*sentence);
  fault.record.ranks = {pair.target, pair.source};
  for (const auto& [rank, code] :
       {std::pair(pair.target, pair.recv.code), std::pair(pair.source, pair.send.code)}) {
    fault.record.instructions.push_back(run_.code->address(code));
    fault.record.notes.push_back(fmt::format("rank {}: {}", rank, faults_.name_of(code)));
    fault.spans.push_back(run_.code->source(code).span);
  }
  faults_.add(std::move(fault));
}

bool Meetings::arrive(Step& step, TaskRecord& task, ResolvedCall& item) {
  const Communicator& comm = run_.code->communicators[item.item.comm];
  const int32_t group_index = comm.group_of_rank[static_cast<size_t>(step.rank)];
  GroupLedger& group = run_.state.ledger.group(item.item.comm, group_index);
  const uint64_t sequence = item.item.sequence;
  const auto position = run_.runs_for_all() ? 0 : static_cast<uint32_t>(item.item.position);
  group.reach(sequence);
  Arrival& own = group.arrival(sequence, position);
  take_place(own, step, task, item);
  MeetingHead& head = group.head(sequence);
  if (++head.arrived == 1) {
    head.fingerprint = own.fingerprint;
  } else if (own.fingerprint != head.fingerprint && !head.mismatch) {
    for (uint32_t p = 0; p < group.members(); ++p) {
      const Arrival& other = group.arrival(sequence, p);
      if (other.arrived && !arrivals_agree(own, other)) head.mismatch = true;
    }
  }
  const bool all = !run_.runs_for_all() && head.arrived == group.members();
  if (head.mismatch) {
    if (head.counted > 0 && head.counted + 1 == head.arrived) {
      count_agreeing(group, sequence, own);
    } else {
      count_all_agreeing(group, sequence);
    }
    head.counted = head.arrived;
    if (all || has_majority(group, sequence)) return report_verdict();
  }
  const bool fits =
      !all || head.mismatch ||
      (own.sends.empty() ? blocks_fit(group, sequence, own) : exchanges_fit(group, sequence));
  if (!fits) {
    head.mismatch = true;
    return report_verdict();
  }
  if (all && !run_.state.possible_races.empty()) races_.revisit_suspicions(false);
  return !run_.state.failed;
}

bool Meetings::arrive_pair(Step& step, TaskRecord& task, ResolvedCall& item) {
  const Rank other = item.item.other();
  const bool sends = item.item.sends();
  const Rank source = sends ? step.rank : other;
  const Rank target = sends ? other : step.rank;
  Pair& pair = run_.state.ledger.pair(item.item.comm, source, target, item.item.sequence);
  take_place(sends ? pair.send : pair.recv, step, task, item);
  if (!pair.send.arrived || !pair.recv.arrived) return true;
  if (pair.is_mismatch()) return report_verdict();
  if (run_.checks_all()) check_received(pair);
  if (!run_.state.possible_races.empty()) races_.revisit_suspicions(false);
  return !run_.state.failed;
}

void Meetings::mark_finished(const TaskRecord& task, TaskId id, Rank rank) {
  const auto finish = [&](Arrival& arrival) {
    arrival.finished = true;
    arrival.started_ns = task.started_ns;
    arrival.finished_ns = task.finished_ns;
  };
  const auto finish_pairs = [&] {
    for (Pair& pair : run_.state.ledger.pairs) {
      if (pair.send.task == id) finish(pair.send);
      if (pair.recv.task == id) finish(pair.recv);
    }
  };
  if (task.link == TaskRecord::Link::kMeeting) {
    const Communicator& comm = run_.code->communicators[task.comm];
    const auto r = static_cast<size_t>(rank);
    GroupLedger& group = run_.state.ledger.group(task.comm, comm.group_of_rank[r]);
    if (!group.has(task.comm_sequence)) return;
    const auto position = run_.runs_for_all() ? 0 : static_cast<uint32_t>(comm.position_of_rank[r]);
    finish(group.arrival(task.comm_sequence, position));
    ++group.head(task.comm_sequence).finished;
    return;
  }
  finish_pairs();
  if (task.link != TaskRecord::Link::kGroup) return;
  for (GroupLedger& group : run_.state.ledger.groups) {
    for (uint64_t s = group.first(); s < group.end(); ++s) {
      for (uint32_t p = 0; p < group.members(); ++p) {
        if (group.arrival(s, p).task != id || group.arrival(s, p).finished) continue;
        finish(group.arrival(s, p));
        ++group.head(s).finished;
      }
    }
  }
}

}  // namespace hostir::interp
