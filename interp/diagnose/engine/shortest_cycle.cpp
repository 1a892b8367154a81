// 1. Find the strongly connected components (Tarjan): every cycle lies in one of them.
// 2. Search breadth-first for the shortest cycle through the node with most edges of each. Remove
//    that node, and repeat with the components of what is left. Waits gather at few nodes: usually
//    the first removal leaves no cycle.
// 3. Search from the lowest nodes on for a cycle of that length.
#include "interp/diagnose/engine/shortest_cycle.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hostir::diagnose {

namespace {

using Successors = std::vector<std::vector<uint32_t>>;

constexpr uint32_t kNoNode = std::numeric_limits<uint32_t>::max();

// Without recursion: a chain of waits can be as long as the run has ranks.
class Components {
 public:
  explicit Components(const Successors& next)
      : next_(next), of_(next.size(), kNoNode), index_(next.size(), kNoNode), low_(next.size(), 0) {
    for (uint32_t n = 0; n < next.size(); ++n) {
      if (index_[n] == kNoNode) visit(n);
    }
  }
  /// By node, the number of its component.
  const std::vector<uint32_t>& of() const { return of_; }

 private:
  struct Step {
    uint32_t node = 0;
    size_t edge = 0;  // the next one to follow
  };

  void visit(uint32_t root) {
    std::vector<Step> path;
    enter(root, path);
    while (!path.empty()) {
      Step& step = path.back();
      const uint32_t node = step.node;
      if (step.edge < next_[node].size()) {
        const uint32_t to = next_[node][step.edge++];
        if (index_[to] == kNoNode) {
          enter(to, path);
        } else if (of_[to] == kNoNode) {
          low_[node] = std::min(low_[node], index_[to]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) low_[path.back().node] = std::min(low_[path.back().node], low_[node]);
      if (low_[node] == index_[node]) close(node);
    }
  }
  void enter(uint32_t node, std::vector<Step>& path) {
    index_[node] = low_[node] = entered_++;
    open_.push_back(node);
    path.push_back({node, 0});
  }
  void close(uint32_t node) {
    uint32_t last = kNoNode;
    do {
      last = open_.back();
      open_.pop_back();
      of_[last] = components_;
    } while (last != node);
    ++components_;
  }

  const Successors& next_;
  std::vector<uint32_t> of_;
  std::vector<uint32_t> index_;  // in the order of entering
  std::vector<uint32_t> low_;
  std::vector<uint32_t> open_;  // entered, and not in a component yet
  uint32_t entered_ = 0;
  uint32_t components_ = 0;
};

class Search {
 public:
  explicit Search(const Successors& next)
      : next_(next), via_(next.size(), kNoNode), depth_(next.size(), 0) {}

  // The shortest cycle through `start` with fewer than `fewer` nodes; empty if there is none.
  std::vector<uint32_t> back_to(uint32_t start, size_t fewer) {
    std::vector<uint32_t> queue = {start};
    std::vector<uint32_t> cycle;
    depth_[start] = 1;
    for (size_t i = 0; i < queue.size() && cycle.empty() && depth_[queue[i]] < fewer; ++i) {
      for (const uint32_t to : next_[queue[i]]) {
        if (to == start) {
          for (uint32_t n = queue[i]; n != start; n = via_[n]) cycle.push_back(n);
          cycle.push_back(start);
          std::ranges::reverse(cycle);
          break;
        }
        if (via_[to] != kNoNode) continue;
        via_[to] = queue[i];
        depth_[to] = depth_[queue[i]] + 1;
        queue.push_back(to);
      }
    }
    for (const uint32_t n : queue) via_[n] = kNoNode;
    return cycle;
  }

 private:
  const Successors& next_;
  std::vector<uint32_t> via_;  // kNoNode: not reached in this search
  std::vector<size_t> depth_;  // nodes on the path from the start
};

// Removes the edges that lead from one component to another. Returns the node with most edges of
// each component that has some.
std::vector<uint32_t> keep_inner_edges(Successors& next) {
  const Components components(next);
  const std::vector<uint32_t>& of = components.of();
  std::vector<uint32_t> widest(next.size(), kNoNode);  // by component
  for (uint32_t n = 0; n < next.size(); ++n) {
    std::erase_if(next[n], [&](uint32_t to) { return of[to] != of[n]; });
    uint32_t& known = widest[of[n]];
    if (!next[n].empty() && (known == kNoNode || next[known].size() < next[n].size())) known = n;
  }
  std::erase(widest, kNoNode);
  return widest;
}

// The number of nodes of the shortest cycle; 0: there is none.
size_t shortest_length(Successors rest, std::vector<uint32_t> widest) {
  constexpr size_t kEnough = 2;
  size_t best = SIZE_MAX;
  while (!widest.empty() && best > kEnough) {
    Search search(rest);
    for (const uint32_t n : widest) {
      const size_t length = search.back_to(n, best).size();
      if (length > 0) best = length;
    }
    for (const uint32_t n : widest) rest[n].clear();
    widest = keep_inner_edges(rest);
  }
  return best == SIZE_MAX ? 0 : best;
}

}  // namespace

std::vector<uint32_t> shortest_cycle(Successors next) {
  std::vector<uint32_t> widest = keep_inner_edges(next);
  const size_t length = shortest_length(next, std::move(widest));
  Search search(next);
  for (uint32_t n = 0; length > 0 && n < next.size(); ++n) {
    if (next[n].empty()) continue;
    std::vector<uint32_t> cycle = search.back_to(n, length + 1);
    if (!cycle.empty()) return cycle;
  }
  return {};
}

}  // namespace hostir::diagnose
