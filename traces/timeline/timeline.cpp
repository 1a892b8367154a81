#include "traces/timeline/timeline.h"

#include <algorithm>
#include <cstddef>

namespace hostir::traces {

namespace {

constexpr auto before = begins_before;

}  // namespace

std::optional<Timeline::Event> Timeline::event_of(const interp::LogEvent& event) {
  const int64_t begin = event.begin_ns();
  const int64_t end = event.end_ns();
  if (!is_sane_time(begin) || !is_sane_time(end) || end < begin) return std::nullopt;
  if (event.id < 0 || event.id > Event::kMaxId || event.instruction > Event::kMaxInstruction)
    return std::nullopt;
  return Event{begin, end, static_cast<uint64_t>(event.id) << 24 | event.instruction};
}

void Timeline::push(const Event& event) {
  const bool in_order =
      sorted_ == events_.size() && (events_.empty() || !before(event, events_.back()));
  end_ns_ = events_.empty() ? event.end_ns : std::max(end_ns_, event.end_ns);
  events_.push_back(event);
  if (in_order) ++sorted_;
}

void Timeline::add(const std::vector<Event>& events) {
  for (const Event& event : events) push(event);
}

// Events out of order are sorted separately, then merged into the part that they reach back to.
void Timeline::sort() {
  if (sorted_ == events_.size()) return;
  const auto middle = events_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  std::stable_sort(middle, events_.end(), before);
  const auto first = std::upper_bound(events_.begin(), middle, *middle, before);
  built_ = std::min(built_, static_cast<size_t>(first - events_.begin()));
  std::inplace_merge(first, middle, events_.end(), before);
  sorted_ = events_.size();
}

Timeline::Node Timeline::leaf(size_t index) const {
  const Event& e = events_[index];
  return {e.begin_ns, e.end_ns, e.end_ns - e.begin_ns, static_cast<uint32_t>(index), 1};
}

Timeline::Node Timeline::node(size_t level, size_t index) const {
  return level == 0 ? leaf(index) : levels_[level - 1][index];
}

size_t Timeline::level_size(size_t level) const {
  return level == 0 ? events_.size() : levels_[level - 1].size();
}

void Timeline::build() {
  sort();
  size_t unchanged = built_;  // unchanged nodes of the level below
  for (size_t level = 1; level_size(level - 1) > 1; ++level) {
    if (levels_.size() < level) levels_.emplace_back();
    std::vector<Node>& nodes = levels_[level - 1];
    const size_t below = level_size(level - 1);
    unchanged = std::min(unchanged / kFactor, nodes.size());
    nodes.resize(unchanged);
    for (size_t first = unchanged * kFactor; first < below; first += kFactor) {
      Node sum = node(level - 1, first);
      for (size_t i = first + 1; i < std::min(first + kFactor, below); ++i) {
        const Node n = node(level - 1, i);
        const Event& longest = events_[sum.longest];
        const Event& other = events_[n.longest];
        if (other.end_ns - other.begin_ns > longest.end_ns - longest.begin_ns) {
          sum.longest = n.longest;
        }
        sum.end_ns = std::max(sum.end_ns, n.end_ns);
        sum.busy_ns = std::min(sum.busy_ns + n.busy_ns, kMaxTimelineNs);
        sum.count += n.count;
      }
      nodes.push_back(sum);
    }
  }
  built_ = events_.size();
}

void Timeline::descend(const TimelineWindow& window, size_t level, size_t index,
                       std::vector<TimelineNode>& out) const {
  const Node n = node(level, index);
  if (!window.shows(n.begin_ns, n.end_ns)) return;
  if (level == 0 || n.end_ns - n.begin_ns <= window.column_ns) {
    const Event& longest = events_[n.longest];
    out.push_back({n.begin_ns, n.end_ns, n.busy_ns, longest.end_ns - longest.begin_ns, longest.what,
                   n.count});
    return;
  }
  const size_t first = index * kFactor;
  const size_t last = std::min(first + kFactor, level_size(level - 1));
  for (size_t i = first; i < last; ++i) descend(window, level - 1, i, out);
}

void Timeline::collect(const TimelineWindow& window, std::vector<TimelineNode>& out) const {
  if (window.empty() || events_.empty()) return;
  size_t top = 0;
  while (top < levels_.size() && level_size(top) > 1) ++top;
  for (size_t i = 0; i < level_size(top); ++i) descend(window, top, i, out);
}

void Timeline::sum(int64_t from_ns, int64_t to_ns, std::vector<InstructionSum>& sums) const {
  if (to_ns <= from_ns) return;
  // Skips nodes that end before the range; stops at those that begin after it.
  constexpr size_t kStep = kFactor;
  for (size_t first = 0; first < events_.size(); first += kStep) {
    if (events_[first].begin_ns >= to_ns) return;
    const size_t group = first / kStep;
    const bool known = !levels_.empty() && group < levels_[0].size();
    if (known && levels_[0][group].end_ns < from_ns) continue;
    for (size_t i = first; i < std::min(first + kStep, events_.size()); ++i) {
      add_clipped(events_[i], from_ns, to_ns, sums);
    }
  }
}

}  // namespace hostir::traces
