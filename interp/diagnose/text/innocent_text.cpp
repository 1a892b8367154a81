// The sentences that accuse nobody.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "interp/diagnose/text/recorded_text.h"
#include "interp/diagnose/text/sentences.h"

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

// `, the last one since 2026-11-28 04:12:09 UTC`; empty if no time of day is recorded.
std::string since_text(const model::Meeting& meeting) {
  constexpr int64_t kFirstNs = 1'000'000'000'000'000'000;  // earlier ones are not times of day
  int64_t last_ns = 0;
  for (const Member& member : meeting.members)
    last_ns = std::max(last_ns, member.times.issued_ns.value_or(0));
  if (last_ns < kFirstNs) return {};
  const auto seconds = static_cast<std::time_t>(last_ns / 1'000'000'000);
  return fmt::format(", the last one since {:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

// Some members have completed the call, others are still in it.
std::string held_text(const model::Meeting& meeting) {
  std::vector<Rank> past;
  std::vector<Rank> held;
  for (const Member& member : meeting.members) {
    if (member.state == model::MemberState::kCompleted) past.push_back(member.rank);
    if (member.unfinished()) held.push_back(member.rank);
  }
  if (past.empty()) return {};
  std::ranges::sort(past);
  std::ranges::sort(held);
  return fmt::format("; {} {} still in it, {} {} completed it", model::list_of(held),
                     held.size() == 1 ? "is" : "are", model::list_of(past),
                     past.size() == 1 ? "has" : "have");
}

// What the record lacks of a call that does not complete although all its members are in it.
std::string unrecorded_text(const Run& run, const model::Meeting& meeting) {
  const model::Call& call = meeting.members.front().call;
  const auto lacks = [&](const auto& has) {
    return std::ranges::none_of(meeting.members, [&](const Member& m) { return has(m.call); });
  };
  const bool rooted = call.kind == OpKind::broadcast || call.kind == OpKind::reduce ||
                      call.kind == OpKind::gather || call.kind == OpKind::scatter;
  if (rooted && lacks([](const model::Call& c) { return c.root.has_value(); }))
    return "; its root is not recorded, and may differ";
  if (call.kind == OpKind::all_to_all &&
      lacks([](const model::Call& c) { return !c.sends.empty() || !c.receives.empty(); })) {
    return fmt::format("; its sizes for each peer are not recorded{}, and may differ",
                       run.producer.name.starts_with("PyTorch") ? " before PyTorch 2.11" : "");
  }
  const bool completed = std::ranges::any_of(
      meeting.members, [](const Member& m) { return m.state == model::MemberState::kCompleted; });
  return completed ? "; a GPU or a link between them may have failed" : "";
}

// The oldest call in flight, if possible one that all members have reached: the others wait for
// it.
const model::Meeting* call_in_flight(const Run& run) {
  const model::Meeting* out = nullptr;
  size_t best = 0;
  for (const model::Meeting& meeting : run.meetings) {
    const auto are = [&](auto holds) { return std::ranges::any_of(meeting.members, holds); };
    if (!are([](const Member& m) { return m.unfinished(); })) continue;
    size_t weight = 1;
    if (!are([](const Member& m) { return !m.arrived(); }))
      weight = are([](const Member& m) { return !m.unfinished(); }) ? 3 : 2;
    if (weight <= best) continue;
    best = weight;
    out = &meeting;
  }
  return out;
}

}  // namespace

std::string innocent_sentence(const Run& run, bool moving) {
  size_t calls = 0;
  size_t unfinished = 0;
  for (const model::Meeting& meeting : run.meetings) {
    ++calls;
    const bool open = std::any_of(meeting.members.begin(), meeting.members.end(),
                                  [](const Member& m) { return m.unfinished(); });
    if (open) ++unfinished;
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
  if (calls == 0) return "no rank is accused: no call is on record, so nothing is known";
  if (unfinished == 0) {
    return fmt::format("no rank is at fault: all {} calls on record completed", calls);
  }
  std::string text = fmt::format("no rank is accused: {} of {} calls on record {} in flight",
                                 unfinished, calls, unfinished == 1 ? "is" : "are");
  if (moving) return text + ", and the run may still move: " + run.motion_source;
  const model::Meeting* oldest = call_in_flight(run);
  if (oldest == nullptr) return text;
  const auto first = std::find_if(oldest->members.begin(), oldest->members.end(),
                                  [](const Member& m) { return m.unfinished(); });
  const MemberRef call{oldest, nullptr, &*first};
  text += fmt::format("; as far as is recorded, all members of {}{} are in it with the same call{}",
                      call_name(run, call), at_stack(run, call), since_text(*oldest));
  text += held_text(*oldest) + not_started_text(*oldest) + unrecorded_text(run, *oldest);
  return text;
}

std::string not_yet_sentence(const Run& run, const RecordedVerdict& stuck) {
  return fmt::format("nobody is accused yet: {}. If the job is stuck: {}", run.motion_source,
                     stuck.sentence);
}

}  // namespace hostir::diagnose
