#include "traces/profile/profile_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "interp/model/builder.h"
#include "traces/import/formats/names.h"

namespace hostir::traces::profile {

namespace {

model::Communicator communicator_of(const Group& group) {
  model::Communicator made;
  made.name = group.name;
  made.description = group.description.empty() ? "group " + group.name : group.description;
  made.members = group.members;
  made.size = group.members ? static_cast<uint32_t>(group.members->size()) : group.size;
  return made;
}

model::Call call_of(const Call& call) {
  model::Call made;
  made.kind = import::op_of(call.name);
  if (!made.kind) made.name = call.name.empty() ? "collective" : call.name;
  made.reduction = call.reduction;
  made.dtype = call.dtype;
  made.root = call.root;
  const auto elems = [&](const std::optional<int64_t>& told) -> std::optional<int64_t> {
    return told && *told >= 0 ? told : std::nullopt;
  };
  if (made.kind == OpKind::all_reduce) made.total_elems = elems(call.in_elems);
  if (made.kind == OpKind::all_gather) made.total_elems = elems(call.out_elems);
  if (made.kind == OpKind::reduce_scatter) made.total_elems = elems(call.in_elems);
  made.local_elems = elems(made.kind == OpKind::recv ? call.out_elems : call.in_elems);
  return made;
}

class RunMaker {
 public:
  explicit RunMaker(const JobProfile& job) : job_(job) {}

  model::Run make() {
    model::Run& run = builder_.run();
    run.producer = {job_.processes.front().producer, job_.processes.front().version, {}};
    run.motion = model::Motion::kOver;
    run.motion_source = "the profile, which ends with its window";
    clock_ = builder_.clock({model::ClockKind::kWall, "", 0});
    add_groups();
    for (size_t p = 0; p < job_.processes.size(); ++p) add_process(p);
    for (const Meeting& meeting : job_.meetings) add_meeting(meeting);
    for (size_t p = 0; p < job_.processes.size(); ++p) add_rest(p);
    for (const std::string& note : job_.notes)
      builder_.gap({model::Gap::Kind::kNotTranslated, {}, {}, {}, note});
    return std::move(builder_).finish();
  }

 private:
  // A run stores every member of every meeting, so a short file could claim a huge run.
  void add_groups() {
    constexpr uint64_t kMostMembers = uint64_t{1} << 22;
    uint64_t members = 0;
    for (const Meeting& meeting : job_.meetings) members += meeting.expected;
    for (const Group& group : job_.groups) {
      model::Communicator made = communicator_of(group);
      if (members > kMostMembers) made.members.reset();
      groups_.push_back(builder_.communicator(made));
    }
  }

  void add_process(size_t p) {
    const ProcessProfile& process = job_.processes[p];
    builder_.run().producer.files.push_back(process.file);
    if (process.world_size) builder_.expect_ranks(static_cast<model::Rank>(*process.world_size));
    model::RankFacts& facts = builder_.rank(job_.rank(p));
    facts.record = model::RecordState::kCut;
    facts.found_by = process.rank_found_by;
    facts.process = process.process;
    // Tasks are numbered in order of issue.
    std::vector<uint32_t> order(process.rows.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return process.rows[a].issued_ns.value_or(process.rows[a].begin_ns) <
             process.rows[b].issued_ns.value_or(process.rows[b].begin_ns);
    });
    std::vector<uint64_t>& numbers = numbers_.emplace_back(process.rows.size());
    for (size_t i = 0; i < order.size(); ++i) numbers[order[i]] = i + 1;
    met_.emplace_back(process.rows.size(), false);
  }

  model::TaskId task_of(size_t p, uint32_t row) const {
    return model::make_task_id(job_.rank(p), numbers_[p][row]);
  }

  model::StreamId stream_of(const Row& row) {
    const auto [at, added] = streams_.try_emplace(row.stream);
    if (added) at->second = builder_.stream({fmt::format("stream {}", row.stream), {}});
    return at->second;
  }

  void add_meeting(const Meeting& meeting) {
    for (size_t i = 0; i < meeting.members.size(); ++i) {
      const MemberTimes& a = meeting.members[i];
      const ProcessProfile& process = job_.processes[a.process];
      const Row& row = process.rows[a.row];
      const model::CommunicatorId group = groups_[meeting.group];
      const model::Rank rank = job_.rank(a.process);
      const model::Rank source = job_.rank(meeting.members.front().process);
      const model::Rank target = job_.rank(meeting.members.back().process);
      const model::Call call = call_of(process.calls[row.call]);
      const auto instruction = builder_.instruction({.mnemonic = model::kind_text(call)});
      model::Member& m = !meeting.pair ? builder_.arrive(group, meeting.sequence, rank)
                         : i == 0      ? builder_.send(group, source, target, meeting.sequence)
                                       : builder_.recv(group, source, target, meeting.sequence);
      m.rank = rank;
      m.state = model::MemberState::kCompleted;
      m.call = call;
      m.instruction = instruction;
      m.loops = loops_of(a.step);
      m.task = task_of(a.process, a.row);
      m.stream = stream_of(row);
      m.order = numbers_[a.process][a.row];
      m.times = {a.issued_ns, a.begin_ns, a.begin_ns + a.wait_ns, a.end_ns, clock_, clock_};
      met_[a.process][a.row] = true;
    }
  }

  static std::string loops_of(const std::optional<int64_t>& step) {
    return step ? fmt::format("%step={}", *step) : std::string();
  }

  // Kernels, copies, and communication without a partner.
  void add_rest(size_t p) {
    const ProcessProfile& process = job_.processes[p];
    const ClockFit& clock = job_.clocks[p];
    for (uint32_t r = 0; r < process.rows.size(); ++r) {
      if (met_[p][r]) continue;
      const Row& row = process.rows[r];
      model::Instruction instruction;
      instruction.mnemonic = row.copy ? "copy" : "launch";
      if (row.call != kNone)
        instruction.mnemonic = model::kind_text(call_of(process.calls[row.call]));
      if (row.name != kNone) instruction.text = process.names[row.name];
      const model::InstructionId id = builder_.instruction(std::move(instruction));
      const model::StreamId stream = stream_of(row);
      model::Task& task = builder_.task(task_of(p, r));
      task.stream = stream;
      task.instruction = id;
      task.loops = loops_of(step_of(process, row.issued_ns.value_or(row.begin_ns)));
      task.state = model::TaskState::kFinished;
      task.communication = row.call != kNone;
      if (row.issued_ns) task.times.issued_ns = clock.common(*row.issued_ns);
      task.times.ready_ns = task.times.started_ns = clock.common(row.begin_ns);
      task.times.finished_ns = clock.common(row.end_ns);
      task.times.issued_clock = task.times.execution_clock = clock_;
    }
  }

  const JobProfile& job_;
  model::RunBuilder builder_;
  model::ClockId clock_;
  std::vector<model::CommunicatorId> groups_;
  std::map<int64_t, model::StreamId> streams_;
  std::vector<std::vector<uint64_t>> numbers_;  // of the tasks, by process and row
  std::vector<std::vector<bool>> met_;
};

}  // namespace

model::Run to_run(const JobProfile& job) { return RunMaker(job).make(); }

}  // namespace hostir::traces::profile
