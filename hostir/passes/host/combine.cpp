#include "hostir/passes/host/combine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "hostir/ir/compact.h"
#include "hostir/passes/host/equal_members.h"
#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/host/stream_order.h"
#include "hostir/passes/host/task_times.h"
#include "hostir/support/text.h"

namespace hostir {

namespace {

using TaskIndex = uint32_t;

constexpr size_t kOpenCalls = 4;       // number of recent calls that a collective may join
constexpr double kWorthOfStart = 0.1;  // accepted delay per saved start, as a fraction of its time

enum Engine : uint8_t { kCompute, kLinks, kEngines, kNoEngine };

// An instruction of the body, or several collectives in one call.
struct CombineTask {
  std::vector<InstrId> members;
  std::vector<TaskIndex> before;  // what it depends on
  std::vector<TaskIndex> after;   // what depends on it
  Engine engine = kNoEngine;
  double latency_ns = 0;
  double transfer_ns = 0;  // a kernel has only this
  double bytes = 0;
  double ns() const { return latency_ns + transfer_ns; }
};

using Clocks = std::array<double, kEngines>;  // when each engine is free

class Combiner {
 public:
  Combiner(const Program& program, const Function& host, const Machine& machine,
           const ValueNamer& value_of, Explanation& explanation)
      : in_(host),
        times_(program, host, machine),
        issue_ns_(machine.issue_ns),
        value_of_(value_of),
        explanation_(explanation) {}

  Function run() {
    const std::vector<InstrId>& body = in_.region(in_.body).instructions;
    const auto first = std::find_if(body.begin(), body.end(),
                                    [&](InstrId id) { return !is_declaration(in_.instr(id)); });
    declarations_.assign(body.begin(), first);
    const auto collectives =
        std::count_if(first, body.end(), [&](InstrId id) { return communicates(in_.instr(id)); });
    if (collectives < 2) return in_;
    add_tasks({first, body.end() - 1});
    measure_rest();
    const auto count = static_cast<TaskIndex>(tasks_.size());
    for (TaskIndex t = 0; t < count; ++t) {
      place(t);
      if (tasks_[t].engine == kLinks) join_or_open(t);
    }
    return is_combined_ ? build() : in_;
  }

 private:
  static bool is_declaration(const Instruction& i) {
    return i.kind == OpKind::comm || i.kind == OpKind::stream;
  }
  static bool communicates(const Instruction& i) {
    return record(i.kind).op_class == OpClass::kCommunication;
  }
  const Instruction& instr(TaskIndex t) const { return in_.instr(tasks_[t].members.front()); }
  const ExplainedValue& value_of(InstrId collective) {
    const auto [at, is_new] = names_.try_emplace(collective);
    if (is_new) at->second = value_of_(in_.instr(collective));
    return at->second;
  }

  // The call that currently contains the task.
  TaskIndex call_of(TaskIndex t) const {
    while (joined_[t] != t) t = joined_[t];
    return t;
  }

  // --- the tasks and their dependencies

  void add_tasks(std::span<const InstrId> body) {
    struct Accesses {
      std::optional<TaskIndex> writer;
      std::vector<TaskIndex> readers;
    };
    const std::vector<ValueId> memory = buffers_behind(in_);
    std::vector<Accesses> history(in_.values.size());
    std::vector<std::optional<TaskIndex>> made(in_.values.size());
    for (const InstrId id : body) {
      const Instruction& i = in_.instr(id);
      const auto t = static_cast<TaskIndex>(tasks_.size());
      CombineTask& task = tasks_.emplace_back();
      task.members = {id};
      set_time(i, task);
      for (const Operand& o : i.operands) {
        if (o.value.valid() && made[o.value.index]) task.before.push_back(*made[o.value.index]);
      }
      for (const BufferUse& use : buffer_uses(in_, i, memory)) {
        Accesses& h = history[use.buffer.index];
        if (h.writer && *h.writer != t) task.before.push_back(*h.writer);
        if (use.access == Access::kRead) {
          h.readers.push_back(t);
          continue;
        }
        for (const TaskIndex r : h.readers) {
          if (r != t) task.before.push_back(r);
        }
        h.readers.clear();
        h.writer = t;
      }
      for (const ValueId r : i.results) made[r.index] = t;
      std::sort(task.before.begin(), task.before.end());
      task.before.erase(std::unique(task.before.begin(), task.before.end()), task.before.end());
      for (const TaskIndex b : task.before) tasks_[b].after.push_back(t);
      joined_.push_back(t);
    }
    done_ns_.resize(tasks_.size());
  }

  void set_time(const Instruction& i, CombineTask& task) {
    if (i.kind == OpKind::launch) {
      task.engine = kCompute;
      task.transfer_ns = times_.launch_ns(i);
    } else if (communicates(i)) {
      const TaskTimes::Collective time = times_.collective(i);
      task.engine = kLinks;
      task.latency_ns = time.latency_ns;
      task.transfer_ns = time.ns - time.latency_ns;
      task.bytes = time.bytes;
    }
  }

  // The time from the start of each task to the end, in the order of the text.
  void measure_rest() {
    const size_t n = tasks_.size();
    rest_ns_.assign(n, 0);
    rest_of_engine_.assign(n + 1, Clocks{});
    for (size_t t = n; t-- > 0;) {
      const CombineTask& task = tasks_[t];
      double rest = 0;
      for (const TaskIndex a : task.after) rest = std::max(rest, rest_ns_[a]);
      rest_of_engine_[t] = rest_of_engine_[t + 1];
      if (task.engine != kNoEngine) rest = std::max(rest, rest_of_engine_[t + 1][task.engine]);
      rest_ns_[t] = task.ns() + rest;
      if (task.engine != kNoEngine) rest_of_engine_[t][task.engine] = rest_ns_[t];
      end_ns_ = std::max(end_ns_, rest_ns_[t]);
    }
  }

  // --- the schedule of the tasks placed so far

  // Adds a task at the end of `order`, and advances the clocks.
  void place(TaskIndex t) {
    clocks_.push_back(now_);
    order_.push_back(t);
    const CombineTask& task = tasks_[t];
    double start = task.engine == kNoEngine ? 0 : now_[task.engine];
    for (const TaskIndex b : task.before) start = std::max(start, done_ns_[call_of(b)]);
    done_ns_[t] = start + task.ns();
    if (task.engine != kNoEngine) now_[task.engine] = done_ns_[t];
  }

  // The end time of the function as far as it depends on the tasks from place `begin` on. Tasks
  // after `last` in the text are not placed yet.
  double end_of(size_t begin, TaskIndex last) const {
    double end = 0;
    for (size_t p = begin; p < order_.size(); ++p) {
      const CombineTask& task = tasks_[order_[p]];
      double rest = 0;
      for (const TaskIndex a : task.after) {
        if (a > last) rest = std::max(rest, rest_ns_[a]);
      }
      end = std::max(end, done_ns_[order_[p]] + rest);
    }
    for (size_t e = 0; e < kEngines; ++e) {
      end = std::max(end, now_[e] + rest_of_engine_[last + 1][e]);
    }
    return end;
  }

  // --- joining

  // Dtypes may differ: the members of a group are calls of their own, with one start.
  static std::string key_of(const Instruction& i) {
    const auto* reduction = i.attributes.get<Reduction>("reduction");
    return fmt::format("{} {} {}", static_cast<int>(i.kind), slot_value(i, "comm").index,
                       reduction != nullptr ? static_cast<int>(*reduction) : -1);
  }

  void join_or_open(TaskIndex t) {
    std::vector<TaskIndex>& open = open_[key_of(instr(t))];
    for (auto call = open.rbegin(); call != open.rend(); ++call) {
      const bool large = tasks_[*call].bytes + tasks_[t].bytes > kMaxCombinedBytes;
      const bool parts = are_parts(*call, t);
      if (large && !parts) continue;
      const auto made = join(*call, t, large ? 0 : kWorthOfStart, parts ? moves_ns(*call, t) : 0);
      if (!made) continue;
      open.erase(std::next(call).base());
      open.push_back(*made);
      return;
    }
    open.push_back(t);
    if (open.size() > kOpenCalls) open.erase(open.begin());
  }

  // True if two collectives of one size have the same users, such as the real and the imaginary
  // part of one value. The gradients of two weights, which nothing uses, are no parts of a value.
  bool are_parts(TaskIndex call, TaskIndex t) const {
    const bool alike = tasks_[call].members.size() == 1 && tasks_[call].bytes == tasks_[t].bytes;
    if (!alike) return false;
    const std::vector<TaskIndex> users = users_of(call);
    return !users.empty() && users == users_of(t);
  }
  // The kernels that use the result of a collective; looks through a kernel that only moves it.
  std::vector<TaskIndex> users_of(TaskIndex t) const {
    const std::vector<TaskIndex>& after = tasks_[t].after;
    return after.size() == 1 && kernels_before(after[0]).size() == 1 &&
                   tasks_[after[0]].engine == kCompute
               ? tasks_[after[0]].after
               : after;
  }
  // The tasks before this one that take time.
  std::vector<TaskIndex> kernels_before(TaskIndex t) const {
    std::vector<TaskIndex> out = tasks_[t].before;
    std::erase_if(out, [&](TaskIndex b) { return tasks_[b].engine == kNoEngine; });
    return out;
  }
  // The time of the kernel that moves the operand of `t` to the buffer it is sent from, if the same
  // kernels compute the operands of both collectives. The first collective then waits only for that
  // kernel.
  double moves_ns(TaskIndex call, TaskIndex t) const {
    const std::vector<TaskIndex> one = kernels_before(call);
    const std::vector<TaskIndex> other = kernels_before(t);
    if (one.size() != 1 || other.size() != 1 || one == other) return 0;
    return kernels_before(one[0]) == kernels_before(other[0]) ? tasks_[other[0]].ns() : 0;
  }

  // Joins the last placed task to an earlier call if that is possible and worthwhile: a delay is
  // accepted up to a part of the time of the start that is saved, and `more_ns`.
  std::optional<TaskIndex> join(TaskIndex call, TaskIndex t, double part, double more_ns) {
    const auto found = std::find(order_.rbegin(), order_.rend(), call);
    const auto begin = static_cast<size_t>(std::next(found).base() - order_.begin());
    const auto moved = tasks_to_move(begin);
    if (!moved) return std::nullopt;
    const double end_before = std::max(end_ns_, end_of(begin, t));

    const std::vector<TaskIndex> old(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                                     order_.end());
    const std::vector<Clocks> old_clocks(clocks_.begin() + static_cast<std::ptrdiff_t>(begin),
                                         clocks_.end());
    const Clocks old_now = now_;
    std::vector<double> old_done;
    for (const TaskIndex o : old) old_done.push_back(done_ns_[o]);

    const TaskIndex made = add_call(call, t);
    now_ = clocks_[begin];
    order_.resize(begin);
    clocks_.resize(begin);
    for (size_t o = 1; o + 1 < old.size(); ++o) {
      if (!(*moved)[o]) place(old[o]);
    }
    place(made);
    for (size_t o = 1; o + 1 < old.size(); ++o) {
      if ((*moved)[o]) place(old[o]);
    }
    const double saved = std::min(tasks_[call].latency_ns, tasks_[t].latency_ns) + issue_ns_;
    const double end = end_of(begin, t);
    const double lost = std::max(0.0, end - end_before);
    const bool pays = lost <= part * saved + more_ns;
    explain(call, t, saved, lost, pays);
    if (pays) {
      end_ns_ = std::max(end_ns_, end);
      is_combined_ = true;
      return made;
    }
    joined_[call] = call;
    joined_[t] = t;
    joined_.pop_back();
    tasks_.pop_back();
    done_ns_.pop_back();
    order_.resize(begin);
    order_.insert(order_.end(), old.begin(), old.end());
    clocks_.resize(begin);
    clocks_.insert(clocks_.end(), old_clocks.begin(), old_clocks.end());
    now_ = old_now;
    for (size_t o = 0; o < old.size(); ++o) done_ns_[old[o]] = old_done[o];
    return std::nullopt;
  }

  // The tasks from place `begin` on that depend on the task there, and the allocs and views that
  // only they use. Those must move too, or buffers would be held long before their use. Empty if
  // the last task depends on the first.
  std::optional<std::vector<bool>> tasks_to_move(size_t begin) {
    std::vector<bool> out(order_.size() - begin, false);
    marks_.resize(tasks_.size(), false);
    for (size_t p = begin; p < order_.size(); ++p) {
      const std::vector<TaskIndex>& before = tasks_[order_[p]].before;
      out[p - begin] = p == begin || std::any_of(before.begin(), before.end(),
                                                 [&](TaskIndex b) { return marks_[call_of(b)]; });
      marks_[order_[p]] = out[p - begin];
    }
    const TaskIndex last = order_.back();
    for (size_t p = order_.size(); p-- > begin && !out.back();) {
      const CombineTask& task = tasks_[order_[p]];
      if (out[p - begin] || task.engine != kNoEngine) continue;
      const auto stays = [&](TaskIndex user) { return user <= last && !marks_[call_of(user)]; };
      out[p - begin] = std::none_of(task.after.begin(), task.after.end(), stays);
      marks_[order_[p]] = out[p - begin];
    }
    for (size_t p = begin; p < order_.size(); ++p) marks_[order_[p]] = false;
    if (out.back()) return std::nullopt;
    return out;
  }

  TaskIndex add_call(TaskIndex first, TaskIndex second) {
    const auto made = static_cast<TaskIndex>(tasks_.size());
    CombineTask call = tasks_[first];
    const CombineTask& other = tasks_[second];
    call.members.insert(call.members.end(), other.members.begin(), other.members.end());
    call.before.insert(call.before.end(), other.before.begin(), other.before.end());
    call.after.insert(call.after.end(), other.after.begin(), other.after.end());
    call.latency_ns = std::max(call.latency_ns, other.latency_ns);
    call.transfer_ns += other.transfer_ns;
    call.bytes += other.bytes;
    tasks_.push_back(std::move(call));
    done_ns_.push_back(0);
    joined_.push_back(made);
    joined_[first] = made;
    joined_[second] = made;
    return made;
  }

  void explain(TaskIndex call, TaskIndex t, double saved, double lost, bool pays) {
    const Instruction& i = instr(t);
    std::string others;
    for (const InstrId id : tasks_[call].members) {
      others += (others.empty() ? "%" : ", %") + value_of(id).name;
    }
    const std::string sentence =
        pays ? fmt::format("joins the call for {}: saves one start, {}; the function ends {}",
                           others, time_text(saved),
                           lost > 0 ? time_text(lost) + " later" : "no later")
             : fmt::format(
                   "not joined to the call for {}: that saves one start, {}, but the "
                   "function ends {} later",
                   others, time_text(saved), time_text(lost));
    const ExplainedValue& joining = value_of(tasks_[t].members.front());
    const std::string& first = value_of(tasks_[call].members.front()).name;
    const auto add = [&](const ExplainedValue& value, const std::string& why) {
      explanation_.push_back({.value = value.name,
                              .what = std::string(record(i.kind).mnemonic),
                              .sentence = why,
                              .from = "%" + first,
                              .pass = "combine",
                              .id = value.id});
    };
    add(joining, sentence);
    if (!pays) return;
    for (const InstrId id : tasks_[call].members)
      add(value_of(id), "shares its call with %" + joining.name);
  }

  Function build() const {
    Function out = with_empty_body(in_);
    for (const InstrId id : declarations_) out.add_instruction(out.body, in_.instr(id));
    for (const TaskIndex t : order_) {
      const std::vector<InstrId>& members = tasks_[t].members;
      RegionId region = out.body;
      if (members.size() > 1) region = out.add_region();
      for (const InstrId id : members) out.add_instruction(region, in_.instr(id));
      if (members.size() == 1) continue;
      Instruction group;
      group.kind = OpKind::group;
      group.regions = {region};
      out.add_instruction(out.body, std::move(group));
    }
    out.add_instruction(out.body, in_.instr(in_.region(in_.body).instructions.back()));
    return compacted(std::move(out));
  }

  const Function& in_;
  TaskTimes times_;
  double issue_ns_;
  const ValueNamer& value_of_;
  std::map<InstrId, ExplainedValue> names_;  // value_of_() by collective
  Explanation& explanation_;
  std::vector<InstrId> declarations_;
  std::vector<CombineTask> tasks_;      // those of the text, then joint calls
  std::vector<TaskIndex> joined_;       // by task: the call it joined, or itself
  std::vector<double> rest_ns_;         // by task of the text: from its start to the end
  std::vector<Clocks> rest_of_engine_;  // by task of the text: its engine's next task
  std::vector<TaskIndex> order_;        // placed so far
  std::vector<Clocks> clocks_;          // before each of `order_`
  Clocks now_ = {};
  std::vector<double> done_ns_;  // by task
  double end_ns_ = 0;
  std::vector<bool> marks_;                             // by task; scratch of tasks_to_move()
  std::map<std::string, std::vector<TaskIndex>> open_;  // by key_of(): calls to join
  bool is_combined_ = false;
};

}  // namespace

Function combine_collectives(const Program& program, const Function& host, const Machine& machine,
                             const ValueNamer& value_of, Explanation& explanation) {
  return without_equal_members(Combiner(program, host, machine, value_of, explanation).run());
}

}  // namespace hostir
