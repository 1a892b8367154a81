#include "interp/diagnose/calls/aligned_calls.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "interp/diagnose/text/sentences.h"

namespace hostir::diagnose {

namespace {

size_t gaps_in_front(const std::vector<AlignedStep>& steps, AlignedStep::Kind kind) {
  size_t n = 0;
  while (n < steps.size() && steps[n].kind == kind) ++n;
  return n == steps.size() ? 0 : n;
}

}  // namespace

AlignedCalls align_ranks(const model::Run& run, model::Rank mine, model::Rank theirs,
                         model::CommunicatorId communicator) {
  AlignedCalls out;
  uint64_t first = 0;
  for (const model::Rank rank : {mine, theirs}) {
    const model::CallRange* range = run.range(rank, communicator);
    if (range != nullptr && range->first) first = std::max(first, *range->first);
  }
  out.mine = sequence_of(run, mine, communicator, first);
  out.theirs = sequence_of(run, theirs, communicator, first);
  out.steps = align_sequences(run, out.mine, out.theirs);
  if (first == 0) return out;
  // One rank's matching calls have smaller sequence numbers than the other's.
  const size_t fewer = gaps_in_front(out.steps, AlignedStep::Kind::kLeftOut);
  const size_t more = gaps_in_front(out.steps, AlignedStep::Kind::kExtra);
  if (fewer + more == 0 || fewer + more > first) return out;
  const uint64_t earlier = first - (fewer + more);
  CallSequence& shorter = fewer > 0 ? out.mine : out.theirs;
  CallSequence longer_record = sequence_of(run, shorter.rank, communicator, earlier);
  out.fewer_before = static_cast<int64_t>(fewer) - static_cast<int64_t>(more);
  if (longer_record.calls.size() == shorter.calls.size() + fewer + more) {
    shorter = std::move(longer_record);
    out.steps = align_sequences(run, out.mine, out.theirs);
  } else {
    out.steps.erase(out.steps.begin(), out.steps.begin() + static_cast<ptrdiff_t>(fewer + more));
  }
  return out;
}

model::Rank longest_record(const model::Run& run, const std::vector<model::Rank>& ranks,
                           model::CommunicatorId communicator) {
  const auto begin = [&](model::Rank rank) {
    const model::CallRange* range = run.range(rank, communicator);
    return range == nullptr ? UINT64_MAX : range->first.value_or(0);
  };
  return *std::min_element(ranks.begin(), ranks.end(),
                           [&](model::Rank a, model::Rank b) { return begin(a) < begin(b); });
}

bool same_call_follows(const AlignedCalls& aligned, size_t at) {
  const size_t count = gaps_from(aligned, at);
  if (at + count >= aligned.steps.size()) return false;
  const AlignedStep::Kind next = aligned.steps[at + count].kind;
  return next == AlignedStep::Kind::kSame || (count == 1 && next == AlignedStep::Kind::kElsewhere);
}

size_t gaps_from(const AlignedCalls& aligned, size_t at) {
  size_t count = 1;
  while (at + count < aligned.steps.size() &&
         aligned.steps[at + count].kind == aligned.steps[at].kind) {
    ++count;
  }
  return count;
}

size_t partner(const AlignedCalls& aligned, size_t at) {
  using Kind = AlignedStep::Kind;
  const AlignedStep& step = aligned.steps[at];
  const bool is_left_out = step.kind == Kind::kLeftOut;
  const model::Member& call = is_left_out ? *aligned.theirs.calls[step.theirs].member
                                          : *aligned.mine.calls[step.mine].member;
  for (size_t k = 0; k < aligned.steps.size(); ++k) {
    const AlignedStep& other = aligned.steps[k];
    // At the end of the records, the moved call may be aligned with the other ranks' next one.
    if (other.kind != (is_left_out ? Kind::kExtra : Kind::kLeftOut) && other.kind != Kind::kOther) {
      continue;
    }
    const model::Member& moved = is_left_out ? *aligned.mine.calls[other.mine].member
                                             : *aligned.theirs.calls[other.theirs].member;
    if (same_call(call.call, moved.call)) return k;
  }
  return SIZE_MAX;
}

bool is_only_moved(const model::Run& run, const AlignedCalls& aligned, size_t at) {
  const bool is_left_out = aligned.steps[at].kind == AlignedStep::Kind::kLeftOut;
  const MemberRef& call = is_left_out ? aligned.theirs.calls[aligned.steps[at].theirs]
                                      : aligned.mine.calls[aligned.steps[at].mine];
  return std::ranges::any_of(aligned.steps, [&](const AlignedStep& other) {
    if (other.kind != (is_left_out ? AlignedStep::Kind::kExtra : AlignedStep::Kind::kLeftOut))
      return false;
    const MemberRef& moved =
        is_left_out ? aligned.mine.calls[other.mine] : aligned.theirs.calls[other.theirs];
    return same_call(call.member->call, moved.member->call) &&
           same_stack(run, *call.member, *moved.member) && completed_by_all(call) &&
           completed_by_all(moved);
  });
}

size_t next_mine(const AlignedCalls& aligned, size_t at) {
  while (at < aligned.steps.size() && aligned.steps[at].mine == SIZE_MAX) ++at;
  return at < aligned.steps.size() ? aligned.steps[at].mine : aligned.mine.calls.size();
}

size_t next_theirs(const AlignedCalls& aligned, size_t at) {
  while (at < aligned.steps.size() && aligned.steps[at].theirs == SIZE_MAX) ++at;
  return at < aligned.steps.size() ? aligned.steps[at].theirs : aligned.theirs.calls.size();
}

std::optional<MemberRef> left_out_instead(const model::Run& run, const AlignedCalls& aligned,
                                          size_t at) {
  const auto& mine = aligned.mine.calls;
  const auto& theirs = aligned.theirs.calls;
  const MemberRef& extra = mine[aligned.steps[at].mine];
  const auto same = [&](const MemberRef& a, const MemberRef& b) {
    return same_stack(run, *a.member, *b.member);
  };
  size_t last = aligned.steps[at].mine;  // of the calls of this line in a row
  while (last + 1 < mine.size() && same(mine[last + 1], extra)) ++last;
  if (last == 0 || !same(mine[last - 1], extra)) return std::nullopt;
  size_t next = next_theirs(aligned, at);
  while (next < theirs.size() && same(theirs[next], extra)) ++next;
  if (next >= theirs.size()) return std::nullopt;
  for (size_t i = 0; i + 1 < last; ++i) {
    if (same(mine[i], extra) && same(mine[i + 1], theirs[next])) return theirs[next];
  }
  return std::nullopt;
}

size_t callers_outside(const model::Run& run, const std::vector<std::vector<MemberRef>>& calls,
                       const MemberRef& call) {
  if (!stack_is_known(run, *call.member)) return 0;
  const auto times = [&](const std::vector<MemberRef>& line) {
    return std::count_if(line.begin(), line.end(), [&](const MemberRef& ref) {
      return ref.meeting != nullptr && same_stack(run, *ref.member, *call.member);
    });
  };
  const auto rounds = times(calls[static_cast<size_t>(call.member->rank)]);
  return static_cast<size_t>(std::count_if(calls.begin(), calls.end(), [&](const auto& line) {
    return !line.empty() && call.meeting->member(line.front().member->rank) == nullptr &&
           times(line) >= rounds;
  }));
}

void note_fewer_before(const model::Run& run, model::Rank rank, const MemberRef& call,
                       std::vector<std::string>& notes) {
  if (call.meeting == nullptr) return;
  const model::Rank other = call.member->rank;
  const int64_t fewer = align_ranks(run, rank, other, call.communicator()).fewer_before;
  if (fewer <= 0) return;
  notes.push_back(
      fmt::format("rank {} made {} fewer than rank {} on {} before their records begin; from "
                  "there on they call the same",
                  rank, fewer == 1 ? "one call" : fmt::format("{} calls", fewer), other,
                  communicator_name(run, call.communicator())));
}

}  // namespace hostir::diagnose
