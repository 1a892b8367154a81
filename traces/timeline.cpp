#include "traces/timeline.h"

#include <algorithm>
#include <cstddef>

namespace hostir::traces {

using interp::TimelineSlice;

namespace {

// Times in a damaged log may be anything; within these bounds no difference overflows.
constexpr int64_t kMaxTime = int64_t{1} << 61;
bool is_sane(int64_t ns) { return ns > -kMaxTime && ns < kMaxTime; }

bool before(const Timeline::Event& a, const Timeline::Event& b) {
  return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.id() < b.id();
}

}  // namespace

std::optional<Timeline::Event> Timeline::event_of(const interp::LogEvent& event) {
  const int64_t begin = event.begin_ns();
  const int64_t end = event.end_ns();
  if (!is_sane(begin) || !is_sane(end) || end < begin) return std::nullopt;
  if (event.id < 0 || event.id > kMaxId || event.instruction > kMaxInstruction) return std::nullopt;
  return Event{begin, end, static_cast<uint64_t>(event.id) << 24 | event.instruction};
}

void Timeline::push(const Event& event) {
  const bool in_order =
      sorted_ == events_.size() && (events_.empty() || !before(event, events_.back()));
  end_ns_ = events_.empty() ? event.end_ns : std::max(end_ns_, event.end_ns);
  events_.push_back(event);
  if (in_order) ++sorted_;
}

void Timeline::add(const interp::LogEvent& event) {
  if (const auto known = event_of(event)) push(*known);
}

void Timeline::add(const std::vector<Event>& events) {
  for (const Event& event : events) push(event);
}

void Timeline::clear() { *this = Timeline(); }

// What came out of order is sorted on its own, then merged into the part that it reaches back to.
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
  size_t unchanged = built_;  // nodes of the level below that are as they were
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
        sum.busy_ns = std::min(sum.busy_ns + n.busy_ns, kMaxTime);
        sum.count += n.count;
      }
      nodes.push_back(sum);
    }
  }
  built_ = events_.size();
}

struct Timeline::View {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  int64_t column_ns = 1;  // width of a pixel
  std::vector<TimelineSlice> slices;
  int64_t last_column = -1;

  void add(const Timeline& timeline, const Node& n) {
    const Event& longest = timeline.events_[n.longest];
    const int64_t column = (std::max(n.begin_ns, from_ns) - from_ns) / column_ns;
    if (!slices.empty() && column == last_column) {
      TimelineSlice& last = slices.back();
      if (longest.end_ns - longest.begin_ns > last_longest) {
        last.event = longest.id();
        last.instruction = longest.instruction();
        last_longest = longest.end_ns - longest.begin_ns;
      }
      last.end_ns = std::max(last.end_ns, n.end_ns);
      last.count += n.count;
      last.busy_ns = std::min(last.busy_ns + n.busy_ns, last.end_ns - last.begin_ns);
      return;
    }
    last_column = column;
    last_longest = longest.end_ns - longest.begin_ns;
    slices.push_back({n.begin_ns, n.end_ns, longest.id(), longest.instruction(), n.count,
                      std::min(n.busy_ns, n.end_ns - n.begin_ns)});
  }

 private:
  int64_t last_longest = 0;
};

void Timeline::descend(View& view, size_t level, size_t index) const {
  const Node n = node(level, index);
  if (n.end_ns < view.from_ns || n.begin_ns >= view.to_ns) return;
  if (level == 0 || n.end_ns - n.begin_ns <= view.column_ns) return view.add(*this, n);
  const size_t first = index * kFactor;
  const size_t last = std::min(first + kFactor, level_size(level - 1));
  for (size_t i = first; i < last; ++i) descend(view, level - 1, i);
}

void Timeline::sum(int64_t from_ns, int64_t to_ns, std::vector<Sum>& sums) const {
  if (to_ns <= from_ns) return;
  // Nodes that end before the range are passed over; those that begin after it end the walk.
  constexpr size_t kStep = kFactor;
  for (size_t first = 0; first < events_.size(); first += kStep) {
    if (events_[first].begin_ns >= to_ns) return;
    const size_t group = first / kStep;
    const bool known = !levels_.empty() && group < levels_[0].size();
    if (known && levels_[0][group].end_ns < from_ns) continue;
    for (size_t i = first; i < std::min(first + kStep, events_.size()); ++i) {
      const Event& e = events_[i];
      if (e.begin_ns >= to_ns || e.end_ns < from_ns || e.instruction() >= sums.size()) continue;
      Sum& sum = sums[e.instruction()];
      ++sum.count;
      sum.busy_ns += std::min(e.end_ns, to_ns) - std::max(e.begin_ns, from_ns);
    }
  }
}

std::vector<TimelineSlice> Timeline::view(int64_t from_ns, int64_t to_ns, int32_t columns) const {
  View view;
  view.from_ns = std::clamp(from_ns, -kMaxTime, kMaxTime);
  view.to_ns = std::clamp(to_ns, -kMaxTime, kMaxTime);
  if (view.to_ns <= view.from_ns || columns <= 0 || events_.empty()) return {};
  view.column_ns = std::max<int64_t>(1, (view.to_ns - view.from_ns) / columns);
  size_t top = 0;
  while (top < levels_.size() && level_size(top) > 1) ++top;
  for (size_t i = 0; i < level_size(top); ++i) descend(view, top, i);
  return std::move(view.slices);
}

}  // namespace hostir::traces
