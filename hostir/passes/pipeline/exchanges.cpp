#include "hostir/passes/pipeline/exchanges.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

namespace hostir::pipeline {

namespace {

// The transfer of an action's result to the rank of the next or previous stage, if there is one.
std::optional<Transfer> transfer_of(const Schedule& s, const Action& a) {
  if (a.work == Work::kBackwardWeight) return std::nullopt;
  const int64_t to = a.work == Work::kForward ? a.stage + 1 : a.stage - 1;
  if (to < 0 || to >= s.stages() || s.rank_of(to) == s.rank_of(a.stage)) return std::nullopt;
  return Transfer{a, s.rank_of(a.stage), s.rank_of(to)};
}

// Runs steps with bounded connections. A connection is a pair (sender, receiver).
class Ranks {
 public:
  Ranks(const std::vector<RankSteps>& steps, int64_t room)
      : steps_(steps),
        room_(room),
        at_(steps.size(), 0),
        entered_(steps.size(), false),
        pending_(steps.size()) {}

  std::optional<std::string> run() {
    bool moved = true;
    while (moved && wrong_.empty()) {
      moved = false;
      for (size_t rank = 0; rank < steps_.size(); ++rank) {
        while (wrong_.empty() && advance(rank)) moved = true;
      }
    }
    if (!wrong_.empty()) return wrong_;
    std::string stuck;
    for (size_t rank = 0; rank < steps_.size(); ++rank) {
      if (at_[rank] == steps_[rank].size()) continue;
      stuck += fmt::format("{}rank {} waits in", stuck.empty() ? "" : "; ", rank);
      for (const Transfer& t : steps_[rank][at_[rank]].transfers) {
        stuck += " " + to_string(t, static_cast<int64_t>(rank));
      }
    }
    if (!stuck.empty()) return stuck;
    for (const auto& [key, c] : connections_) {
      if (c.sent.size() > c.received.size()) {
        return fmt::format("rank {} never receives {}", key.second,
                           to_string(c.sent[c.received.size()], key.second));
      }
    }
    return std::nullopt;
  }

 private:
  struct Connection {
    std::vector<Transfer> sent;
    std::vector<Transfer> received;
  };
  struct Pending {
    const Connection* connection;
    size_t number;
    bool send;
  };

  // A send is complete when it was received or fits into the connection; a receive when its data
  // was sent.
  bool is_over(const Pending& p) const {
    if (p.send) {
      return p.connection->received.size() + static_cast<size_t>(room_) > p.number;
    }
    return p.connection->sent.size() > p.number;
  }

  void enter(size_t rank) {
    pending_[rank].clear();
    for (const Transfer& t : steps_[rank][at_[rank]].transfers) {
      const bool send = t.from == static_cast<int64_t>(rank);
      Connection& c = connections_[{t.from, t.to}];
      std::vector<Transfer>& mine = send ? c.sent : c.received;
      const std::vector<Transfer>& other = send ? c.received : c.sent;
      const size_t number = mine.size();
      mine.push_back(t);
      pending_[rank].push_back({&c, number, send});
      if (number < other.size() && other[number] != t) {
        wrong_ = fmt::format("rank {} sends {} where rank {} receives {}", t.from,
                             to_string((send ? t : other[number]).producer), t.to,
                             to_string((send ? other[number] : t).producer));
      }
    }
    entered_[rank] = true;
  }

  bool advance(size_t rank) {
    if (at_[rank] == steps_[rank].size()) return false;
    const bool fresh = !entered_[rank];
    if (fresh) enter(rank);
    const auto& pending = pending_[rank];
    if (!std::all_of(pending.begin(), pending.end(),
                     [&](const Pending& p) { return is_over(p); })) {
      return fresh;
    }
    entered_[rank] = false;
    ++at_[rank];
    return true;
  }

  const std::vector<RankSteps>& steps_;
  int64_t room_;
  std::vector<size_t> at_;                     // by rank: the step
  std::vector<bool> entered_;                  // its transfers are issued
  std::vector<std::vector<Pending>> pending_;  // by rank: the transfers of its step
  std::map<std::pair<int64_t, int64_t>, Connection> connections_;
  std::string wrong_;
};

}  // namespace

std::string to_string(const Transfer& t, int64_t rank) {
  constexpr std::string_view kLetters = "FBBW";  // by Work: an input gradient is also sent as B
  return fmt::format("{}{}_{}{}", t.producer.stage, rank == t.from ? "SEND" : "RECV",
                     kLetters[static_cast<size_t>(t.producer.work)], t.producer.micro_batch);
}

Expected<std::vector<RankSteps>> plan_exchanges(const Schedule& schedule) {
  HOSTIR_ASSIGN_OR_RETURN(const Timetable times, make_timetable(schedule));
  // Ordered by rank and time. An action comes before the transfers at its end.
  std::vector<std::map<std::pair<int64_t, bool>, RankStep>> by_time(times.ranks.size());
  for (size_t rank = 0; rank < times.ranks.size(); ++rank) {
    for (const Slot& slot : times.ranks[rank]) {
      by_time[rank][{slot.end, false}].action = slot.action;
      const auto transfer = transfer_of(schedule, slot.action);
      if (!transfer) continue;
      for (const int64_t side : {transfer->from, transfer->to}) {
        by_time[static_cast<size_t>(side)][{slot.end, true}].transfers.push_back(*transfer);
      }
    }
  }
  std::vector<RankSteps> out;
  for (auto& steps : by_time) {
    RankSteps& mine = out.emplace_back();
    for (auto& [time, step] : steps) {
      std::sort(step.transfers.begin(), step.transfers.end());
      mine.push_back(std::move(step));
    }
  }
  return out;
}

std::optional<std::string> find_stall(const std::vector<RankSteps>& steps, int64_t room) {
  return Ranks(steps, room).run();
}

}  // namespace hostir::pipeline
