// Computes when everything happens: the discrete-event simulation of streams, engines and
// rendezvous.
//
// Pure timing in whole virtual nanoseconds, no values. A task starts at max(issued, its stream's
// predecessor, awaited events, last member's arrival, engine free). There is one compute engine per
// rank, and one outgoing and one incoming engine per link end, each first come first served by
// (ready, rank, stream, issue order). The invariant: times depend on what is issued, never on when
// `advance` is called or which host ran first. Hosts may be far apart in virtual time. So a task
// gets its engine, and an event happens, only when nothing that could still be issued or become
// ready comes before it; the lower bounds in timeline_bounds.cpp decide that. Hosts must take at
// least 1 ns per instruction. Copying a Timeline is a checkpoint. Absent: what a task does, and how
// its duration is determined.
#pragma once

#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "interp/core/backend.h"
#include "interp/sim/rank_set.h"

namespace hostir::sim {

using interp::CommIndex;
using interp::HostState;
using interp::MeetingKey;
using interp::Rank;
using interp::StreamIndex;
using interp::TaskId;

/// The index of a rank in a vector over ranks.
inline size_t index(Rank rank) { return static_cast<size_t>(rank); }

/// A task's part in one meeting.
struct TimedItem {
  MeetingKey key;
  uint32_t position = 0;  // sorts the arrivals: position in the group, or 0 sender 1 receiver
  std::span<const Rank> members;  // all ranks that arrive, once per arrival, by `position`; read
                                  // by add() only
  bool uses_out = true;           // engines of this rank
  bool uses_in = true;
  int64_t duration_ns = 1;  // the meeting takes the maximum over its members
  int64_t occupied_ns = 1;  // how long its engines are busy
  /// Send and recv that are not a rendezvous: the sender does not wait for the receiver while the
  /// bytes that were sent and not received fit into the connection's buffer. Equal on both sides.
  struct Buffered {
    int64_t bytes = 0;
    int64_t capacity_bytes = 0;  // at least `bytes`
  };
  std::optional<Buffered> buffered;
};

struct TimedTask {
  enum class Work : uint8_t { kNone, kCompute, kCommunication };
  TaskId id = interp::kNoTask;
  StreamIndex stream = 0;
  int64_t issued_ns = 0;
  std::vector<TaskId> waits_for;
  Work work = Work::kNone;
  int64_t duration_ns = 1;  // kCompute
  std::vector<TimedItem> items;
};

/// A point in the order of events. With its stream it gives first-come-first-served order. Events
/// use stream 0, so that events at equal times keep the order of issue, which is causal (a task
/// without work finishes together with what it waited for).
struct Moment {
  /// At equal times data arrives, then tasks finish, then tasks start.
  enum class Phase : uint8_t { kMeeting, kFinish, kStart };
  int64_t time_ns = 0;
  Phase phase = Phase::kFinish;
  Rank rank = 0;
  StreamIndex stream = 0;
  TaskId task = interp::kNoTask;
  uint32_t item = 0;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// One arrival at a meeting.
struct Arrival {
  uint32_t position = 0;
  TaskId task = interp::kNoTask;
  uint32_t item = 0;  // index into the task's items
  StreamIndex stream = 0;
  bool from_buffer = false;  // the bytes are in the connection's buffer; the task may be gone
  friend auto operator<=>(const Arrival&, const Arrival&) = default;
};

struct TimelineEvent {
  Moment at;
  int64_t queued_ns = 0;          // kFinish: when the task was ready
  int64_t started_ns = 0;         // kFinish
  std::vector<Arrival> arrivals;  // by position; empty unless it is a meeting
  std::vector<Rank> ranks;        // ranks whose memory the event accesses, each once
};

class Timeline {
 public:
  explicit Timeline(Rank rank_count);

  /// Tasks of one rank must be added in order of their numbers.
  void add(TimedTask task);
  /// Appends everything that happens now, sorted by moment. The cost depends on the hosts that
  /// moved and on what they let happen, not on the number of ranks.
  void advance(const interp::Hosts& hosts, std::vector<TimelineEvent>& out);
  bool idle() const { return in_flight_ == 0; }

 private:
  /// The lower bound of a time, as found in one round.
  struct Bound {
    uint64_t round = 0;
    int64_t ns = 0;
    bool busy = false;   // being computed: reaching it again closes a cycle
    bool exact = false;  // false: only known to exceed what the last caller needed
  };
  struct Node {
    TaskId id = interp::kNoTask;
    StreamIndex stream = 0;
    TimedTask::Work work = TimedTask::Work::kNone;
    enum class Phase : uint8_t { kWaiting, kReady, kCommitted, kGone } phase = Phase::kWaiting;
    int64_t ready_ns = 0;  // lower bound until kReady, then final
    int64_t duration_ns = 0;
    int64_t started_ns = 0;
    int64_t finished_ns = 0;
    uint32_t pending = 0;     // number of uncommitted dependencies
    uint32_t open_items = 0;  // number of uncommitted items
    std::vector<TaskId> dependencies;
    std::vector<TaskId> dependents;
    std::vector<MeetingKey> meetings;  // by item
    Bound bound;                       // of ready_ns
  };
  struct Meeting {
    std::vector<Arrival> arrivals;
    std::vector<Rank> members;
    std::vector<bool> arrived;  // by member
    size_t missing = 0;         // members that have not arrived
    size_t doubtful = 0;        // the member that prevented it last time
    uint32_t ready_count = 0;
    int64_t ready_ns = 0;
    int64_t duration_ns = 1;
    int64_t occupied_ns = 1;
    std::vector<size_t> engines;
    size_t needed = 0;                     // entries until it is ready
    std::optional<MeetingKey> room_after;  // into_buffer: this transfer must be received first
    Bound bound;
  };
  /// The bytes between a sender and a receiver.
  struct Buffer {
    struct Sent {
      uint64_t sequence;
      int64_t bytes;
    };
    std::deque<Sent> sent;                    // what counts against the capacity, oldest first
    int64_t bytes = 0;                        // their sum
    std::optional<uint64_t> room_after;       // the last one that had to be received to make room
    std::map<uint64_t, int64_t> received_ns;  // by sequence
  };
  struct Queue {
    uint64_t base = 0;  // task number of nodes.front()
    std::deque<Node> nodes;
    std::map<StreamIndex, TaskId> tails;
    std::map<StreamIndex, std::deque<TaskId>> uncommitted;
    std::set<Moment> ready_compute;
    std::set<Moment> events;  // those of `events_` that access this rank's memory
  };
  struct PendingEvent {
    TimelineEvent event;
    size_t doubtful = 0;  // index into `event.ranks`: the rank that last prevented it
  };
  struct ReadyMeeting {
    Moment order;
    MeetingKey key;
    friend auto operator<=>(const ReadyMeeting&, const ReadyMeeting&) = default;
  };
  enum class Engine : uint8_t { kCompute, kLink };

  // timeline.cpp
  Node* find(TaskId id);
  void depend(Node& node, TaskId on);
  void arrive(Node& node, const TimedItem& item, uint32_t index, int64_t issued_ns);
  void send_to_buffer(Node& node, const TimedItem& item, Arrival arrival, int64_t issued_ns);
  void make_room(Buffer& buffer, const TimedItem& item, int64_t issued_ns);
  void join(Meeting& meeting, const TimedItem& item, Arrival arrival);
  void become_ready(Node& node);
  void enter_meeting(int64_t ready_ns, const MeetingKey& key);
  void hand_on(MeetingKey key, int64_t finished_ns);
  void commit(Node& node, int64_t started, int64_t finished);
  void process_newly_ready();
  void commit_compute(Rank rank, const Moment& order);
  void commit_meeting(const ReadyMeeting& ready);
  void post(TimelineEvent event);
  void note_fronts(Rank rank);
  void note_open(Rank rank);
  Moment order_of(const Node& node, int64_t ready) const;

  // timeline_advance.cpp
  void take_host(Rank rank, const HostState& state);
  bool commit_pass();
  bool release_pass(std::vector<TimelineEvent>& out);
  bool force(std::vector<TimelineEvent>& out);
  bool compute_pass();
  bool is_safe(const ReadyMeeting& candidate, Meeting& meeting);
  bool may_happen(PendingEvent& pending);
  void release(Moment at, std::vector<TimelineEvent>& out);
  void drop_gone(Rank rank);

  // timeline_bounds.cpp
  bool is_known(const Bound& bound, int64_t enough) const;
  int64_t host_bound(Rank rank, int64_t enough);
  int64_t ready_bound(Node& node, int64_t enough);
  int64_t finish_bound(TaskId id, int64_t enough);
  int64_t meeting_bound(const MeetingKey& key, int64_t enough);
  int64_t end_bound(const MeetingKey& key, int64_t enough);
  int64_t buffer_bound(const MeetingKey& key, int64_t enough);
  bool engine_safe(Rank rank, Engine engine, const Moment& candidate, const MeetingKey* meeting);
  int64_t engine_bound(Node& node, Engine engine, const MeetingKey* meeting, int64_t enough);
  int64_t next_meeting_bound(Node& node, const MeetingKey* but, int64_t enough);
  bool memory_safe(Rank rank, const Moment& moment);

  std::vector<Queue> ranks_;
  std::map<Moment, PendingEvent> events_;
  std::vector<int64_t> engine_free_ns_;  // compute, out, in of every rank
  std::vector<uint64_t> engine_taken_;   // the pass in which a meeting reserved the engine
  uint64_t pass_ = 0;
  // The first entry of every rank; kNothing if there is none.
  static constexpr int64_t kNothing = INT64_MAX;
  std::vector<int64_t> first_compute_ns_;
  std::vector<int64_t> first_event_ns_;
  std::map<MeetingKey, Meeting> meetings_;
  std::set<ReadyMeeting> ready_meetings_;
  std::map<MeetingKey, std::vector<MeetingKey>> waits_for_room_;  // by the transfer to be received
  std::map<MeetingKey, Buffer> buffers_;  // by the key of a connection's first transfer
  std::deque<TaskId> newly_ready_;
  uint64_t in_flight_ = 0;
  uint64_t round_ = 0;

  struct Host {
    HostState state{HostState::Kind::kDone, 0, interp::kNoTask};
    bool resumed = false;  // what it waits for has finished at `resumed_ns`, in this advance()
    int64_t resumed_ns = 0;
    Bound bound;
  };
  std::vector<Host> hosts_;
  size_t runnable_ = 0;                 // of the hosts
  std::vector<int64_t> open_until_ns_;  // a runnable host may issue up to this time; else kNothing
  // Ranks with an event before `open_until_ns_`; advance() visits only these.
  RankSet open_compute_;
  RankSet open_events_;
  std::vector<Rank> resumed_;   // hosts of the current advance()
  std::vector<Rank> finished_;  // ranks with tasks that have been dropped since
  int depth_ = 0;
};

}  // namespace hostir::sim
