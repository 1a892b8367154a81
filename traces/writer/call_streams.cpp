#include "traces/writer/call_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace hostir::traces {

namespace {

using model::Member;
using model::Rank;
using model::Run;

struct StreamCall {
  Member* member;
  model::StreamId stream;
  uint64_t sequence;
};

constexpr size_t kMostAlike = 8;  // streams of one name; further peers get none

class CallStreams {
 public:
  explicit CallStreams(Run& run) : run_(run) {}

  void add() {
    if (!run_.tasks.empty()) return;
    for (model::Meeting& meeting : run_.meetings) {
      for (Member& member : meeting.members)
        put(member, meeting.communicator, model::kNoRank, meeting.sequence);
    }
    for (model::SendRecv& pair : run_.pairs) {
      put(pair.send, pair.communicator, pair.target, pair.ordinal);
      put(pair.recv, pair.communicator, pair.source, pair.ordinal);
    }
    for (auto& [rank, calls] : calls_) number(rank, calls);
  }

 private:
  void put(Member& member, model::CommunicatorId communicator, Rank peer, uint64_t sequence) {
    if (!member.arrived() || !member.times.issued_ns) return;
    if (!member.unfinished() && !member.times.finished_ns) return;
    if (run_.find(communicator) == nullptr ||
        member.times.issued_clock != member.times.execution_clock)
      return;
    const model::StreamId stream = stream_of(member.rank, communicator, peer);
    if (stream.valid()) calls_[member.rank].push_back({&member, stream, sequence});
  }

  // `tp` for `tp (group 3)`: the number only tells groups of one name apart.
  static std::string name_of(const model::Communicator& c) {
    const std::string number = fmt::format(" (group {})", c.name);
    if (!c.description.ends_with(number)) return c.description.empty() ? c.name : c.description;
    return c.description.substr(0, c.description.size() - number.size());
  }

  // Ranks share streams of one name (the `tp` of every rank is one of many communicators), because
  // a log has a track per rank and stream. A second communicator or peer of a name gets a stream of
  // its own, as its calls need not run in order with the first one's.
  model::StreamId stream_of(Rank rank, model::CommunicatorId communicator, Rank peer) {
    std::string name = name_of(*run_.find(communicator));
    if (peer != model::kNoRank) name += " p2p";
    auto& known = queues_[{rank, name}];
    const auto [queue, added] = known.try_emplace({communicator, peer}, known.size());
    if (queue->second >= kMostAlike) return {};
    if (queue->second > 0) name += fmt::format(" {}", queue->second + 1);
    const auto [at, is_new] = streams_.try_emplace(name, run_.streams.size());
    if (is_new) run_.streams.push_back({name, {}});
    return model::StreamId(at->second);
  }

  void number(Rank rank, std::vector<StreamCall>& calls) {
    std::stable_sort(calls.begin(), calls.end(), [](const StreamCall& a, const StreamCall& b) {
      return std::tuple(a.member->order.value_or(a.sequence), a.stream, a.sequence) <
             std::tuple(b.member->order.value_or(b.sequence), b.stream, b.sequence);
    });
    std::map<model::StreamId, std::optional<int64_t>> free_ns;  // unset: behind an unfinished call
    for (size_t i = 0; i < calls.size(); ++i) {
      Member& member = *calls[i].member;
      model::Task task;
      task.id = model::make_task_id(rank, i);
      task.stream = calls[i].stream;
      task.instruction = member.instruction;
      task.loops = member.loops;
      task.communication = true;
      task.state = member.unfinished() ? model::TaskState::kQueued : model::TaskState::kFinished;
      task.times = member.times;
      const auto [at, first] = free_ns.try_emplace(task.stream, member.times.issued_ns);
      if (!task.times.ready_ns && at->second)
        task.times.ready_ns = std::max(*member.times.issued_ns, *at->second);
      at->second = member.times.finished_ns;
      // Ends are seen late, by a watchdog that looks now and then, so members are compared by when
      // their hosts made the call.
      if (!member.times.ready_ns) member.times.ready_ns = member.times.issued_ns;
      member.task = task.id;
      member.stream = task.stream;
      run_.tasks.push_back(std::move(task));
    }
  }

  Run& run_;
  /// By rank and name: the communicators and peers, in order of their first call.
  std::map<std::pair<Rank, std::string>, std::map<std::pair<model::CommunicatorId, Rank>, size_t>>
      queues_;
  std::map<std::string, size_t> streams_;
  std::map<Rank, std::vector<StreamCall>> calls_;
};

}  // namespace

void add_call_streams(Run& run) { CallStreams(run).add(); }

}  // namespace hostir::traces
