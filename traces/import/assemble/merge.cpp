#include "traces/import/assemble/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace hostir::traces::import {

namespace {

/// Identifies a call by what both files have: group, shape and peer, and number (for a send or
/// recv: its index between the two ranks, counted from the last).
using CallKey = std::tuple<std::string, DumpCall::Shape, int64_t, uint64_t>;

std::map<CallKey, DumpCall*> calls_by_key(ProcessDump& dump) {
  std::map<CallKey, DumpCall*> calls;
  std::map<CallKey, uint64_t> counted;
  for (DumpCall& call : dump.calls) {
    CallKey key = {dump.groups[call.group].name, call.shape, call.peer.value_or(-1), call.sequence};
    if (call.shape != DumpCall::Shape::kCollective) {
      if (dump.start_lost) continue;
      std::get<3>(key) = 0;
      std::get<3>(key) = ++counted[key];
    }
    calls.emplace(key, &call);
  }
  return calls;
}

bool reaches_further(const ProcessDump& a, const ProcessDump& b) {
  const auto last = [](const ProcessDump& dump) {
    int64_t newest = 0;
    for (const DumpCall& call : dump.calls) {
      newest = std::max(newest, call.times.issued_ns.value_or(0));
    }
    return newest;
  };
  return std::tuple(last(a), a.calls.size()) > std::tuple(last(b), b.calls.size());
}

}  // namespace

MergedDump merge(ProcessDump a, ProcessDump b) {
  if (reaches_further(b, a)) std::swap(a, b);
  MergedDump out;
  const auto mine = calls_by_key(a);
  for (const auto& [key, other] : calls_by_key(b)) {
    const auto at = mine.find(key);
    if (at == mine.end()) {
      const bool could_be_lost = a.start_lost || a.only_unfinished;
      if (!could_be_lost && !b.only_unfinished) {
        out.contradictions.push_back(
            fmt::format("rank {}: {} records {} seq {} on {}, but {} does not", *a.rank, b.file,
                        model::call_text(other->call), other->sequence, std::get<0>(key), a.file));
      }
      continue;
    }
    DumpCall& call = *at->second;
    if (!model::agree(call.call, other->call)) {
      out.contradictions.push_back(fmt::format("rank {}: seq {} on {} is {} in {} and {} in {}",
                                               *a.rank, other->sequence, std::get<0>(key),
                                               model::call_text(call.call), a.file,
                                               model::call_text(other->call), b.file));
    }
    if (a.stacks[call.stack].empty()) {
      call.stack = a.stacks.size();
      a.stacks.push_back(b.stacks[other->stack]);
    }
    if (other->state > call.state) {
      call.state = other->state;
      call.times.started_ns = other->times.started_ns;
      call.times.finished_ns = other->times.finished_ns;
      call.timed_out = other->timed_out;
    }
    if (other->timed_out.value_or(false) && call.state != model::MemberState::kCompleted) {
      call.timed_out = true;
    }
  }
  for (std::string& remark : b.remarks) a.remarks.push_back(std::move(remark));
  out.dump = std::move(a);
  return out;
}

}  // namespace hostir::traces::import
