// Internals of the backend, for the files that implement it: setup.cpp, memory.cpp, launches.cpp,
// queues.cpp (which tasks can be submitted), meetings.cpp (communication), graphs.cpp (repeated
// loop bodies), times.cpp (which tasks are measured), completions.cpp (what has finished).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interp/core/code/launch_operands.h"
#include "interp/cuda/activities.h"
#include "interp/cuda/backend.h"
#include "interp/cuda/exchange.h"
#include "interp/cuda/network.h"
#include "kernels/common/launch_plans.h"

namespace hostir::cuda {

using interp::AllocationId;
using interp::BufferRef;
using interp::CodeIndex;
using interp::CommIndex;
using interp::MeetingKey;
using interp::Rank;
using interp::StreamIndex;
using interp::TaskId;

/// An event that several tasks may share (the end of one is the start of the next); returned when
/// the last owner drops it. Its time is read once.
class Event {
 public:
  explicit Event(Device& device) : device_(device), handle_(device.take_event()) {}
  ~Event() { device_.give_back(handle_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  EventHandle handle() const { return handle_; }
  /// Valid once the event has happened.
  int64_t time_ns() {
    if (time_ns_ == kUnknown) time_ns_ = device_.time_ns(handle_);
    return time_ns_;
  }

 private:
  static constexpr int64_t kUnknown = INT64_MIN;
  Device& device_;
  EventHandle handle_;
  int64_t time_ns_ = kUnknown;
};
using EventRef = std::shared_ptr<Event>;
/// Without measuring all tasks (sampled_times), a stream records an event after tasks that take
/// about this long. An event costs the device up to 4 us.
inline constexpr int64_t kWindowNs = 400'000;
/// An id in Activities, released when the last task that shares it is done.
using ActivityRef = std::shared_ptr<const uint64_t>;

/// A kernel for one placement of a launch's operands.
struct KernelPlan {
  kernels::BoundKernel bound;
  std::map<const Device*, std::shared_ptr<const DeviceKernel>> kernels;  // by device
};

/// The fixed part of a launch on a rank.
struct LaunchTaskPlan final : interp::TaskPlan {
  std::shared_ptr<const DeviceKernel> kernel;
  interp::LaunchRoles roles;
  std::vector<bool> dense;  // by buffer: its bytes are its box in row-major order
  bool all_dense = true;
  // The addresses of the last launch, which most launches repeat.
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<std::pair<AllocationId, int64_t>> at;  // the operands: allocation, offset
  uint64_t memory_version = 0;                       // of the rank then; 0: nothing launched yet
};

class DeviceBackend final : public interp::Backend {
 public:
  DeviceBackend(BackendOptions options, std::unique_ptr<RunClock> clock,
                std::vector<std::unique_ptr<Device>> devices);
  ~DeviceBackend() override;

  interp::Capabilities capabilities() const override;
  Expected<void> prepare(const interp::Code& code) override;
  int64_t now_ns() const override { return keeps_times() ? clock_->now_ns() : coarse_now_ns(); }
  Expected<void> write(Rank rank, AllocationId allocation, const Placement& placement,
                       int64_t offset_bytes, std::span<const std::byte> data) override;
  Expected<std::unique_ptr<interp::TaskPlan>> plan(const interp::Task& task) override;
  const Error* issue(std::span<const interp::Task> tasks) override;
  interp::Progress poll(const interp::Hosts& hosts, interp::CompletionSink& sink) override;
  Expected<Tensor> read(Rank rank, const BufferRef& buffer, const Box& box) const override;
  void set_value_mode(ValueMode mode) override { value_mode_ = mode; }
  void set_stepwise(bool stepwise) override { options_.stepwise = stepwise; }
  void set_times(Times times) override { options_.coarse_times = times == Times::kCoarse; }
  bool restart() override;
  std::string describe(CodeIndex code, Rank rank) const override;
  kernels::KernelWork kernel_work(CodeIndex code, Rank rank) const override;
  std::vector<std::pair<std::string, std::string>> properties() const override;
  interp::Peers* peers() override { return rendezvous_.get(); }

 private:
  enum class Work : uint8_t { kNone, kLaunch, kAlloc, kFree, kCommunication };

  /// A task to submit. The caller owns the spans until keep().
  struct Held {
    TaskId id = interp::kNoTask;
    Rank rank = 0;
    CodeIndex code = 0;
    StreamIndex stream = 0;
    Work work = Work::kNone;
    bool memory_is_planned = false;  // alloc, free: plan_memory() has served it
    int64_t issued_ns = 0;
    LaunchTaskPlan* plan = nullptr;
    std::span<const TaskId> waits;
    std::span<const BufferRef> buffers;
    std::span<const interp::CommunicationItem> items;
    // Progress of a communication.
    bool arrived = false;
    ActivityRef activity;  // null: its work is not measured
    size_t open_meetings = 0;
    size_t absent_partners = 0;  // of sends and recvs between devices
    int64_t wire_call = -1;
    EventRef queued;
    EventRef started;

    void keep();
    bool measured = false;  // has its own events
    std::vector<TaskId> kept_waits;
    std::vector<BufferRef> kept_buffers;
    std::vector<interp::CommunicationItem> kept_items;
  };
  struct Span {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
  };
  /// A task submitted to the device.
  struct InFlight {
    TaskId id = interp::kNoTask;
    int64_t issued_ns = 0;
    EventRef queued;   // null: unknown
    EventRef started;  // null: unknown
    EventRef ended;    // null: until an event that a later task shares is recorded
    std::vector<TaskId> waits;
    std::vector<BufferRef> written;  // for summaries
    int64_t wire_call = -1;
    ActivityRef activity;
    std::optional<ActivitySpan> span;
    std::optional<Span> estimate;  // of its times
    size_t timer = 0;              // index into durations_
    bool measured = false;         // the time between its events covers this task alone
    bool joins = false;            // runs in one graph with the task before it
    bool on_host_clock = false;    // nothing ran on the device: complete at issue
  };
  /// Tasks in the order of submission. Unlike a deque it keeps its memory: a launch that waits
  /// for nothing does not allocate.
  class Flights {
   public:
    bool empty() const { return first_ == tasks_.size(); }
    size_t size() const { return tasks_.size() - first_; }
    InFlight& front() { return tasks_[first_]; }
    const InFlight& front() const { return tasks_[first_]; }
    InFlight& back() { return tasks_.back(); }
    auto begin() { return tasks_.begin() + static_cast<std::ptrdiff_t>(first_); }
    auto end() { return tasks_.end(); }
    auto begin() const { return tasks_.begin() + static_cast<std::ptrdiff_t>(first_); }
    auto end() const { return tasks_.end(); }
    auto rbegin() { return tasks_.rbegin(); }
    auto rend() { return std::make_reverse_iterator(begin()); }
    InFlight& add() { return tasks_.emplace_back(); }
    void pop_front() {
      tasks_[first_++] = {};
      if (2 * first_ < tasks_.size()) return;
      tasks_.erase(tasks_.begin(), begin());
      first_ = 0;
    }

   private:
    std::vector<InFlight> tasks_;  // those before `first_` are over
    size_t first_ = 0;
  };
  /// What poll() reports, and the buffers whose values it reports.
  using Delivery = std::pair<interp::Completion, std::vector<BufferRef>>;
  /// The tasks between two events of a stream.
  struct Window {
    Span span;
    size_t tasks_left = 0;  // not delivered yet
    int64_t total_ns = 0;   // estimated
    int64_t done_ns = 0;    // of `total_ns`, delivered
    Span last;              // the last task's estimate
  };
  /// What an instruction on a rank, or a graph, took when it was measured.
  struct Duration {
    uint64_t runs = 0;
    uint64_t measured = 0;
    int64_t ns = 0;
  };
  /// A freed block that is kept for the next allocation of its size.
  struct SpareBlock {
    std::byte* data = nullptr;
    uint64_t marks = 0;  // Queue::marks when it was freed
  };
  struct Queue {
    Device* device = nullptr;
    StreamHandle stream = nullptr;
    std::deque<Held> held;
    Flights in_flight;
    std::byte* scratch = nullptr;  // shared by consecutive launches
    int64_t scratch_bytes = 0;
    std::map<int64_t, std::vector<SpareBlock>> spare;  // freed on this stream, by size
    int64_t spare_bytes = 0;
    EventRef marked;          // the last event recorded
    uint64_t marks = 0;       // events recorded
    int64_t finished_ns = 0;  // of the last delivered completion
    int64_t unmarked_ns = 0;  // estimated duration since the last event
    Window window;            // being delivered
    bool awake = false;
  };
  struct Memory {
    std::byte* data = nullptr;
    int64_t bytes = 0;
    bool is_parameter = false;  // restart() keeps it
  };
  struct RankMemory {
    std::unordered_map<uint32_t, Memory> blocks;  // by allocation
    uint64_t version = 1;                         // changes when an address does
  };
  /// A meeting on one device.
  struct Meeting {
    Exchange exchange;
    std::vector<Queue*> queues;  // by position; nullptr: not arrived
    std::vector<Held*> tasks;    // parallel to `queues`
    size_t arrived = 0;
    // A send that did not wait for its recv: `exchange` has the buffer as the sender's input.
    std::byte* buffer = nullptr;
    EventRef filled;
  };
  /// A send or recv whose partner has not arrived.
  struct Early {
    Queue* queue = nullptr;
    Held* task = nullptr;
  };
  /// Messages from one rank to another that are buffered, as Machine::p2p_buffer_bytes allows.
  struct Connection {
    int64_t bytes = 0;               // in buffers
    EventRef emptied;                // the last recv from a buffer
    std::deque<MeetingKey> waiting;  // sends without room, in order
  };
  /// A rank's tasks in one iteration of a loop, in order of issue.
  struct Body {
    interp::LoopPathId path = 0;
    std::vector<Held> tasks;
  };
  struct RankBodies {
    interp::LoopPathId path = 0;
    std::vector<Held> tasks;  // of the iteration that is not complete yet
    std::deque<Body> closed;
  };
  /// Bodies that are submitted together, because their ranks meet in them.
  struct Unit {
    std::vector<Body> bodies;
    std::vector<uint64_t> words;  // equal for units that do the same
    std::vector<Queue*> queues;
    std::unordered_set<TaskId> awaited;  // by other tasks of the unit
    std::vector<TaskId> outside;         // tasks in flight that the unit waits for
    bool may_start = true;               // nothing before it is held
    bool crosses_devices = false;        // ranks on different devices meet in it
  };
  struct KnownUnit {
    std::vector<uint64_t> words;
    CodeIndex code = 0;  // its first instruction
    std::string refusal = {};
    std::unique_ptr<DeviceGraph> graph = nullptr;
    uint64_t launches = 0;
  };

  // setup.cpp
  Expected<void> place(const interp::Code& code);
  Expected<void> meet_processes();
  Expected<void> connect(const interp::Code& code);
  bool is_mixed(const interp::Communicator& comm) const;
  const interp::Communicator* find_mixed(const interp::Code& code) const;
  bool needs_network(const interp::Code& code) const;
  bool is_local(Rank rank) const { return device_of_[static_cast<size_t>(rank)] != nullptr; }
  Queue& queue(Rank rank, StreamIndex stream) {
    return queues_[static_cast<size_t>(rank) * streams_ + stream];
  }

  // memory.cpp
  Memory* memory(Rank rank, AllocationId id);
  void forget(Rank rank, AllocationId id);
  std::byte* address(Rank rank, const BufferRef& ref);
  Side side(Rank rank, const BufferRef& ref);
  bool allocate(Rank rank, AllocationId id, int64_t bytes, Device& device, StreamHandle stream);
  bool allocate_spare(Queue& queue, Rank rank, AllocationId id, int64_t bytes);
  std::byte* take_spare(Queue& from, int64_t bytes, Queue& queue);
  static void keep_spare(Queue& queue, const Memory& block);
  bool may_keep_spare(const Queue& queue, int64_t bytes) const;
  void free_block(Queue& queue, const Memory& block);
  static void release_spare(Queue& queue);
  void* take_memory(Device& device, int64_t bytes, StreamHandle stream);
  bool give_up_spare(const Device& device);

  // launches.cpp
  Expected<KernelPlan*> find_kernel(CodeIndex code, Rank rank,
                                    const interp::LaunchPlacements& operands);
  Expected<std::shared_ptr<const DeviceKernel>> kernel_on(KernelPlan& plan, Device& device);
  void launch(Queue& queue, const Held& task);
  void find_addresses(const Held& task, LaunchTaskPlan& plan);
  void* take_scratch(Queue& queue, int64_t bytes);
  void copy_view(Queue& queue, const BufferRef& ref, std::byte* view, std::byte* dense,
                 bool to_dense);

  // queues.cpp
  Held held_of(const interp::Task& task) const;
  const Error* refusal_of(const interp::Task& task);
  void wake(Queue& queue);
  void pump();
  bool hand_over(Queue& queue, Held& task);
  bool waits_are_enqueued(const Held& task) const;
  void enqueue_waits(Queue& queue, const Held& task);
  void enqueue(Queue& queue, Held& task);
  void finish_enqueued(Queue& queue, Held& task);
  void delay(Queue& queue, const Held& task);
  static EventRef mark(Queue& queue);
  static void mark_tail(Queue& queue);
  static void share_event(Queue& queue, const EventRef& event);
  bool happens_at_once(const Queue& queue, const Held& task) const;
  bool has_named_event(const Held& task) const;
  void fail_task(TaskId task, std::string id, std::string what);

  // meetings.cpp
  bool meets_on_device(Rank rank, const interp::CommunicationItem& item) const;
  bool meets_here(Rank rank, const interp::CommunicationItem& item) const {
    return meets_on_device(rank, item) || meets_by_copies(rank, item);
  }
  Exchange exchange_of(Rank rank, const interp::CommunicationItem& item) const;
  Member member_of(Rank rank, const interp::CommunicationItem& item);
  void arrive(Queue& queue, Held& task);
  bool awaits_partner(const interp::CommunicationItem& item) const;
  void start_call(Queue& queue, Held& task);
  void end_call(int64_t call);
  void join(Queue& queue, Held& task, const interp::CommunicationItem& item);
  bool may_buffer(const interp::CommunicationItem& item) const;
  void fill_buffers(Connection& connection);
  void receive(Meeting& meeting, Connection& connection);
  void run(Meeting& meeting);
  void finish_item(Queue& queue, Held& task, const EventRef& started, const ActivityRef& activity);
  void stage(std::vector<Move>& moves, const Held& task, Queue& queue);

  // peer_meetings.cpp
  class PeerMeeting;
  Expected<void> choose_transports(const interp::Code& code);
  bool can_copy_between_devices() const;
  bool meets_by_copies(Rank rank, const interp::CommunicationItem& item) const {
    return uses_copies_[item.comm] && !meets_on_device(rank, item);
  }
  void run_between_devices(Meeting& meeting);

  // graphs.cpp
  bool uses_graphs() const;
  bool keep_for_graph(const interp::Task& task);
  static void close_body(RankBodies& bodies);
  void end_bodies(std::span<const interp::HostState> hosts);
  void add_partners(const Body& body, std::vector<Rank>& ranks) const;
  std::vector<Rank> unit_of(Rank rank) const;
  void submit_units();
  void submit(Unit& unit);
  void submit_tasks(Unit& unit);
  bool plan_memory(Unit& unit);
  void describe_unit(Unit& unit);
  std::string why_not_captured(const Unit& unit) const;
  void capture(Unit& unit, KnownUnit& known);
  bool capture_task(Unit& unit, Held& task, std::unordered_map<TaskId, EventRef>& ends);
  void forget_capture(Unit& unit);
  void launch_graph(Unit& unit, const DeviceGraph& graph, size_t timer);
  void release_spare_of(Rank rank);
  std::string graphs_text() const;

  // times.cpp
  bool keeps_times() const { return !options_.coarse_times; }
  int64_t coarse_now_ns() const;
  bool measures_all() const;
  bool samples() const;
  size_t timer_of(const Held& task) const;
  size_t timer_of_graph(size_t graph);
  bool is_due(size_t timer);
  int64_t share_of(const InFlight& task) const;
  void add_unmarked(Queue& queue, const InFlight& task) const;
  void open_window(Queue& queue) const;
  void estimate(Queue& queue, InFlight& task);
  std::string times_text() const;

  // completions.cpp
  void collect(std::vector<Delivery>& out);
  bool collect_queue(Queue& queue, std::vector<Delivery>& out);
  interp::Completion complete(Queue& queue, InFlight& task) const;
  bool has_times(InFlight& task);
  Activities* activities();
  ActivityRef begin_activity();
  void end_activity(const ActivityRef& activity);
  void summarise(TaskId task, std::span<const BufferRef> written, interp::CompletionSink& sink);
  void look_for_failures();
  Error among_others(Error error, const Device& device) const;
  bool is_pending() const;
  bool is_stuck() const;
  interp::Progress progress();
  bool is_one_by_one() const;
  bool is_in_flight() const;
  bool may_start(Rank rank) const;
  void start_next();
  bool may_look_later(std::span<const interp::HostState> hosts);
  void drain();

  BackendOptions options_;
  std::unique_ptr<RunClock> clock_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::unique_ptr<Rendezvous> rendezvous_;
  std::unique_ptr<Network> network_;
  bool drives_several_ = false;  // devices, in this process
  const interp::Code* code_ = nullptr;
  size_t streams_ = 0;
  std::vector<Device*> device_of_;  // by rank; nullptr: in another process
  std::vector<int> place_of_;       // by rank
  std::vector<bool> uses_copies_;   // by communicator: between the devices of this process
  std::vector<Queue> queues_;       // by rank * streams + stream
  std::vector<RankMemory> memory_;  // by rank
  kernels::LaunchPlans<KernelPlan> kernels_;
  std::map<std::pair<CodeIndex, Rank>, KernelPlan*> last_kernel_;

  /// End events of tasks in flight that other tasks may wait for.
  std::unordered_map<TaskId, EventRef> enqueued_;
  std::deque<TaskId> delivered_early_;  // in enqueued_ until their events have happened
  /// Finish times of the tasks that collect() has found and that others may wait for.
  std::unordered_map<TaskId, int64_t> collected_ns_;
  std::unordered_set<TaskId> held_;
  std::vector<Queue*> awake_;
  std::vector<Queue*> starting_;  // head is a wire call that is not on the stream yet
  std::map<MeetingKey, Meeting> meetings_;
  std::map<MeetingKey, Connection> connections_;  // sequence 0
  std::map<MeetingKey, Early> early_;             // between devices of this process
  /// The meetings of each network call that has not ended, if all ranks are in this process.
  std::unordered_map<int64_t, std::vector<MeetingKey>> meetings_of_call_;
  std::map<MeetingKey, size_t> members_left_;  // whose network calls have not ended
  int64_t stuck_since_ns_ = 0;                 // 0: it is not
  std::shared_ptr<Activities> activities_;
  std::string no_activities_;                 // why activities_ is null; empty: not tried
  std::span<const interp::HostState> hosts_;  // during a poll
  int64_t flushed_ns_ = 0;                    // of activities_
  uint64_t measured_ = 0;                     // tasks with CUPTI's times
  uint64_t not_measured_ = 0;                 // tasks whose records came too late
  std::vector<Duration> durations_;           // by instruction * ranks + rank; then by graph
  uint64_t timed_tasks_ = 0;                  // delivered with the times of their own events
  uint64_t estimated_tasks_ = 0;              // delivered with estimated times
  std::vector<RankBodies> bodies_;            // by rank
  std::vector<KnownUnit> graphs_;
  uint64_t not_looked_up_ = 0;                          // units seen while graphs_ was full
  size_t kept_tasks_ = 0;                               // in bodies_
  std::unordered_set<const std::byte*> planned_frees_;  // of the unit that is being submitted
  const Held* handing_over_ = nullptr;                  // its queue's first task
  int idle_polls_ = 0;                                  // since the last kept task
  bool capturing_ = false;
  std::string capture_problem_;
  std::vector<std::pair<TaskId, Error>> failures_;
  int64_t looked_ns_ = 0;              // time of the last check for remote failures
  std::vector<Delivery> deliveries_;   // of the last poll; kept to reuse its memory
  mutable int64_t coarse_ns_ = 0;      // the last answer of coarse_now_ns()
  mutable uint32_t coarse_reads_ = 0;  // calls of coarse_now_ns()
  int64_t hosts_ns_ = 0;               // the latest clock of a host at the last poll
  int64_t polled_ns_ = 0;              // time of the last poll of the device's events
  bool look_now_ = false;              // at the next poll, regardless of the time
  bool failed_ = false;
  ValueMode value_mode_ = ValueMode::kNone;
  Error refusal_;
};

}  // namespace hostir::cuda
