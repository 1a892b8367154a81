#include "gui/panels/waits/rank_text.h"

#include <fmt/core.h>

#include <algorithm>

#include "gui/panels/layout/written.h"
#include "hostir/support/lists.h"
#include "interp/session/answers/fault_names.h"

namespace hostir::gui {

namespace {

using interp::Rank;
using interp::RankWait;
using interp::Snapshot;

bool is_stuck(const Snapshot& shot) { return shot.stop.kind == interp::StopKind::kDeadlock; }

std::string failed_word(const Snapshot& shot, Rank rank, const interp::LedgerRow* mismatch) {
  if (mismatch) {
    const bool in_it = std::any_of(mismatch->cells.begin(), mismatch->cells.end(),
                                   [&](auto& c) { return c.rank() == rank && c.arrived(); });
    return in_it ? "in a mismatch" : "";
  }
  if (shot.stop.kind != interp::StopKind::kFault || shot.faults->empty()) return "";
  const interp::FaultSnapshot& fault = shot.faults->back();
  const bool named = contains(fault.ranks, rank);
  return named ? "failed: " + interp::fault_name(fault.kind) : "";
}

}  // namespace

// Relies on edges being sorted by waiting rank.
std::span<const RankWait> waits_of(const interp::WaitsSnapshot& waits, Rank rank) {
  const auto first = std::lower_bound(waits.edges.begin(), waits.edges.end(), rank,
                                      [](const RankWait& e, Rank r) { return e.from < r; });
  const auto last = std::upper_bound(first, waits.edges.end(), rank,
                                     [](Rank r, const RankWait& e) { return r < e.from; });
  return {first, last};
}

const RankWait* stream_wait(const interp::WaitsSnapshot& waits, Rank rank) {
  for (const RankWait& e : waits_of(waits, rank)) {
    if (e.from_stream != interp::kNoStream && e.comm != interp::kNoComm) return &e;
  }
  return nullptr;
}

RankText rank_text(const Snapshot& shot, Rank rank, const interp::LedgerRow* mismatch) {
  const interp::RankSnapshot& r = shot.rank(rank);
  if (const std::string failed = failed_word(shot, rank, mismatch); !failed.empty())
    return {StateKind::kFailed, failed};
  if (r.frozen) return {StateKind::kFrozen, "frozen"};
  if (r.status == interp::RankStatus::kDone && r.outstanding() > 0) {
    const RankWait* wait = stream_wait(*shot.waits, rank);
    if (!wait) return {StateKind::kWaiting, "done, streams busy"};
    return {
        StateKind::kWaiting,
        fmt::format("its stream {} {}", is_stuck(shot) ? "is blocked in" : "waits in", wait->on)};
  }
  const std::string word(interp::name(r.status));
  switch (r.status) {
    case interp::RankStatus::kRunnable:
      // After a fault no rank continues, even if it is runnable.
      if (mismatch) return {StateKind::kMissing, "stopped"};
      return {StateKind::kOk, word};
    case interp::RankStatus::kBlocked:
      return {StateKind::kWaiting, word};
    case interp::RankStatus::kDone:
    case interp::RankStatus::kNotStarted:
    case interp::RankStatus::kRemote:
      return {StateKind::kMissing, word};
    case interp::RankStatus::kUnknown:
      if (const RankWait* wait = stream_wait(*shot.waits, rank))
        return {StateKind::kWaiting, "waits in " + wait->on};
      for (const interp::StreamSnapshot& stream : r.streams) {
        if (!stream.tasks.empty()) return {StateKind::kWaiting, "in " + stream.tasks.front().text};
      }
      return {StateKind::kMissing, word};
    case interp::RankStatus::kDead:
      return {StateKind::kFailed, word};
  }
  return {StateKind::kMissing, word};
}

std::string stream_text(const Snapshot& shot, Rank rank) {
  const RankWait* wait = stream_wait(*shot.waits, rank);
  if (!wait) return {};
  const model::Stream* known =
      shot.run ? shot.run->find(model::StreamId(wait->from_stream)) : nullptr;
  const std::string stream = known ? known->name : std::string();
  const std::string address = shot.program->address(wait->from_code);
  return fmt::format("its stream {} {} {} of {}{}", stream,
                     is_stuck(shot) ? "is blocked in" : "waits in", wait->on, wait->comm_text,
                     address.empty() ? "" : fmt::format(" ({})", address));
}

std::string stream_head_text(const Snapshot& shot, Rank rank,
                             const interp::StreamSnapshot& stream) {
  if (stream.tasks.empty()) return {};
  std::string text = fmt::format("r{} stream {}: {}", rank, stream.name, stream.tasks.front().text);
  std::vector<Rank> others;
  std::string on;
  for (const RankWait& e : waits_of(*shot.waits, rank)) {
    if (e.from_stream != stream.index) continue;
    if (e.to != rank && (others.empty() || others.back() != e.to)) others.push_back(e.to);
    if (on.empty()) on = e.comm_text.empty() ? e.on : e.on + " of " + e.comm_text;
  }
  if (on.empty()) return text + ", in flight";
  if (others.empty()) return fmt::format("{}, waits for {}", text, on);
  return fmt::format("{}, waits for {} ({})", text, rank_list(others), on);
}

}  // namespace hostir::gui
