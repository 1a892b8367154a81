#include "interp/diagnose/calls/rerun.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/calls/continuation.h"
#include "interp/model/builder.h"

namespace hostir::diagnose {

namespace {

using model::CommunicatorId;
using model::Member;
using model::Rank;
using Shape = JobCall::Shape;
/// Rank, communicator, and for a send or recv its shape and peer.
using QueueOfCall = std::tuple<Rank, CommunicatorId, Shape, Rank>;

QueueOfCall queue_of(Rank rank, const JobCall& call) {
  return {rank, call.communicator, call.shape, call.peer};
}
QueueOfCall queue_of(const MemberRef& ref) {
  const Rank rank = ref.member->rank;
  if (ref.meeting != nullptr) return {rank, ref.communicator(), Shape::kCollective, model::kNoRank};
  return ref.sends() ? QueueOfCall{rank, ref.communicator(), Shape::kSend, ref.pair->target}
                     : QueueOfCall{rank, ref.communicator(), Shape::kRecv, ref.pair->source};
}

Member& member_of(model::RunBuilder& builder, Rank rank, const JobCall& call, uint64_t number) {
  switch (call.shape) {
    case Shape::kCollective:
      return builder.arrive(call.communicator, number, rank);
    case Shape::kSend:
      return builder.send(call.communicator, rank, call.peer, number);
    case Shape::kRecv:
      break;
  }
  return builder.recv(call.communicator, call.peer, rank, number);
}

// The number of the first collective of the communicator, or of the first pair of these two ranks.
uint64_t first_number(const model::Run& run, Rank rank, const JobCall& call) {
  if (call.shape == Shape::kCollective) {
    const auto at =
        std::ranges::find(run.meetings, call.communicator, &model::Meeting::communicator);
    return at == run.meetings.end() ? 1 : at->sequence;
  }
  const bool sends = call.shape == Shape::kSend;
  const auto at = std::ranges::find_if(run.pairs, [&](const model::SendRecv& pair) {
    return pair.communicator == call.communicator && pair.source == (sends ? rank : call.peer) &&
           pair.target == (sends ? call.peer : rank);
  });
  return at == run.pairs.end() ? 1 : at->ordinal;
}

}  // namespace

Rerun rerun(const model::Run& run, const JobCalls& job) {
  const std::vector<std::vector<bool>> finished = finished_calls(run, job);
  model::RunBuilder builder;
  for (size_t r = 0; r < run.ranks.size(); ++r) builder.rank(static_cast<Rank>(r)) = run.ranks[r];
  builder.run().producer = run.producer;
  builder.run().motion = run.motion;
  builder.run().motion_source = run.motion_source;
  builder.run().clocks = run.clocks;
  builder.run().communicators = run.communicators;
  builder.run().instructions = run.instructions;
  std::map<QueueOfCall, uint64_t> next;
  std::map<std::pair<QueueOfCall, uint64_t>, size_t> place;  // in the rank's calls of the job
  for (size_t r = 0; r < job.size(); ++r) {
    const auto rank = static_cast<Rank>(r);
    std::map<CommunicatorId, uint64_t> last;
    uint64_t launch = 0;
    for (size_t i = 0; i < job[r].size(); ++i) {
      const JobCall& call = job[r][i];
      const bool joins = i > 0 && call.order == job[r][i - 1].order && call.order != UINT64_MAX;
      if (!joins) ++launch;
      const QueueOfCall queue = queue_of(rank, call);
      auto at = next.find(queue);
      if (at == next.end()) at = next.emplace(queue, first_number(run, rank, call)).first;
      const uint64_t number = at->second++;
      place[{queue, number}] = i;
      Member& member = member_of(builder, rank, call, number);
      member.call = call.recorded_at == SIZE_MAX ? call.call : call.from.member->call;
      member.instruction = call.from.member->instruction;
      member.order = launch;
      if (call.recorded_at != SIZE_MAX) member.times = call.from.member->times;
      member.state =
          finished[r][i] ? model::MemberState::kCompleted : model::MemberState::kScheduled;
      if (call.shape == Shape::kCollective) last[call.communicator] = number;
    }
    for (const auto& [communicator, number] : last)
      builder.run().ranges.push_back({rank, communicator, std::nullopt, number});
  }
  std::sort(builder.run().ranges.begin(), builder.run().ranges.end(),
            [](const model::CallRange& a, const model::CallRange& b) {
              return std::pair(a.rank, a.communicator) < std::pair(b.rank, b.communicator);
            });
  Rerun out;
  out.run = std::move(builder).finish();
  for (const auto& line : calls_by_rank(out.run)) {
    out.calls.emplace_back();
    for (const MemberRef& ref : line) {
      const size_t at = place.at({queue_of(ref), ref.sequence()});
      out.calls.back().push_back(job[static_cast<size_t>(ref.member->rank)][at]);
    }
  }
  return out;
}

std::optional<RecordedVerdict> in_first_run(const Rerun& again,
                                            const std::vector<std::vector<MemberRef>>& calls,
                                            RecordedVerdict verdict) {
  const auto second = calls_by_rank(again.run);
  // Empty: a call that was not made. Its number is the number in the repaired job.
  const auto recorded = [&](const MemberRef& ref) {
    if (ref.member == nullptr) return MemberRef{};
    const auto r = static_cast<size_t>(ref.member->rank);
    const auto at = std::ranges::find(second[r], ref.member, &MemberRef::member);
    return at == second[r].end() ? MemberRef{}
                                 : again.calls[r][static_cast<size_t>(at - second[r].begin())].from;
  };
  // The place before the next call that is on record.
  const auto before = [&](Rank rank, size_t at) {
    const auto& line = again.calls[static_cast<size_t>(rank)];
    while (at < line.size() && line[at].recorded_at == SIZE_MAX) ++at;
    return at < line.size() ? line[at].recorded_at : calls[static_cast<size_t>(rank)].size();
  };
  for (CallEdit& edit : verdict.repair) {
    const auto r = static_cast<size_t>(edit.rank);
    if (edit.pattern.member != nullptr) {
      edit.pattern = recorded(edit.pattern);
      if (edit.pattern.member == nullptr) return std::nullopt;
    }
    if (edit.kind == CallEdit::Kind::kAdd) {
      edit.at = before(edit.rank, edit.at);
    } else {
      if (edit.at >= again.calls[r].size()) return std::nullopt;
      edit.at = again.calls[r][edit.at].recorded_at;
      if (edit.at == SIZE_MAX) return std::nullopt;
      edit.to = before(edit.rank, edit.to);
    }
  }
  verdict.at = recorded(verdict.at);
  verdict.missing = recorded(verdict.missing);
  return verdict;
}

}  // namespace hostir::diagnose
