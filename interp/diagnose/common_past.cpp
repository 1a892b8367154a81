// 1. For each rank, the calls that completed and are equal in both jobs.
// 2. If one member's past has fewer calls of a group than another's, or a send lacks its recv,
//    shortens the longer past, until all agree.
#include "interp/diagnose/common_past.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace hostir::diagnose {

using model::Rank;
using Shape = JobCall::Shape;

namespace {

class PastFinder {
 public:
  PastFinder(const model::Run& run, const JobCalls& recorded, const JobCalls& repaired)
      : run_(run), job_(recorded), past_(recorded.size(), 0), made_(recorded.size()) {
    for (size_t r = 0; r < job_.size(); ++r) begin(r, repaired[r]);
  }

  std::vector<size_t> find() {
    for (size_t r = 0; r < job_.size(); ++r) {
      for (const auto& [queue, count] : made_[r]) changed_.emplace_back(r, queue);
    }
    while (!changed_.empty()) {
      const auto [rank, queue] = changed_.back();
      changed_.pop_back();
      level(rank, queue);
    }
    return std::move(past_);
  }

 private:
  /// The calls of one rank that meet calls of other ranks in order.
  struct Queue {
    uint32_t communicator = 0;
    Shape shape = Shape::kCollective;
    Rank peer = model::kNoRank;
    friend auto operator<=>(const Queue&, const Queue&) = default;
  };
  static Queue queue_of(const JobCall& call) {
    return {call.communicator.index, call.shape,
            call.shape == Shape::kCollective ? model::kNoRank : call.peer};
  }

  static bool same(const JobCall& a, const JobCall& b) {
    return a.order == b.order && queue_of(a) == queue_of(b) && a.call == b.call;
  }

  void begin(size_t rank, const std::vector<JobCall>& repaired) {
    const auto& line = job_[rank];
    size_t n = 0;
    while (n < line.size() && n < repaired.size() && line[n].completed &&
           same(line[n], repaired[n]))
      ++n;
    past_[rank] = whole_launch(rank, n);
    for (size_t i = 0; i < past_[rank]; ++i) ++made_[rank][queue_of(line[i])];
  }
  // Calls issued together stay together.
  size_t whole_launch(size_t rank, size_t n) const {
    const auto& line = job_[rank];
    while (n > 0 && n < line.size() && line[n].order == line[n - 1].order) --n;
    return n;
  }

  size_t made(size_t rank, const Queue& queue) const {
    const auto at = made_[rank].find(queue);
    return at == made_[rank].end() ? 0 : at->second;
  }

  // Shortens the past of the other members to that of `rank`, or the past of `rank` to theirs.
  void level(size_t rank, const Queue& queue) {
    if (queue.shape != Shape::kCollective) {
      const Queue other = {queue.communicator,
                           queue.shape == Shape::kSend ? Shape::kRecv : Shape::kSend,
                           static_cast<Rank>(rank)};
      const auto peer = static_cast<size_t>(queue.peer);
      const bool known = queue.peer >= 0 && peer < job_.size();
      const size_t least = known ? std::min(made(rank, queue), made(peer, other)) : 0;
      shorten(rank, queue, least);
      if (known) shorten(peer, other, least);
      return;
    }
    const model::Communicator* group = run_.find(model::CommunicatorId(queue.communicator));
    if (group == nullptr || !group->members) return shorten(rank, queue, 0);
    size_t least = made(rank, queue);
    for (const Rank member : *group->members) {
      const auto m = static_cast<size_t>(member);
      least = member >= 0 && m < job_.size() ? std::min(least, made(m, queue)) : 0;
    }
    for (const Rank member : *group->members) {
      if (member >= 0 && static_cast<size_t>(member) < job_.size())
        shorten(static_cast<size_t>(member), queue, least);
    }
  }

  void shorten(size_t rank, const Queue& queue, size_t count) {
    while (made(rank, queue) > count) {
      const size_t n = whole_launch(rank, past_[rank] - 1);
      for (size_t i = n; i < past_[rank]; ++i) {
        const Queue dropped = queue_of(job_[rank][i]);
        --made_[rank][dropped];
        changed_.emplace_back(rank, dropped);
      }
      past_[rank] = n;
    }
  }

  const model::Run& run_;
  const JobCalls& job_;
  std::vector<size_t> past_;
  std::vector<std::map<Queue, size_t>> made_;  // by rank: calls of its past
  std::vector<std::pair<size_t, Queue>> changed_;
};

}  // namespace

std::vector<size_t> common_past(const model::Run& run, const JobCalls& recorded,
                                const JobCalls& repaired) {
  return PastFinder(run, recorded, repaired).find();
}

void drop_past(const std::vector<size_t>& past, JobCalls& job) {
  for (size_t r = 0; r < job.size() && r < past.size(); ++r)
    job[r].erase(job[r].begin(), job[r].begin() + static_cast<ptrdiff_t>(past[r]));
}

}  // namespace hostir::diagnose
