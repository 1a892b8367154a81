#include "interp/model/builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace hostir::model {

namespace {

std::string key_of(const Instruction& instruction) {
  std::string key = instruction.address + '\n' + instruction.mnemonic + '\n' + instruction.text;
  const auto add = [&](const SourcePlace& place) {
    key += '\n' + place.file + ':' + (place.line ? std::to_string(*place.line) : "?");
  };
  if (instruction.place) add(*instruction.place);
  for (const StackFrame& frame : instruction.frames) {
    key += '\n' + frame.function;
    add(frame.place);
  }
  return key;
}

std::string key_of(const Communicator& communicator) {
  std::string key = communicator.name + '\n' + communicator.description + '\n';
  if (communicator.group) key += std::to_string(*communicator.group);
  if (!communicator.members || communicator.members->empty()) return key;
  // Short, because every rank of a large group asks for it. communicator() compares the rest.
  const std::vector<Rank>& members = *communicator.members;
  return key + ',' + std::to_string(members.size()) + ',' + std::to_string(members.front()) + ',' +
         std::to_string(members.back());
}

template <class T, class List>
uint32_t find_or_add(List& list, const T& value, bool (*same)(const T&, const T&)) {
  for (uint32_t i = 0; i < list.size(); ++i) {
    if (same(list[i], value)) return i;
  }
  list.push_back(value);
  return static_cast<uint32_t>(list.size() - 1);
}

/// The state of a meeting's member without a row.
MemberState state_of_absent(const Run& run, Rank rank, CommunicatorId communicator,
                            std::optional<uint64_t> sequence) {
  const RankFacts* facts = run.find(rank);
  if (facts == nullptr || facts->record != RecordState::kWhole) return MemberState::kUnknown;
  const CallRange* range = run.range(rank, communicator);
  if (sequence && range != nullptr && range->first && *sequence < *range->first)
    return MemberState::kUnknown;
  return MemberState::kNotArrived;
}

}  // namespace

RankFacts& RunBuilder::rank(Rank rank) {
  expect_ranks(rank + 1);
  const auto at = static_cast<size_t>(rank);
  if (!told_[at]) {
    told_[at] = true;
    run_.ranks[at].record = RecordState::kWhole;
  }
  return run_.ranks[at];
}

void RunBuilder::expect_ranks(Rank count) {
  const auto wanted = static_cast<size_t>(std::max<Rank>(count, 0));
  if (run_.ranks.size() >= wanted) return;
  run_.ranks.resize(wanted);
  told_.resize(wanted, false);
}

ClockId RunBuilder::clock(const Clock& clock) {
  return ClockId(find_or_add<Clock>(run_.clocks, clock, [](const Clock& a, const Clock& b) {
    return a.kind == b.kind && a.owner == b.owner;
  }));
}

StreamId RunBuilder::stream(const Stream& stream) {
  return StreamId(find_or_add<Stream>(run_.streams, stream, [](const Stream& a, const Stream& b) {
    return a.name == b.name && a.rank == b.rank;
  }));
}

InstructionId RunBuilder::instruction(Instruction instruction) {
  std::vector<uint32_t>& known = instruction_of_[key_of(instruction)];
  for (const uint32_t i : known) {
    if (run_.instructions[i] == instruction) return InstructionId(i);
  }
  known.push_back(static_cast<uint32_t>(run_.instructions.size()));
  run_.instructions.push_back(std::move(instruction));
  return InstructionId(known.back());
}

CommunicatorId RunBuilder::communicator(const Communicator& communicator) {
  std::vector<uint32_t>& known = communicator_of_[key_of(communicator)];
  for (const uint32_t i : known) {
    const Communicator& other = run_.communicators[i];
    if (other.group == communicator.group && other.members == communicator.members &&
        other.content_key == communicator.content_key)
      return CommunicatorId(i);
  }
  known.push_back(static_cast<uint32_t>(run_.communicators.size()));
  run_.communicators.push_back(communicator);
  return CommunicatorId(known.back());
}

Task& RunBuilder::task(TaskId id) {
  const auto [at, added] = task_of_.try_emplace(id, run_.tasks.size());
  if (added) run_.tasks.emplace_back().id = id;
  return run_.tasks[at->second];
}

Member& RunBuilder::arrive(CommunicatorId communicator, uint64_t sequence, Rank rank) {
  expect_ranks(rank + 1);
  const auto [at, added] = meeting_of_.try_emplace({communicator, sequence}, run_.meetings.size());
  if (added) {
    run_.meetings.push_back({communicator, sequence, {}});
    const Communicator* facts = run_.find(communicator);
    if (facts != nullptr && facts->members)
      run_.meetings.back().members.reserve(facts->members->size());
  }
  CallRange& range = range_of_[{rank, communicator}];
  if (!range.last || *range.last < sequence) range.last = sequence;
  std::vector<Member>& members = run_.meetings[at->second].members;
  // Sorted by rank; finish() reorders them to the communicator's order.
  const auto place = std::lower_bound(members.begin(), members.end(), rank,
                                      [](const Member& m, Rank r) { return m.rank < r; });
  if (place != members.end() && place->rank == rank) return *place;
  Member& member = *members.emplace(place);
  member.rank = rank;
  member.state = MemberState::kScheduled;
  return member;
}

SendRecv& RunBuilder::pair(CommunicatorId communicator, Rank source, Rank target,
                           uint64_t ordinal) {
  expect_ranks(std::max(source, target) + 1);
  const auto [at, added] =
      pair_of_.try_emplace({communicator, source, target, ordinal}, run_.pairs.size());
  if (added) {
    SendRecv& made = run_.pairs.emplace_back();
    made.communicator = communicator;
    made.source = made.send.rank = source;
    made.target = made.recv.rank = target;
    made.ordinal = ordinal;
  }
  return run_.pairs[at->second];
}

Member& RunBuilder::send(CommunicatorId communicator, Rank source, Rank target, uint64_t ordinal) {
  Member& side = pair(communicator, source, target, ordinal).send;
  if (!side.arrived()) side.state = MemberState::kScheduled;
  return side;
}

Member& RunBuilder::recv(CommunicatorId communicator, Rank source, Rank target, uint64_t ordinal) {
  Member& side = pair(communicator, source, target, ordinal).recv;
  if (!side.arrived()) side.state = MemberState::kScheduled;
  return side;
}

void RunBuilder::lost_before(Rank rank, CommunicatorId communicator, uint64_t first) {
  range_of_[{rank, communicator}].first = first;
}

void RunBuilder::lost_counterpart(CommunicatorId communicator, Rank source, Rank target,
                                  uint64_t ordinal) {
  one_sided_.insert({communicator, source, target, ordinal});
}

void RunBuilder::contradiction(Rank rank, CommunicatorId communicator,
                               std::optional<uint64_t> sequence, std::string text) {
  run_.gaps.push_back({Gap::Kind::kContradiction, rank, communicator, sequence, std::move(text)});
}

// Puts the members in the communicator's order, if it is known, and adds those without a row. Ranks
// that are not in the list come last, with a gap.
void RunBuilder::order_members(Meeting& meeting) {
  std::vector<Member>& came = meeting.members;
  const Communicator* communicator = run_.find(meeting.communicator);
  if (communicator == nullptr || !communicator->members) return;
  std::vector<Member> ordered;
  ordered.reserve(communicator->members->size());
  for (const Rank rank : *communicator->members) {
    const auto at = std::lower_bound(came.begin(), came.end(), rank,
                                     [](const Member& m, Rank r) { return m.rank < r; });
    if (at != came.end() && at->rank == rank) {
      ordered.push_back(std::move(*at));
      at->rank = kNoRank;
    } else {
      Member& absent = ordered.emplace_back();
      absent.rank = rank;
      absent.state = state_of_absent(run_, rank, meeting.communicator, meeting.sequence);
    }
  }
  for (Member& left : came) {
    if (left.rank == kNoRank) continue;
    contradiction(
        left.rank, meeting.communicator, meeting.sequence,
        fmt::format(
            "rank {} calls a collective of {}, but is not one of its members", left.rank,
            communicator->description.empty() ? communicator->name : communicator->description));
    ordered.push_back(std::move(left));
  }
  came = std::move(ordered);
}

void RunBuilder::complete_members() {
  for (Meeting& meeting : run_.meetings) order_members(meeting);
  for (SendRecv& pair : run_.pairs) {
    if (one_sided_.contains({pair.communicator, pair.source, pair.target, pair.ordinal})) continue;
    for (Member* side : {&pair.send, &pair.recv}) {
      if (side->state != MemberState::kUnknown) continue;
      side->state = state_of_absent(run_, side->rank, pair.communicator, std::nullopt);
    }
  }
}

void RunBuilder::add_missing_ranks() {
  for (const Communicator& communicator : run_.communicators) {
    if (!communicator.members || communicator.members->empty()) continue;
    expect_ranks(*std::max_element(communicator.members->begin(), communicator.members->end()) + 1);
  }
  std::vector<bool> said(run_.ranks.size(), false);
  for (const Gap& gap : run_.gaps) {
    if (gap.kind == Gap::Kind::kRankMissing && gap.rank && run_.find(*gap.rank) != nullptr)
      said[static_cast<size_t>(*gap.rank)] = true;
  }
  for (size_t r = 0; r < run_.ranks.size(); ++r) {
    RankFacts& facts = run_.ranks[r];
    if (!told_[r]) facts.record = RecordState::kMissing;
    if (facts.record != RecordState::kMissing || said[r]) continue;
    run_.gaps.push_back({Gap::Kind::kRankMissing,
                         static_cast<Rank>(r),
                         {},
                         {},
                         fmt::format("rank {}: there is no record", r)});
  }
}

void RunBuilder::add_late_beginnings() {
  std::set<std::pair<Rank, CommunicatorId>> said;
  for (const Gap& gap : run_.gaps) {
    if (gap.kind == Gap::Kind::kBeginsLate && gap.rank) said.insert({*gap.rank, gap.communicator});
  }
  for (const CallRange& range : run_.ranges) {
    if (!range.first || said.contains({range.rank, range.communicator})) continue;
    const Communicator& communicator = run_.communicators[range.communicator.index];
    const std::string& name =
        communicator.description.empty() ? communicator.name : communicator.description;
    run_.gaps.push_back({Gap::Kind::kBeginsLate, range.rank, range.communicator, range.first,
                         *range.first == UINT64_MAX
                             ? fmt::format("rank {}: no call on {} is on record", range.rank, name)
                             : fmt::format("rank {}: calls on {} before seq {} were lost",
                                           range.rank, name, *range.first)});
  }
}

Run RunBuilder::finish() && {
  for (auto& [key, range] : range_of_) {
    range.rank = key.first;
    range.communicator = key.second;
    run_.ranges.push_back(range);
  }
  add_missing_ranks();
  add_late_beginnings();
  complete_members();
  std::sort(run_.tasks.begin(), run_.tasks.end(),
            [](const Task& a, const Task& b) { return a.id < b.id; });
  std::sort(run_.meetings.begin(), run_.meetings.end(), [](const Meeting& a, const Meeting& b) {
    return std::pair(a.communicator, a.sequence) < std::pair(b.communicator, b.sequence);
  });
  std::sort(run_.pairs.begin(), run_.pairs.end(), [](const SendRecv& a, const SendRecv& b) {
    return std::tuple(a.communicator, a.source, a.target, a.ordinal) <
           std::tuple(b.communicator, b.source, b.target, b.ordinal);
  });
  std::sort(run_.memory.begin(), run_.memory.end(),
            [](const Memory& a, const Memory& b) { return a.rank < b.rank; });
  return std::move(run_);
}

}  // namespace hostir::model
