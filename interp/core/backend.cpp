// The key of a meeting, and the defaults for backends without special needs: no plans, and a wait
// that polls.
#include "interp/core/backend.h"

#include <chrono>
#include <thread>

namespace hostir::interp {

std::string_view name(ClockDomain domain) {
  switch (domain) {
    case ClockDomain::kVirtual:
      return "virtual";
    case ClockDomain::kHost:
      return "host";
    case ClockDomain::kDevice:
      return "device";
  }
  return "";
}

MeetingKey key_of(Rank rank, const CommunicationItem& item) {
  MeetingKey key;
  key.comm = item.comm;
  key.first = item.members.empty() ? rank : item.members.front();
  key.sequence = item.sequence;
  if (item.is_pair()) {
    key.source = item.sends() ? item.position : item.peer;
    key.target = item.sends() ? item.peer : item.position;
  }
  return key;
}

Expected<std::unique_ptr<TaskPlan>> Backend::plan(const Task&) { return nullptr; }

Progress Backend::wait(const Hosts& hosts, CompletionSink& sink, int64_t timeout_ns) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSpin = std::chrono::microseconds(200);  // then sleep between polls
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::nanoseconds(timeout_ns);
  while (true) {
    const Progress found = poll(hosts, sink);
    const auto now = Clock::now();
    if (found != Progress::kPending || now >= end) return found;
    if (now - begin > kSpin) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

}  // namespace hostir::interp
