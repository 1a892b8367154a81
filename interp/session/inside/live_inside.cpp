// Explaining instructions in general, and launches.
#include "interp/session/inside/live_inside.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "hostir/ir/access.h"
#include "hostir/ir/box_text.h"
#include "hostir/ir/inline_value.h"
#include "hostir/ops/record.h"
#include "hostir/support/text.h"
#include "hostir/text/print/printer.h"
#include "interp/session/answers/matrix_text.h"
#include "interp/session/values/live_values.h"

namespace hostir::interp {
namespace {

// Explains a launch: which buffer, when, and whether the operands are the ones it reads.
class LaunchLook {
 public:
  LaunchLook(Interpreter& interpreter, const InsideQuery& query, Inside& out)
      : interpreter_(interpreter), code_(interpreter.code()), query_(query), out_(out) {}

  Expected<void> look() {
    const Function* kernel = kernel_of();
    if (kernel == nullptr) return {};
    auto now = interpreter_.operands_now(out_.rank, out_.code);
    if (!now) {
      list_ops(*kernel);
      out_.moment = "It cannot run in the current state.";
      out_.notes.push_back(now.error().message() + ".");
      return {};
    }
    now_ = std::move(*now);
    HOSTIR_ASSIGN_OR_RETURN(written_, choose_written());
    const BufferRef& made = now_.buffers[written_];
    const Placement& placement = made.after != nullptr ? *made.after : *made.placement;
    if (placement.box.empty()) {
      list_ops(*kernel);
      out_.notes.push_back(fmt::format("Rank {} holds nothing of %{}.", out_.rank, out_.value));
      return {};
    }
    HOSTIR_ASSIGN_OR_RETURN(out_.element, chosen_element(query_, out_.value, placement));
    find_moment();
    std::optional<FinishedDevice> device;
    if (needs_finished()) device.emplace(interpreter_);
    const bool told = operands_hold(device ? &*device : nullptr);
    if (!told) {
      list_ops(*kernel);
    } else {
      HOSTIR_TRY(evaluate());
    }
    device.reset();
    read_held(placement);
    return {};
  }

 private:
  enum class Moment : uint8_t { kNext, kIssued, kRan, kElsewhere };

  const Function* kernel_of() const {
    const auto* name = code_.source(out_.code).attributes.get<Symbol>("kernel");
    return name == nullptr ? nullptr : code_.program->find_function(name->name);
  }

  // Lists what the kernel does, without numbers.
  void list_ops(const Function& kernel) {
    for (const InstrId id : kernel.region(kernel.body).instructions) {
      const OpRecord& op = record(kernel.instr(id).kind);
      if (op.role == HostRole::kReturn) continue;
      InsideStep& step = out_.steps.emplace_back();
      step.op = op.mnemonic;
      step.text = text::print_line(kernel, id);
      if (!kernel.instr(id).results.empty())
        step.made.value = kernel.value(kernel.instr(id).results.front()).name;
    }
  }

  std::string name_of(size_t buffer) const {
    const Function& function = *code_.functions[code_.instructions[out_.code].function];
    return function.value(code_.source(out_.code).operands[now_.operands[buffer]].value).name;
  }

  Expected<size_t> choose_written() {
    std::optional<size_t> found;
    for (size_t i = 0; i < now_.buffers.size(); ++i) {
      if (!writes(now_.buffers[i].access)) continue;
      if (!found && (query_.value.empty() || query_.value == name_of(i))) found = i;
    }
    if (!found) {
      std::string all;
      for (const std::string& v : out_.values) all += (all.empty() ? "%" : ", %") + v;
      return fail(ErrorKind::kUsage, "not_written",
                  fmt::format("{} does not write %{}; it writes {}", out_.address, query_.value,
                              all.empty() ? "nothing" : all));
    }
    out_.value = name_of(*found);
    return *found;
  }

  void find_moment() {
    const auto made = find_allocation(interpreter_, out_.rank, now_.buffers[written_].allocation);
    const auto at = interpreter_.next_code(out_.rank);
    if (at == out_.code) {
      moment_ = Moment::kNext;
      out_.moment = fmt::format("Rank {} executes this next: what it will compute.", out_.rank);
    } else if (made && made->version > 0 && made->written_by == out_.code) {
      task_ = made->written_task;
      const TaskRecord* task = interpreter_.task(task_);
      moment_ = task && !task->finished() ? Moment::kIssued : Moment::kRan;
      out_.moment = moment_ == Moment::kRan ? "It ran: what it computed."
                                            : "It was issued and has not finished: what it will "
                                              "compute.";
    } else {
      moment_ = Moment::kElsewhere;
      out_.provisional = true;
      out_.moment = fmt::format(
          "Rank {} is at another instruction: this is what it would compute from the current "
          "operands.",
          out_.rank);
    }
  }

  bool is_pending(const AllocationView& a) const {
    const TaskRecord* writer = interpreter_.task(a.written_task);
    return a.version > 0 && writer && !writer->finished() && a.written_task != task_;
  }

  bool needs_finished() const {
    if (moment_ == Moment::kRan) return false;
    for (const BufferRef& ref : now_.buffers) {
      const auto a = find_allocation(interpreter_, out_.rank, ref.allocation);
      if (reads(ref.access) && a && is_pending(*a)) return true;
    }
    return false;
  }

  // True if the operands are those that the launch reads, or did read.
  bool operands_hold(const FinishedDevice* device) {
    bool hold = true;
    const auto refuse = [&](std::string why) {
      out_.notes.push_back(std::move(why));
      hold = false;
    };
    const bool past = moment_ == Moment::kRan || moment_ == Moment::kIssued;
    for (size_t i = 0; i < now_.buffers.size(); ++i) {
      const BufferRef& ref = now_.buffers[i];
      const auto a = find_allocation(interpreter_, out_.rank, ref.allocation);
      if (!reads(ref.access) || !a) continue;
      const std::string name = name_of(i);
      const std::string writer = a->version > 0 ? code_.address(a->written_by) : "";
      if (moment_ == Moment::kRan && ref.access == Access::kReadWrite) {
        refuse(
            fmt::format("%{} was overwritten by this launch itself: go back to before it "
                        "(reverse-step) to see what it read.",
                        name));
      } else if (past && a->version > 0 && a->written_task != kNoTask && a->written_task > task_) {
        refuse(fmt::format(
            "The buffer of %{} has since been written by {}, perhaps in a different part: "
            "go back to see what it read.",
            name, writer));
      } else if (!past && is_pending(*a) &&
                 (device == nullptr || !device->finished(a->written_task))) {
        refuse(fmt::format("%{} is still to be written by {}, which cannot finish as things stand.",
                           name, writer));
      } else if (a->version == 0 && !a->initialised && !a->parameter) {
        refuse(fmt::format("Nothing has written %{} yet.", name));
      }
    }
    return hold;
  }

  Expected<void> evaluate() {
    LaunchQuery query;
    query.code = out_.code;
    query.rank = out_.rank;
    query.buffers = now_.buffers;
    query.written = written_;
    query.element = out_.element;
    ElementQueries* elements = interpreter_.backend().elements();
    Expected<LaunchElement> answer =
        elements != nullptr ? elements->launch_element(query)
                            : Expected<LaunchElement>(no_elements(interpreter_.backend()));
    if (!answer) {
      list_ops(*kernel_of());
      out_.notes.push_back(answer.error().message() + ".");
      return {};
    }
    const Function& kernel = *answer->kernel;
    for (const ElementStep& step : answer->steps) add_step(kernel, *answer, step);
    out_.result = std::move(answer->value);
    out_.number = format_number(out_.result, 0);
    out_.ran_whole = answer->ran_whole;
    if (!out_.ran_whole) {
      out_.notes.push_back(
          "Only what this element needs was computed: the launch adds in other blocks, so its last "
          "digits may differ.");
    }
    return {};
  }

  InsideOperand operand(const Function& kernel, const LaunchElement& answer,
                        const ElementPart& part) const {
    InsideOperand out;
    if (!part.value.valid()) return out;
    out.value = kernel.value(part.value).name;
    out.rank = out_.rank;
    for (size_t p = 0; p < kernel.params.size(); ++p) {
      if (kernel.params[p].value != part.value) continue;
      out.of_host = true;
      out.value = name_of(static_cast<size_t>(answer.buffer_of_parameter[p]));
    }
    describe_part(part.tensor, part.box, out);
    return out;
  }

  void add_step(const Function& kernel, const LaunchElement& answer, const ElementStep& from) {
    InsideStep& step = out_.steps.emplace_back();
    const Instruction& instruction = kernel.instr(from.instruction);
    step.op = record(instruction.kind).mnemonic;
    step.text = text::print_line(kernel, from.instruction);
    for (const ElementPart& part : from.makes) {
      if (!part.box.empty()) step.made = operand(kernel, answer, part);
    }
    for (const ElementPart& part : from.reads) step.reads.push_back(operand(kernel, answer, part));
    step.terms = terms_of(*code_.program, kernel, from, step.reads);
  }

  // Reads the buffer if this launch was its last writer.
  void read_held(const Placement& placement) {
    if (moment_ != Moment::kRan) return;
    Box box{out_.element, out_.element};
    for (int64_t& hi : box.hi) ++hi;
    BufferRef ref = now_.buffers[written_];
    ref.placement = &placement;
    const auto held = interpreter_.backend().read(out_.rank, ref, box);
    if (!held) return;
    out_.held = format_number(*held, 0);
    if (out_.number.empty() || held->data == out_.result.data) return;
    out_.notes.push_back(fmt::format(
        "%{} holds {}, whose bits differ from the result of these steps.", out_.value, out_.held));
  }

  Interpreter& interpreter_;
  const Code& code_;
  const InsideQuery& query_;
  Inside& out_;
  OperandsNow now_;
  size_t written_ = 0;
  Moment moment_ = Moment::kNext;
  TaskId task_ = kNoTask;
};

// A group is explained through the member that writes the requested value.
CodeIndex member_of_group(const Code& code, CodeIndex group, const std::string& value) {
  std::optional<CodeIndex> first;
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    if (c.group != group || c.role != CodeRole::kInstruction) continue;
    for (const Operand& operand : code.source(i).operands) {
      if (!writes(operand.access) || !operand.value.valid()) continue;
      if (!first) first = i;
      if (code.functions[c.function]->value(operand.value).name == value) return i;
    }
  }
  return first.value_or(group);
}

}  // namespace

FinishedDevice::FinishedDevice(Interpreter& interpreter) : backend_(interpreter.backend()) {
  Checkpoints* checkpoints = backend_.checkpoints();
  if (checkpoints == nullptr) return;
  auto before = checkpoints->checkpoint();
  if (!before) return;
  before_ = std::move(*before);
  std::vector<HostState> hosts(static_cast<size_t>(interpreter.code().rank_count));
  for (size_t r = 0; r < hosts.size(); ++r)
    hosts[r] = {HostState::Kind::kDone, interpreter.rank(static_cast<Rank>(r)).clock_ns, kNoTask};
  while (backend_.poll(hosts, *this) == Progress::kProgressed) {
  }
}

FinishedDevice::~FinishedDevice() {
  if (before_) static_cast<void>(backend_.checkpoints()->restore(*before_));
}

tl::unexpected<Error> no_elements(const Backend& backend) {
  return fail(ErrorKind::kRuntime, "no_element",
              "the backend `" + backend.capabilities().name +
                  "` cannot tell what an element was computed from; `sim` can");
}

namespace {

// `[0, 2, 0:8]`: a single index for dimensions of extent 1.
std::string place_text(const Box& box) {
  std::string out;
  for (size_t d = 0; d < box.lo.size(); ++d) {
    out += (out.empty() ? "" : ", ") + std::to_string(box.lo[d]);
    if (box.hi[d] != box.lo[d] + 1) out += ":" + std::to_string(box.hi[d]);
  }
  return "[" + out + "]";
}

}  // namespace

void describe_part(const Tensor& tensor, const Box& box, InsideOperand& out) {
  out.element = box.lo;
  out.count = box.volume();
  out.place = place_text(box);
  const int64_t count = tensor.element_count();
  if (tensor.data.empty() || count == 0) return;
  if (count == 1) {
    out.number = format_number(tensor, 0);
    out.not_finite = !std::isfinite(tensor.get_double(0));
    return;
  }
  int64_t least = -1;
  int64_t most = -1;
  int64_t bad = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double v = tensor.get_double(i);
    bad += std::isfinite(v) ? 0 : 1;
    if (std::isnan(v)) continue;
    if (least < 0 || v < tensor.get_double(least)) least = i;
    if (most < 0 || v > tensor.get_double(most)) most = i;
  }
  out.not_finite = bad > 0;
  if (least >= 0)
    out.number = fmt::format("{} .. {}", format_number(tensor, least), format_number(tensor, most));
  if (bad > 0) out.number += fmt::format("{}{} NaN or Inf", out.number.empty() ? "" : ", ", bad);
}

Expected<std::vector<int64_t>> chosen_element(const InsideQuery& query, const std::string& value,
                                              const Placement& placement) {
  if (query.element.empty()) return placement.box.lo;
  Box box{query.element, query.element};
  for (int64_t& hi : box.hi) ++hi;
  if (query.element.size() == placement.box.lo.size() && placement.box.contains(box))
    return query.element;
  return fail(ErrorKind::kUsage, "not_held",
              fmt::format("rank {} holds %{}{}, not the element {}", query.rank, value,
                          to_string(placement.box), index_text(query.element)));
}

Expected<Inside> look_inside(Interpreter& interpreter, const Snapshot& snapshot,
                             const InsideQuery& query) {
  const Code& code = interpreter.code();
  if (query.rank < 0 || query.rank >= code.rank_count)
    return fail(ErrorKind::kUsage, "no_rank", fmt::format("there is no rank {}", query.rank));
  Inside out;
  out.rank = query.rank;
  const auto at = interpreter.next_code(query.rank);
  if (query.code == kAtRank && !at) {
    out.notes.push_back(fmt::format("Rank {} has returned: it executes nothing more.", query.rank));
    return out;
  }
  out.code = query.code == kAtRank ? *at : query.code;
  if (out.code >= code.instructions.size())
    return fail(ErrorKind::kUsage, "no_place", "there is no such instruction");
  if (record(code.instructions[out.code].kind).role == HostRole::kGroup)
    out.code = member_of_group(code, out.code, query.value);
  const CodeInstruction& c = code.instructions[out.code];
  if (c.role != CodeRole::kInstruction) return out;
  const Function& function = *code.functions[c.function];
  const Instruction& source = code.source(out.code);
  const OpRecord& op = record(source.kind);
  out.address = code.address(out.code);
  out.text = text::print_line(function, c.instr);
  for (const Operand& operand : source.operands) {
    if (writes(operand.access) && operand.value.valid())
      out.values.push_back(function.value(operand.value).name);
  }
  if (op.role == HostRole::kLaunch) {
    out.kind = Inside::Kind::kLaunch;
    HOSTIR_TRY(LaunchLook(interpreter, query, out).look());
  } else if (op.op_class == OpClass::kCommunication) {
    out.kind = Inside::Kind::kCollective;
    HOSTIR_TRY(look_inside_collective(interpreter, snapshot, query, out));
  } else {
    out.notes.push_back(fmt::format(
        "{} neither moves nor computes elements: `inside` works for launches and collectives.",
        op.mnemonic));
  }
  return out;
}

}  // namespace hostir::interp
