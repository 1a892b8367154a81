#include "hostir/passes/pipeline/timetable.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace hostir::pipeline {

namespace {

// The actions that must have ended before this one, other than those of its rank.
std::vector<Action> needs(const Schedule& s, const Action& a) {
  if (a.work == Work::kForward) {
    if (a.stage == 0) return {};
    return {{Work::kForward, a.stage - 1, a.micro_batch}};
  }
  if (a.work == Work::kBackwardWeight) return {{Work::kBackwardInput, a.stage, a.micro_batch}};
  std::vector<Action> out = {{Work::kForward, a.stage, a.micro_batch}};
  if (a.stage + 1 < s.stages()) out.push_back({a.work, a.stage + 1, a.micro_batch});
  return out;
}

class Clock {
 public:
  Clock(const Schedule& schedule, const Costs& costs) : s_(schedule), costs_(costs) {
    next_.resize(s_.order.size());
    out_.ranks.resize(s_.order.size());
  }

  Expected<Timetable> run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (size_t rank = 0; rank < s_.order.size(); ++rank) {
        while (advance(rank)) moved = true;
      }
    }
    std::string stuck;
    for (size_t rank = 0; rank < s_.order.size(); ++rank) {
      if (next_[rank] == s_.order[rank].size()) continue;
      const Action& at = s_.order[rank][next_[rank]];
      stuck += fmt::format("{}rank {} is at {} and lacks {}", stuck.empty() ? "" : "; ", rank,
                           to_string(at), to_string(*missing(at)));
    }
    if (!stuck.empty()) {
      return fail(ErrorKind::kStuck, "pipeline_order",
                  "the order of actions is a deadlock: " + stuck);
    }
    for (const auto& slots : out_.ranks) {
      if (!slots.empty()) out_.length = std::max(out_.length, slots.back().end);
      int64_t busy = 0;
      for (const Slot& slot : slots) busy += slot.end - slot.start;
      out_.busy = std::max(out_.busy, busy);
    }
    return std::move(out_);
  }

 private:
  std::optional<Action> missing(const Action& action) const {
    for (const Action& need : needs(s_, action)) {
      if (ends_.count(need) == 0) return need;
    }
    return std::nullopt;
  }

  bool advance(size_t rank) {
    if (next_[rank] == s_.order[rank].size()) return false;
    const Action& action = s_.order[rank][next_[rank]];
    if (missing(action)) return false;
    Slot slot{action, out_.ranks[rank].empty() ? 0 : out_.ranks[rank].back().end, 0};
    for (const Action& need : needs(s_, action)) slot.start = std::max(slot.start, ends_.at(need));
    slot.end = slot.start + costs_.of(action.work);
    ends_[action] = slot.end;
    out_.ranks[rank].push_back(slot);
    ++next_[rank];
    return true;
  }

  const Schedule& s_;
  const Costs& costs_;
  std::vector<size_t> next_;  // by rank
  std::map<Action, int64_t> ends_;
  Timetable out_;
};

}  // namespace

int64_t Costs::of(Work work) const {
  switch (work) {
    case Work::kForward:
      return forward;
    case Work::kBackward:
      return backward_input + backward_weight;
    case Work::kBackwardInput:
      return backward_input;
    case Work::kBackwardWeight:
      return backward_weight;
  }
  return 0;
}

Expected<Timetable> make_timetable(const Schedule& schedule, const Costs& costs) {
  return Clock(schedule, costs).run();
}

std::string draw(const Timetable& timetable) {
  size_t width = 1;
  for (const auto& slots : timetable.ranks) {
    for (const Slot& slot : slots) width = std::max(width, to_string(slot.action).size());
  }
  std::string out;
  for (size_t rank = 0; rank < timetable.ranks.size(); ++rank) {
    out += fmt::format("rank {}", rank);
    int64_t now = 0;
    const auto column = [&](std::string_view text) { out += fmt::format(" {:{}}", text, width); };
    for (const Slot& slot : timetable.ranks[rank]) {
      for (; now < slot.start; ++now) column(".");
      column(to_string(slot.action));
      for (++now; now < slot.end; ++now) column("-");
    }
    for (; now < timetable.length; ++now) column(".");
    while (out.back() == ' ') out.pop_back();
    out += "\n";
  }
  return out;
}

}  // namespace hostir::pipeline
