#include "traces/replay/replay_checker.h"

#include <fmt/format.h>

namespace hostir::traces {

using interp::kUnknownNs;
using interp::LogEvent;

ReplayChecker::ReplayChecker(const LogReader& log, const interp::Code& code,
                             ProgramDescription program)
    : log_(log),
      code_(code),
      program_(std::move(program)),
      cut_(log.run().ending != interp::LogEnding::kClosed),
      compare_times_(log.run().virtual_time),
      assembler_([this](const AssembledEvent& assembled, EventAssembler::Delivery) {
        compare(assembled.event);
      }) {}

Expected<void> ReplayChecker::prepare(Database& database) {
  HOSTIR_ASSIGN_OR_RETURN(
      logged_values_,
      database.prepare("SELECT event, rank, operand, digest, data FROM value ORDER BY id"));
  HOSTIR_ASSIGN_OR_RETURN(const auto count, database.query_int("SELECT COUNT(*) FROM value"));
  values_end_ = count.value_or(0) == 0;  // the run recorded no values
  return {};
}

void ReplayChecker::report(Divergence divergence) {
  if (!divergence_ || (divergence.event >= 0 && divergence.event < divergence_->event)) {
    divergence_ = std::move(divergence);
  }
}

Divergence ReplayChecker::at(const LogEvent& event, std::string what) const {
  Divergence d;
  d.what = std::move(what);
  d.event = event.id;
  d.rank = event.rank;
  if (event.instruction < log_.instructions().size()) {
    d.address = log_.instructions()[event.instruction].address;
    d.text = log_.instructions()[event.instruction].text;
  }
  const std::string path = log_.loop_path(event.loop_path);
  d.sentence = fmt::format("event {}, rank {}, {} {}{}: ", d.event, d.rank, d.address, d.text,
                           path.empty() ? "" : " in iteration " + path);
  return d;
}

void ReplayChecker::expect(const LogEvent& event) { expected_.emplace(event.id, event); }

void ReplayChecker::issued(const interp::IssuedRecord& record) { assembler_.issued(record); }
void ReplayChecker::finished(const interp::FinishedRecord& record) { assembler_.finished(record); }

namespace {

struct Field {
  const char* name;
  int64_t logged;
  int64_t now;
};

int64_t task_number(interp::TaskId task) {
  return task == interp::kNoTask ? -1 : static_cast<int64_t>(interp::task_number(task));
}

/// The first field that differs; its name is nullptr if there is none.
template <size_t N>
Field first_difference(const Field (&fields)[N]) {
  for (const Field& field : fields) {
    if (field.logged != field.now) return field;
  }
  return {nullptr, 0, 0};
}

std::string number_text(int64_t value) {
  return value == kUnknownNs ? "never" : fmt::format("{}", value);
}

}  // namespace

void ReplayChecker::compare(const LogEvent& got) {
  const auto entry = expected_.find(got.id);
  if (entry == expected_.end()) return;  // reported by the code that executed it
  const LogEvent want = entry->second;
  expected_.erase(entry);
  ++events_;
  const auto differs = [&](const char* what, const Field& field) {
    Divergence d = at(want, what);
    d.sentence += fmt::format("{} was {}, is {}", field.name, number_text(field.logged),
                              number_text(field.now));
    report(std::move(d));
  };
  const Field order =
      first_difference({{"rank", want.rank, got.rank},
                        {"instruction", want.instruction, got.instruction},
                        {"loop path", want.loop_path, got.loop_path},
                        {"stream", want.stream, got.stream},
                        {"task", task_number(want.task), task_number(got.task)},
                        {"awaited task", task_number(want.waited_for), task_number(got.waited_for)},
                        {"bytes", want.bytes, got.bytes}});
  if (order.name != nullptr) return differs("order", order);
  if (!compare_times_) return;
  // An event in flight when the log was cut has no times in the log. Conversely, it may have none
  // here, because the log's last events may precede times that were still logged.
  const bool open = cut_ && want.task != interp::kNoTask &&
                    (want.finish_ns == kUnknownNs || got.finish_ns == kUnknownNs);
  const Field time =
      first_difference({{"host_start_ns", want.host_start_ns, got.host_start_ns},
                        {"host_end_ns", want.host_end_ns, got.host_end_ns},
                        {"waited_ns", want.waited_ns, got.waited_ns},
                        {"queued_ns", want.queued_ns, open ? want.queued_ns : got.queued_ns},
                        {"start_ns", want.start_ns, open ? want.start_ns : got.start_ns},
                        {"finish_ns", want.finish_ns, open ? want.finish_ns : got.finish_ns},
                        {"live_bytes", want.live_bytes, open ? want.live_bytes : got.live_bytes}});
  if (time.name != nullptr) differs("time", time);
}

void ReplayChecker::value(const interp::ValueSummary& summary) {
  if (take_ && !enough_ && !summary.data.empty()) hand_on(summary);
  if (values_end_ || !error_) return;
  error_ = compare_value(summary);
}

Expected<void> ReplayChecker::compare_value(const interp::ValueSummary& summary) {
  const EventAssembler::TaskInfo* task = assembler_.find_task(summary.task);
  const int64_t event = task != nullptr ? task->event : -1;
  HOSTIR_ASSIGN_OR_RETURN(const bool more, logged_values_.step());
  LogEvent place;
  place.id = event;
  place.rank = summary.rank;
  place.instruction = task != nullptr ? task->code : 0;
  if (!more) {
    values_end_ = true;
    if (cut_) return {};
    Divergence d = at(place, "value");
    d.sentence += "writes a value that was not written before";
    report(std::move(d));
    return {};
  }
  ++values_;
  const Statement& row = logged_values_;
  if (row.integer_or(0, -1) != event || row.integer(1) != summary.rank ||
      row.integer(2) != summary.operand) {
    Divergence d = at(place, "order");
    d.sentence += fmt::format("writes a value, where event {} of rank {} wrote one in the log",
                              row.integer(0), row.integer(1));
    report(std::move(d));
    values_end_ = true;
    return {};
  }
  if (static_cast<uint64_t>(row.integer(3)) == summary.digest) return {};
  Divergence d = at(place, "value");
  const int64_t tensor =
      task != nullptr ? program_.tensor_written(task->code, summary.operand) : -1;
  d.tensor = program_.tensor_name(tensor);
  d.sentence += fmt::format("%{} has other contents, digest was {:016x}, is {:016x}", d.tensor,
                            static_cast<uint64_t>(row.integer(3)), summary.digest);
  if (!row.is_null(4)) {
    find_element(d, summary, tensor, static_cast<uint64_t>(row.integer(4)));
  }
  report(std::move(d));
  return {};
}

void ReplayChecker::hand_on(const interp::ValueSummary& summary) {
  const EventAssembler::TaskInfo* task = assembler_.find_task(summary.task);
  const int64_t tensor =
      task != nullptr ? program_.tensor_written(task->code, summary.operand) : -1;
  const auto& tensors = log_.tensors();
  if (tensor < 0 || tensor >= static_cast<int64_t>(tensors.size())) return;
  const auto rank = static_cast<size_t>(summary.rank);
  if (rank >= tensors[static_cast<size_t>(tensor)].boxes.size()) return;
  if (!take_({task->event, tensor, summary.rank}, summary.data)) enough_ = true;
}

void ReplayChecker::find_element(Divergence& d, const interp::ValueSummary& summary, int64_t tensor,
                                 uint64_t logged_data) const {
  const auto& tensors = log_.tensors();
  if (interpreter_ == nullptr || tensor < 0 || tensor >= static_cast<int64_t>(tensors.size())) {
    return;
  }
  const interp::LogTensor& info = tensors[static_cast<size_t>(tensor)];
  if (static_cast<size_t>(summary.rank) >= info.boxes.size()) return;
  const auto logged = log_.data(logged_data);
  Placement placement;
  placement.dtype = info.dtype;
  placement.global = info.extents;
  placement.box = info.boxes[static_cast<size_t>(summary.rank)];
  interp::BufferRef buffer;
  buffer.allocation = summary.allocation;
  buffer.size_bytes = placement.local_bytes();
  buffer.placement = &placement;
  const auto now = interpreter_->backend().read(summary.rank, buffer, placement.box);
  if (!logged || !now || logged->size() != now->data.size()) return;
  const auto element_size = static_cast<size_t>(size_bytes(info.dtype));
  for (size_t i = 0; i < logged->size(); ++i) {
    if ((*logged)[i] == now->data[i]) continue;
    const size_t first = i / element_size * element_size;
    d.element = placement.box.index_at(static_cast<int64_t>(i / element_size));
    d.sentence += fmt::format("; first at [{}]: was {:.9g}, is {:.9g}", fmt::join(d.element, ", "),
                              load_double(info.dtype, logged->data() + first),
                              load_double(info.dtype, now->data.data() + first));
    return;
  }
}

void ReplayChecker::fault(const interp::FaultRecord& record) { faults_.push_back(record); }

void ReplayChecker::compare_faults() {
  const auto logged = log_.faults();
  if (!logged) {
    error_ = tl::unexpected(logged.error());
    return;
  }
  const size_t common = std::min(logged->size(), faults_.size());
  const auto differs = [&](std::string sentence) {
    Divergence d;
    d.what = "fault";
    d.sentence = std::move(sentence);
    report(std::move(d));
  };
  for (size_t i = 0; i < common; ++i) {
    if ((*logged)[i].sentence == faults_[i].sentence && (*logged)[i].kind == faults_[i].kind) {
      continue;
    }
    return differs(fmt::format("fault {} was \"{}\", is \"{}\"", i + 1, (*logged)[i].sentence,
                               faults_[i].sentence));
  }
  if (logged->size() > common) {
    return differs(fmt::format("the fault \"{}\" does not occur", (*logged)[common].sentence));
  }
  if (faults_.size() > common) {
    differs(fmt::format("the fault \"{}\" is not in the log", faults_[common].sentence));
  }
}

void ReplayChecker::finish() {
  assembler_.drain();
  if (!divergence_ && !expected_.empty()) {
    int64_t first = std::numeric_limits<int64_t>::max();
    for (const auto& [id, event] : expected_) first = std::min(first, id);
    Divergence d = at(expected_.at(first), "order");
    d.sentence += "was executed, but is not executed now";
    report(std::move(d));
  }
  if (cut_ || divergence_) return;
  if (!values_end_) {
    const auto more = logged_values_.step();
    if (!more) {
      error_ = tl::unexpected(more.error());
      return;
    }
    if (*more) {
      Divergence d;
      d.what = "value";
      d.event = logged_values_.integer(0);
      d.rank = static_cast<interp::Rank>(logged_values_.integer(1));
      d.sentence = fmt::format(
          "event {}, rank {}: a value was written that the replay does not write", d.event, d.rank);
      report(std::move(d));
    }
  }
  compare_faults();
}

}  // namespace hostir::traces
