// The sentences that accuse nobody.
#include <fmt/format.h>

#include <algorithm>

#include "interp/diagnose/recorded_text.h"
#include "interp/diagnose/sentences.h"

namespace hostir::diagnose {

using model::Member;
using model::Rank;
using model::Run;

namespace {

// All members have issued the call, but some GPUs have not begun it.
std::string not_started_text(const model::Meeting& meeting) {
  std::vector<Rank> started;
  std::vector<Rank> waiting;
  for (const model::Member& member : meeting.members) {
    if (member.state == model::MemberState::kStarted) started.push_back(member.rank);
    if (member.state == model::MemberState::kScheduled) waiting.push_back(member.rank);
  }
  if (started.empty() || waiting.empty()) return {};
  return fmt::format(
      "; the GPUs of {} have started it, {} {} not: earlier work on its stream holds it up, or its "
      "GPU has stopped",
      model::list_of(started), model::list_of(waiting), waiting.size() == 1 ? "has" : "have");
}

}  // namespace

std::string innocent_sentence(const Run& run, bool moving) {
  size_t calls = 0;
  size_t unfinished = 0;
  const model::Meeting* oldest = nullptr;
  for (const model::Meeting& meeting : run.meetings) {
    ++calls;
    const bool open = std::any_of(meeting.members.begin(), meeting.members.end(),
                                  [](const Member& m) { return m.unfinished(); });
    if (!open) continue;
    ++unfinished;
    if (oldest == nullptr) oldest = &meeting;
  }
  for (const model::SendRecv& pair : run.pairs) {
    ++calls;
    if (pair.send.unfinished() || pair.recv.unfinished()) ++unfinished;
  }
  std::vector<Rank> dead;
  for (size_t r = 0; r < run.ranks.size(); ++r) {
    if (run.ranks[r].state == model::RankState::kDead) dead.push_back(static_cast<Rank>(r));
  }
  if (unfinished == 0 && !dead.empty()) {
    return fmt::format(
        "no rank is accused, because no call in flight is on record, but {} died or no longer "
        "{}",
        model::list_of(dead), dead.size() == 1 ? "answers" : "answer");
  }
  if (unfinished == 0) {
    return fmt::format("no rank is at fault: all {} calls on record completed", calls);
  }
  std::string text = fmt::format("no rank is accused: {} of {} calls on record {} in flight",
                                 unfinished, calls, unfinished == 1 ? "is" : "are");
  if (moving) return text + ", and the run may still move: " + run.motion_source;
  if (oldest == nullptr) return text;
  const auto first = std::find_if(oldest->members.begin(), oldest->members.end(),
                                  [](const Member& m) { return m.unfinished(); });
  text += fmt::format("; as far as is recorded, all members of {} are in it with the same call",
                      call_name(run, {oldest, nullptr, &*first}));
  text += not_started_text(*oldest);
  const bool rooted = first->call.kind == OpKind::broadcast || first->call.kind == OpKind::reduce;
  if (rooted && !first->call.root) text += "; its root is not recorded, and may differ";
  return text;
}

std::string not_yet_sentence(const Run& run, const RecordedVerdict& stuck) {
  return fmt::format("nobody is accused yet: {}. If the job is stuck: {}", run.motion_source,
                     stuck.sentence);
}

}  // namespace hostir::diagnose
