// The queues of a run: what each rank has issued and not finished, in order, and the head of each
// queue.
//
// If tasks are known, a queue is a stream of a rank. For sources without streams, it is a rank's
// calls on one communicator, which also execute in order; sends and receives of such a source form
// one queue per peer.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "interp/model/run.h"

namespace hostir::diagnose {

/// One member of a meeting, or one side of a send/recv.
struct MemberRef {
  const model::Meeting* meeting = nullptr;
  const model::SendRecv* pair = nullptr;
  const model::Member* member = nullptr;
  model::CommunicatorId communicator() const {
    return meeting ? meeting->communicator : pair->communicator;
  }
  uint64_t sequence() const { return meeting ? meeting->sequence : pair->ordinal; }
  bool sends() const { return pair != nullptr && member == &pair->send; }
  /// Of a send or recv.
  model::Rank peer() const { return sends() ? pair->target : pair->source; }
  const model::Member& other_side() const { return sends() ? pair->recv : pair->send; }
};

struct QueueKey {
  model::Rank rank = model::kNoRank;
  model::StreamId stream;
  model::CommunicatorId communicator;  // if there is no stream
  model::Rank peer = model::kNoRank;   // sends and receives without a stream
  friend auto operator<=>(const QueueKey&, const QueueKey&) = default;
};

/// The first unfinished task of a queue, or its first unfinished calls: those issued together.
struct QueueHead {
  const model::Task* task = nullptr;
  std::vector<MemberRef> members;  // its meetings, in order
};

class Queues {
 public:
  explicit Queues(const model::Run& run);
  const std::map<QueueKey, QueueHead>& heads() const { return heads_; }
  /// The head of the queue that contains the member's work; null if it is in no queue (finished,
  /// not issued).
  const QueueHead* head_of(const MemberRef& ref) const;
  static QueueKey key_of(const MemberRef& ref);
  /// True if the member is at the head of its queue and all its waits are done.
  bool is_ready(const MemberRef& ref) const;
  const model::Task* unfinished_task(model::TaskId id) const;

 private:
  void add_members();
  void add(const MemberRef& ref);

  const model::Run& run_;
  std::map<QueueKey, QueueHead> heads_;
  std::map<model::TaskId, std::vector<MemberRef>> members_of_;
};

}  // namespace hostir::diagnose
