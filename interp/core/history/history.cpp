#include "interp/core/history/history.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <unordered_set>

#include "interp/core/engine/engine.h"

namespace hostir::interp {

namespace {

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// CPU time of this thread only, so that a checkpoint does not look expensive on a busy machine.
int64_t processor_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int64_t bytes_of(const State& state) {
  size_t bytes = sizeof(State);
  for (const RankState& r : state.ranks) {
    bytes += sizeof(RankState) + r.registers.size() * sizeof(Register) +
             r.tasks.all().size() * (sizeof(TaskRecord) + 4 * r.streams.size()) +
             r.clocks.size() * 4;
    for (const Allocation& a : r.allocations) {
      bytes += sizeof(Allocation) + a.accesses.size() * sizeof(AccessRecord) +
               a.written.ranges().size() * sizeof(ByteRange);
    }
  }
  for (const GroupLedger& g : state.ledger.groups) {
    bytes += (g.end() - g.first()) * g.members() * sizeof(Arrival);
  }
  return static_cast<int64_t>(bytes + state.ledger.pairs.size() * sizeof(Pair));
}

struct Checkpoint {
  uint64_t position = 0;
  int64_t cost_ns = 0;  // measured execution time from the start to here
  State state;
  std::unique_ptr<BackendCheckpoint> backend;
  int64_t state_bytes = 0;
};

constexpr size_t kMaxCheckpoints = 512;

// Execution time between checkpoints, as a multiple of a checkpoint's cost. A host far ahead of its
// streams has much in flight, and a checkpoint copies all of it: without this limit the copies
// would cost more than the run.
constexpr int64_t kExecutionPerCheckpoint = 4;

// Memory kept alive by checkpoints; shared blocks count once.
class KeptMemory {
 public:
  void add(const Checkpoint& c) {
    total_ += c.state_bytes;
    newest_ = 0;
    std::unordered_set<const void*> seen;
    for (const MemoryBlock& b : c.backend->blocks()) {
      Block& block = blocks_[b.id];
      if (block.holders++ == 0) total_ += block.bytes = b.bytes;
      if (seen.insert(b.id).second) newest_ += b.bytes;
    }
  }
  void remove(const Checkpoint& c) {
    total_ -= c.state_bytes;
    for (const MemoryBlock& b : c.backend->blocks()) {
      const auto at = blocks_.find(b.id);
      if (at == blocks_.end() || --at->second.holders > 0) continue;
      total_ -= at->second.bytes;
      blocks_.erase(at);
    }
  }
  /// In addition to what the run itself needs, estimated by its newest checkpoint.
  int64_t extra() const { return std::max<int64_t>(0, total_ - newest_); }

 private:
  struct Block {
    int64_t bytes = 0;
    int64_t holders = 0;
  };
  std::unordered_map<const void*, Block> blocks_;
  int64_t total_ = 0;
  int64_t newest_ = 0;
};

}  // namespace

std::optional<AllocationId> newest_allocation(const Interpreter& interpreter, Rank rank,
                                              std::string_view buffer) {
  const std::vector<AllocationView> all = interpreter.allocations(rank);
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const AllocationView& a) {
    return interpreter.code().register_name(a.reg) == buffer;
  });
  return found == all.rend() ? std::nullopt : std::optional(found->id);
}

namespace {

bool same(const Decision& a, const Decision& b) {
  return a.kind == b.kind && a.rank == b.rank && a.edit == b.edit;
}

}  // namespace

struct History::Impl {
  struct Edit {
    std::optional<AllocationId> allocation;  // unknown until a recorded edit is taken
    int64_t offset_bytes = 0;
    std::vector<std::byte> data;
    std::string buffer;  // as in the source
    friend bool operator==(const Edit& a, const Edit& b) {
      return a.allocation == b.allocation && a.buffer == b.buffer &&
             a.offset_bytes == b.offset_bytes && a.data == b.data;
    }
  };

  Interpreter& in;
  HistoryOptions options;
  bool can_go_back = false;
  std::vector<Decision> line;
  std::vector<Edit> edits;
  std::vector<Checkpoint> checkpoints;  // by position, ascending; the first is the start
  KeptMemory kept;
  int64_t cost_ns = 0;        // at the current position
  int64_t checkpoint_ns = 0;  // cost of the last checkpoint
  uint32_t branch = 0;
  uint32_t last_branch = 0;
  uint64_t travels = 0;
  bool recorded = false;
  uint64_t logged = 0;  // decisions of the line that were taken here at least once

  explicit Impl(Interpreter& interpreter, const HistoryOptions& history_options)
      : in(interpreter), options(history_options) {}

  uint64_t position() const { return in.position(); }

  Expected<void> take_checkpoint() {
    const int64_t begin = processor_ns();
    HOSTIR_ASSIGN_OR_RETURN(auto saved, in.backend().checkpoints()->checkpoint());
    Checkpoint c;
    c.position = position();
    c.cost_ns = cost_ns;
    c.state = in.state();
    c.backend = std::move(saved);
    c.state_bytes = bytes_of(c.state);
    const auto at = std::lower_bound(
        checkpoints.begin(), checkpoints.end(), c.position,
        [](const Checkpoint& x, uint64_t position) { return x.position < position; });
    kept.add(c);
    checkpoints.insert(at, std::move(c));
    thin_out();
    checkpoint_ns = processor_ns() - begin;
    return {};
  }

  // Drops checkpoints until they fit the budget: dense near the position, sparser with distance.
  // Always drops the one with the smallest gap relative to its distance, but never the first.
  void thin_out() {
    while (checkpoints.size() > 2 &&
           (kept.extra() > options.memory_budget_bytes || checkpoints.size() > kMaxCheckpoints)) {
      size_t victim = 1;
      double best = -1;
      for (size_t i = 1; i < checkpoints.size(); ++i) {
        if (checkpoints[i].position == position()) continue;
        const int64_t next = i + 1 < checkpoints.size() ? checkpoints[i + 1].cost_ns : cost_ns;
        const auto gap = static_cast<double>(next - checkpoints[i - 1].cost_ns);
        const int64_t away = checkpoints[i].cost_ns > cost_ns ? checkpoints[i].cost_ns - cost_ns
                                                              : cost_ns - checkpoints[i].cost_ns;
        const double score = gap / static_cast<double>(away + options.spacing_ns);
        if (best < 0 || score < best) {
          best = score;
          victim = i;
        }
      }
      kept.remove(checkpoints[victim]);
      checkpoints.erase(checkpoints.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }

  Checkpoint& nearest(uint64_t k) {
    auto at = std::upper_bound(
        checkpoints.begin(), checkpoints.end(), k,
        [](uint64_t position, const Checkpoint& x) { return position < x.position; });
    return *(at - 1);
  }

  // Call after a decision that took `spent_ns`.
  Expected<void> account(int64_t spent_ns) {
    cost_ns += spent_ns;
    if (!can_go_back) return {};
    const Checkpoint& last = nearest(position());
    const int64_t spacing = std::max(options.spacing_ns, kExecutionPerCheckpoint * checkpoint_ns);
    if (cost_ns - last.cost_ns < spacing) return {};
    return take_checkpoint();
  }

  // Prepares for a decision: follows the line if it has the same decision, otherwise truncates it.
  bool enter(const Decision& decision) {
    const uint64_t k = position();
    const bool follows = k < line.size() && same(line[k], decision);
    if (!follows && k < line.size()) {
      line.resize(k);
      logged = std::min(logged, k);
      while (!checkpoints.empty() && checkpoints.back().position > k) {
        kept.remove(checkpoints.back());
        checkpoints.pop_back();
      }
      const uint32_t parent = branch;
      branch = ++last_branch;
      in.set_branch(branch);
      if (TraceSink* sink = in.engine().run.sink; sink != nullptr) {
        DecisionRecord record;
        record.kind = DecisionRecord::Kind::kBranch;
        record.number = k;
        record.branch = branch;
        record.detail = std::to_string(parent);
        sink->decision(record);
      }
    }
    if (!follows) line.push_back(decision);
    log_once();
    return follows;
  }

  // Decisions already logged are not logged again when repeated.
  void log_once() {
    const bool again = position() < logged;
    in.set_logging(again ? Interpreter::Logging::kSilent : Interpreter::Logging::kOn);
    logged = std::max(logged, position() + 1);
  }

  // Resolves the buffer of a recorded edit, now that the run has reached it.
  Expected<AllocationId> allocation_of(Edit& edit, Rank rank) {
    if (!edit.allocation) {
      const std::optional<AllocationId> found = newest_allocation(in, rank, edit.buffer);
      if (!found) {
        return fail(
            ErrorKind::kRuntime, "history_edit",
            fmt::format("the edited buffer {} does not exist on rank {}", edit.buffer, rank));
      }
      edit.allocation = *found;
    }
    return *edit.allocation;
  }

  Expected<void> replay_one() {
    const Decision decision = line[position()];
    log_once();
    const int64_t begin = now_ns();
    switch (decision.kind) {
      case DecisionRecord::Kind::kRun:
        HOSTIR_TRY(in.step(decision.rank));
        break;
      case DecisionRecord::Kind::kFreeze:
        in.freeze(decision.rank);
        break;
      case DecisionRecord::Kind::kThaw:
        in.thaw(decision.rank);
        break;
      case DecisionRecord::Kind::kEdit: {
        Edit& e = edits[decision.edit];
        HOSTIR_ASSIGN_OR_RETURN(const AllocationId allocation, allocation_of(e, decision.rank));
        HOSTIR_TRY(in.edit(decision.rank, allocation, e.offset_bytes, e.data));
        break;
      }
      case DecisionRecord::Kind::kBranch:
        break;
    }
    return account(now_ns() - begin);
  }

  Expected<void> restore(const Checkpoint& c) {
    HOSTIR_TRY(in.backend().checkpoints()->restore(*c.backend));
    in.restore(c.state);
    cost_ns = c.cost_ns;
    return {};
  }

  Expected<void> travel(uint64_t k) {
    if (k > line.size()) {
      return fail(ErrorKind::kUsage, "history_position",
                  fmt::format("position {} is beyond the end of the history, {}", k, line.size()));
    }
    if (k < position() && !can_go_back) {
      return fail(ErrorKind::kRuntime, "backend_no_checkpoint",
                  fmt::format("the backend {} cannot go back", in.backend().capabilities().name));
    }
    if (k < position()) ++travels;
    if (can_go_back && (k < position() || nearest(k).position > position())) {
      HOSTIR_TRY(restore(nearest(k)));
    }
    while (position() < k) {
      const uint64_t before = position();
      HOSTIR_TRY(replay_one());
      if (position() == before) {
        return fail(ErrorKind::kRuntime, "history_position",
                    fmt::format("decision {} cannot be repeated", before));
      }
    }
    return {};
  }
};

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
History::~History() = default;

Expected<std::unique_ptr<History>> History::create(Interpreter& interpreter,
                                                   const HistoryOptions& options,
                                                   RecordedLine recorded) {
  auto impl = std::make_unique<Impl>(interpreter, options);
  impl->recorded = !recorded.decisions.empty();
  impl->line = std::move(recorded.decisions);
  for (RecordedEdit& e : recorded.edits)
    impl->edits.push_back({std::nullopt, e.offset_bytes, std::move(e.data), std::move(e.buffer)});
  impl->can_go_back = interpreter.backend().checkpoints() != nullptr;
  if (impl->can_go_back) HOSTIR_TRY(impl->take_checkpoint());
  return std::unique_ptr<History>(new History(std::move(impl)));
}

Interpreter& History::interpreter() const { return impl_->in; }
uint64_t History::position() const { return impl_->position(); }
uint64_t History::size() const { return impl_->line.size(); }
uint32_t History::branch() const { return impl_->branch; }
const std::vector<Decision>& History::line() const { return impl_->line; }

RecordedLine History::taken() const {
  RecordedLine out;
  const auto begin = impl_->line.begin();
  out.decisions.assign(begin, begin + static_cast<std::ptrdiff_t>(position()));
  for (const Impl::Edit& e : impl_->edits) out.edits.push_back({e.buffer, e.offset_bytes, e.data});
  return out;
}

std::optional<Decision> History::recorded_next() const {
  const uint64_t k = position();
  if (!impl_->recorded || impl_->branch != 0 || k >= impl_->line.size()) return std::nullopt;
  return impl_->line[k];
}

Expected<StepResult> History::step(Rank rank) {
  const bool exists = rank >= 0 && rank < impl_->in.code().rank_count;
  if (!exists || !impl_->in.can_step(rank)) return impl_->in.step(rank);  // reports the error
  impl_->enter({DecisionRecord::Kind::kRun, rank, 0});
  const int64_t begin = now_ns();
  Expected<StepResult> result = impl_->in.step(rank);
  HOSTIR_TRY(impl_->account(now_ns() - begin));
  return result;
}

void History::freeze(Rank rank) {
  impl_->enter({DecisionRecord::Kind::kFreeze, rank, 0});
  impl_->in.freeze(rank);
}

void History::thaw(Rank rank) {
  impl_->enter({DecisionRecord::Kind::kThaw, rank, 0});
  impl_->in.thaw(rank);
}

Expected<void> History::edit(Rank rank, AllocationId allocation, int64_t offset_bytes,
                             std::span<const std::byte> data) {
  Impl::Edit edit{allocation, offset_bytes, {data.begin(), data.end()}, {}};
  for (const AllocationView& a : impl_->in.allocations(rank)) {
    if (a.id == allocation) edit.buffer = impl_->in.code().register_name(a.reg);
  }
  auto at = std::find(impl_->edits.begin(), impl_->edits.end(), edit);
  const auto index = static_cast<uint32_t>(at - impl_->edits.begin());
  if (at == impl_->edits.end()) impl_->edits.push_back(std::move(edit));
  impl_->enter({DecisionRecord::Kind::kEdit, rank, index});
  Expected<void> done = impl_->in.edit(rank, allocation, offset_bytes, data);
  if (!done && impl_->line.size() > impl_->position()) impl_->line.resize(impl_->position());
  impl_->logged = std::min<uint64_t>(impl_->logged, impl_->line.size());
  return done;
}

Expected<std::vector<RankMove>> History::go_to(uint64_t k) {
  std::vector<uint64_t> before;
  for (const RankState& r : impl_->in.state().ranks) before.push_back(r.steps);
  Expected<void> done = impl_->travel(k);
  impl_->in.set_logging(Interpreter::Logging::kOn);
  if (!done) return tl::unexpected(std::move(done.error()));
  std::vector<RankMove> moved;
  for (size_t r = 0; r < before.size(); ++r) {
    const auto steps = static_cast<int64_t>(impl_->in.state().ranks[r].steps - before[r]);
    if (steps != 0) moved.push_back({static_cast<Rank>(r), steps});
  }
  return moved;
}

uint64_t History::travels() const { return impl_->travels; }

uint64_t History::checkpoint_before(uint64_t k) const {
  return impl_->checkpoints.empty() ? 0 : impl_->nearest(k).position;
}

}  // namespace hostir::interp
