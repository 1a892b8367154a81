#include "traces/timeline/timeline_node.h"

#include <algorithm>

namespace hostir::traces {

using interp::TimelineSlice;

TimelineNode TimelineNode::of(const TimelineEvent& event) {
  const int64_t duration = event.end_ns - event.begin_ns;
  return {event.begin_ns, event.end_ns, duration, duration, event.what, 1};
}

void TimelineNode::add(const TimelineNode& other) {
  begin_ns = std::min(begin_ns, other.begin_ns);
  end_ns = std::max(end_ns, other.end_ns);
  busy_ns = std::min(busy_ns + other.busy_ns, kMaxTimelineNs);
  count += other.count;
  if (other.longest_ns <= longest_ns) return;
  longest_ns = other.longest_ns;
  what = other.what;
}

TimelineWindow TimelineWindow::of(const interp::TimelineRequest& request) {
  TimelineWindow window;
  window.from_ns = std::clamp(request.from_ns, -kMaxTimelineNs, kMaxTimelineNs);
  window.to_ns = std::clamp(request.to_ns, -kMaxTimelineNs, kMaxTimelineNs);
  if (request.columns <= 0) window.to_ns = window.from_ns;
  if (window.empty()) return window;
  window.column_ns = std::max<int64_t>(1, (window.to_ns - window.from_ns) / request.columns);
  return window;
}

std::vector<TimelineSlice> slices_of(std::vector<TimelineNode>& nodes,
                                     const TimelineWindow& window) {
  const auto earlier = [](const TimelineNode& a, const TimelineNode& b) {
    return a.begin_ns < b.begin_ns;
  };
  if (!std::is_sorted(nodes.begin(), nodes.end(), earlier)) {
    std::stable_sort(nodes.begin(), nodes.end(), earlier);
  }
  constexpr int64_t kMaxCount = 0xffffffff;
  std::vector<TimelineSlice> slices;
  int64_t last_column = -1;
  int64_t last_longest = 0;
  for (const TimelineNode& n : nodes) {
    const TimelineEvent longest{0, 0, n.what};
    const auto count = static_cast<uint32_t>(std::min(n.count, kMaxCount));
    const int64_t column =
        (std::max(n.begin_ns, window.from_ns) - window.from_ns) / window.column_ns;
    if (slices.empty() || column != last_column) {
      last_column = column;
      last_longest = n.longest_ns;
      slices.push_back({n.begin_ns, n.end_ns, longest.id(), longest.instruction(), count,
                        std::min(n.busy_ns, n.end_ns - n.begin_ns)});
      continue;
    }
    TimelineSlice& last = slices.back();
    if (n.longest_ns > last_longest) {
      last.event = longest.id();
      last.instruction = longest.instruction();
      last_longest = n.longest_ns;
    }
    last.end_ns = std::max(last.end_ns, n.end_ns);
    last.count = static_cast<uint32_t>(std::min<int64_t>(int64_t{last.count} + count, kMaxCount));
    last.busy_ns = std::min(last.busy_ns + n.busy_ns, last.end_ns - last.begin_ns);
  }
  return slices;
}

void add_clipped(const TimelineEvent& event, int64_t from_ns, int64_t to_ns,
                 std::vector<InstructionSum>& sums) {
  if (event.begin_ns >= to_ns || event.end_ns < from_ns) return;
  if (event.instruction() >= sums.size()) return;
  InstructionSum& sum = sums[event.instruction()];
  ++sum.count;
  const int64_t inside = std::min(event.end_ns, to_ns) - std::max(event.begin_ns, from_ns);
  sum.busy_ns = std::min(sum.busy_ns + inside, kMaxTimelineNs);
}

}  // namespace hostir::traces
