#include "interp/session/answers/answer.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/box_text.h"
#include "interp/session/answers/matrix_text.h"
#include "interp/session/answers/tables.h"
#include "interp/session/commands/command_table.h"
#include "interp/session/commands/places.h"
#include "interp/session/commands/rank_selection.h"
#include "interp/session/expressions/watch_expr.h"

namespace hostir::interp {
namespace {

constexpr uint32_t kListContext = 5;  // lines before and after

std::string source_line(uint32_t number, std::string_view text, std::string_view mark) {
  return fmt::format("{} {:>4}  {}\n", mark, number, text);
}

uint32_t line_count(const TextLine& at) {
  const std::string_view text = at.sources->text(at.file);
  return static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n'));
}

ListedLines lines_between(const Snapshot& snapshot, TextLine at, uint32_t first, uint32_t last) {
  const TextLine here = snapshot.program->shown(snapshot.rank(snapshot.focus).code);
  last = std::min(last, line_count(at));
  ListedLines out;
  out.file = at.sources->name(at.file);
  out.first = first;
  if (at.file == here.file && at.sources == here.sources) out.here = here.line;
  for (at.line = first; at.line <= last; ++at.line)
    out.lines.emplace_back(at.sources->line(at.file, at.line));
  return out;
}

ListedLines lines_around(const Snapshot& snapshot, TextLine at) {
  const uint32_t first = at.line > kListContext ? at.line - kListContext : 1;
  return lines_between(snapshot, at, first, at.line + kListContext);
}

std::string frame_words(const FrameSnapshot& frame) {
  return frame.kind == FrameSnapshot::Kind::kLoop
             ? fmt::format("loop %{} = {}", frame.variable, frame.iteration)
             : fmt::format("call of @{}", frame.variable);
}

Expected<TextLine> listed_place(const Snapshot& snapshot, const Command& command) {
  const ProgramView& view = *snapshot.program;
  const RankSnapshot& focus = snapshot.rank(snapshot.focus);
  TextLine at = view.shown(focus.code);
  if (!command.place) return at;
  if (command.place->kind == Place::Kind::kLine && command.place->name.empty()) {
    const int64_t lines = line_count(at);
    if (command.place->number < 1 || command.place->number > lines) {
      return fail(ErrorKind::kUsage, "no_place",
                  fmt::format("there is no line {}; {} has {} lines", command.place->number,
                              at.sources->name(at.file), lines));
    }
    at.line = static_cast<uint32_t>(command.place->number);
    return at;
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto codes, find_places(*command.place, view, focus.function));
  at.line = 1;
  return codes.empty() ? at : view.shown(codes.front());
}

Expected<std::string> info(const Snapshot& snapshot, const Command& command) {
  switch (*command.topic) {
    case InfoTopic::kRanks:
      return ranks_table(snapshot);
    case InfoTopic::kColls:
      return collectives_table(snapshot);
    case InfoTopic::kWaits:
      return waits_text(snapshot);
    case InfoTopic::kStreams:
      return streams_table(snapshot);
    case InfoTopic::kEvents:
      return events_table(snapshot);
    case InfoTopic::kMemory:
      return memory_table(snapshot);
    case InfoTopic::kBreak:
      return breakpoints_table(snapshot);
    case InfoTopic::kProgram:
      return program_text(snapshot);
    case InfoTopic::kLayout:
      return layout_text(snapshot, command.value);
    case InfoTopic::kFaults:
      return faults_text(snapshot);
    case InfoTopic::kHistory:
      return history_text(snapshot);
  }
  return std::string();
}

Expected<std::string> backtrace(const Snapshot& snapshot, const Command& command) {
  HOSTIR_ASSIGN_OR_RETURN(const auto ranks, select_ranks(command.ranks, snapshot));
  std::string out;
  for (const Rank r : ranks) {
    const RankSnapshot& rank = snapshot.rank(r);
    out += position_text(snapshot, r);
    int n = 1;
    for (auto f = rank.frames.rbegin(); f != rank.frames.rend(); ++f, ++n) {
      out += fmt::format("  #{} {} at {}\n", n, frame_words(*f), f->address);
    }
  }
  return out;
}

// The box of a slice; nullopt if no slice was given. The snapshot has an allocation's extents;
// those of a view are found by reading it.
Expected<std::optional<Box>> box_of(Session& session, const Snapshot& snapshot,
                                    const Command& command, ValueQuery query) {
  if (command.slice.empty()) return std::optional<Box>();
  Extents extents;
  bool found = false;
  for (const auto& memory : snapshot.memory) {
    for (const AllocationSnapshot& a : memory->allocations) {
      if (a.name != command.value) continue;
      extents = a.placement.global;
      found = true;
    }
  }
  if (!found) {
    HOSTIR_ASSIGN_OR_RETURN(const ValueReading whole, session.read(query));
    extents = whole.placement.global;
  }
  HOSTIR_ASSIGN_OR_RETURN(Box box, slice_box(command.slice, extents));
  return std::optional(std::move(box));
}

std::string reading_text(const std::string& head, const ValueReading& reading, char format) {
  std::string out = head;
  const Sharding* sharding = sharding_of(reading.type);
  if (!std::holds_alternative<IndexType>(reading.type)) {
    out += " : " + to_string(reading.type);
    if (sharding) out += "  " + sharding->to_pytorch();
    if (reading.box != Box::whole(reading.placement.global)) out += "  " + to_string(reading.box);
  }
  out += "\n";
  if (reading.undefined) return out + "  not written yet\n";
  out += matrix_text(reading.tensor, format);
  if (reading.write_in_flight) out += "  a write is in flight and not visible yet\n";
  for (const std::string& note : reading.notes) out += "  " + note + "\n";
  return out;
}

// Cuts the reading down to `count` elements in the rank's memory order, starting at the first
// element that the slice names.
Expected<void> take_elements(ValueReading& reading, const std::vector<SliceRange>& from,
                             int64_t count) {
  const Extents extents = reading.tensor.extents;
  int64_t first = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t at = d < from.size() ? from[d].lo - reading.box.lo[d] : 0;
    if (at < 0 || at >= extents[d]) {
      return fail(ErrorKind::kUsage, "slice_range",
                  fmt::format("the rank holds {} of dimension {}, which does not have {}",
                              to_string(reading.box), d, from[d].lo));
    }
    first = first * extents[d] + at;
  }
  const int64_t taken = std::min(count, reading.tensor.element_count() - first);
  if (taken < count)
    reading.notes.push_back(
        fmt::format("only {} elements follow; {} were requested", taken, count));
  const int64_t size = size_bytes(reading.tensor.dtype);
  const auto begin = reading.tensor.data.begin() + first * size;
  Tensor part{reading.tensor.dtype, {taken}, {begin, begin + taken * size}};
  reading.tensor = std::move(part);
  return {};
}

Expected<std::vector<PrintedValue>> read_elements(Session& session, const Command& command) {
  Command whole = command;
  whole.numbers.clear();
  whole.slice.clear();
  HOSTIR_ASSIGN_OR_RETURN(auto out, read_printed(session, whole));
  for (PrintedValue& value : out) {
    if (!value.reading || value.reading->undefined) continue;
    HOSTIR_TRY(take_elements(*value.reading, command.slice, command.numbers.front()));
  }
  return out;
}

// The tensor of an expression such as `max(%y[0, :]) - 1`.
Expected<std::vector<PrintedValue>> read_operand(Session& session, const Command& command) {
  HOSTIR_ASSIGN_OR_RETURN(const WatchExpr watch, parse_watch(to_string(*command.condition)));
  Command operand = command;
  operand.condition.reset();
  operand.value = watch.value;
  operand.slice = watch.slice;
  return read_printed(session, operand);
}

std::string expression_text(const std::vector<PrintedValue>& values, const Expression& expression) {
  const std::string text = to_string(expression);
  const auto watch = parse_watch(text);
  std::string out;
  for (const PrintedValue& value : values) {
    const std::string where =
        value.rank ? fmt::format("on rank {}", *value.rank) : std::string("global");
    std::string result = "not written yet";
    if (!value.reading)
      result = value.reading.error().message();
    else if (watch && !value.reading->undefined)
      result = watch_text(*watch, value.reading->tensor);
    if (value.reading && value.reading->write_in_flight)
      result += "  (a write is in flight and not visible yet)";
    out += fmt::format("{} {} = {}\n", text, where, result);
  }
  return out;
}

}  // namespace

bool only_looks(CommandKind kind) {
  switch (kind) {
    case CommandKind::kInfo:
    case CommandKind::kPrint:
    case CommandKind::kExamine:
    case CommandKind::kInside:
    case CommandKind::kBacktrace:
    case CommandKind::kList:
    case CommandKind::kHelp:
      return true;
    default:
      return false;
  }
}

Expected<std::vector<PrintedValue>> read_printed(Session& session, const Command& command) {
  if (command.condition) return read_operand(session, command);
  if (!command.numbers.empty()) return read_elements(session, command);
  const SnapshotPtr snapshot = session.snapshot();
  std::vector<PrintedValue> out;
  ValueQuery query;
  query.value = command.value;
  query.rank = snapshot->focus;
  if (command.from == Command::From::kGlobal) {
    query.from = ValueQuery::From::kGlobal;
    HOSTIR_ASSIGN_OR_RETURN(query.box, box_of(session, *snapshot, command, query));
    HOSTIR_ASSIGN_OR_RETURN(ValueReading reading, session.read(query));
    out.push_back({command.value, std::nullopt, std::move(reading)});
    return out;
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto ranks, select_ranks(command.ranks, *snapshot));
  query.rank = ranks.front();
  HOSTIR_ASSIGN_OR_RETURN(query.box, box_of(session, *snapshot, command, query));
  for (const Rank r : ranks) {
    query.rank = r;
    auto reading = session.read(query);
    if (!reading && ranks.size() == 1) return tl::unexpected(std::move(reading.error()));
    out.push_back({command.value, r, std::move(reading)});
  }
  return out;
}

std::string printed_text(const std::vector<PrintedValue>& values, const Command& command) {
  if (command.condition) return expression_text(values, *command.condition);
  const bool bits = command.kind == CommandKind::kExamine && command.format == 0;
  const char format = bits ? 'x' : command.format;
  std::string out;
  for (const PrintedValue& value : values) {
    const std::string head = value.rank ? fmt::format("%{} on rank {}", value.name, *value.rank)
                                        : fmt::format("%{} global", value.name);
    out += value.reading ? reading_text(head, *value.reading, format)
                         : value.reading.error().message() + "\n";
  }
  return out;
}

Expected<std::vector<Inside>> read_inside(Session& session, const Command& command) {
  const SnapshotPtr shot = session.snapshot();
  const Snapshot& snapshot = *shot;
  HOSTIR_ASSIGN_OR_RETURN(const auto ranks, select_ranks(command.ranks, snapshot));
  InsideQuery query;
  query.value = command.value;
  for (const SliceRange& range : command.slice) query.element.push_back(range.lo);
  std::vector<Inside> out;
  for (const Rank r : ranks) {
    query.rank = r;
    query.code = kAtRank;
    if (command.place) {
      HOSTIR_ASSIGN_OR_RETURN(const auto codes, find_places(*command.place, *snapshot.program,
                                                            snapshot.rank(r).function));
      if (codes.empty())
        return fail(ErrorKind::kUsage, "no_place",
                    to_string(*command.place) + " is not an instruction");
      query.code = codes.front();
    }
    HOSTIR_ASSIGN_OR_RETURN(Inside one, session.inside(query));
    out.push_back(std::move(one));
  }
  return out;
}

std::string insides_text(const std::vector<Inside>& found) {
  std::string out;
  for (const Inside& inside : found) out += (out.empty() ? "" : "\n") + inside_text(inside);
  return out;
}

Expected<ListedLines> read_listed(const Snapshot& snapshot, const Command& command) {
  HOSTIR_ASSIGN_OR_RETURN(const TextLine at, listed_place(snapshot, command));
  return lines_around(snapshot, at);
}

ListedLines read_listed_after(const Snapshot& snapshot, const ListedLines& before) {
  const TextLine at = snapshot.program->shown(snapshot.rank(snapshot.focus).code);
  const uint32_t first = before.first + static_cast<uint32_t>(before.lines.size());
  if (at.sources->name(at.file) != before.file) return {before.file, first, {}, 0};
  return lines_between(snapshot, at, first, first + 2 * kListContext);
}

std::string listed_text(const ListedLines& listed) {
  std::string out;
  uint32_t number = listed.first;
  for (const std::string& line : listed.lines) {
    out += source_line(number, line, number == listed.here ? "->" : "  ");
    ++number;
  }
  return out;
}

std::optional<Frame> read_frame(const Snapshot& snapshot, size_t number) {
  const RankSnapshot& rank = snapshot.rank(snapshot.focus);
  Frame out;
  out.list_command.kind = CommandKind::kList;
  if (number == 0) {
    out.text = position_text(snapshot, snapshot.focus);
    return out;
  }
  if (number > rank.frames.size()) return std::nullopt;
  const FrameSnapshot& frame = rank.frames[rank.frames.size() - number];
  out.text = fmt::format("#{} {} at {}\n", number, frame_words(frame), frame.address);
  const auto command = parse_command("list " + frame.address);
  if (!command) return out;
  out.list_command = *command;
  const auto codes = find_places(*command->place, *snapshot.program, rank.function);
  if (!codes || codes->empty()) return out;
  const TextLine line = snapshot.program->shown(codes->front());
  out.text += source_line(line.line, line.sources->line(line.file, line.line), "->");
  return out;
}

namespace {

// `; its last call on record, in flight:`, and its lines: the call and its callers.
std::string last_call_text(const Snapshot& snapshot, Rank rank) {
  const model::Task* last = nullptr;
  for (size_t i = 0; snapshot.run && i < snapshot.run->tasks.size(); ++i) {
    const model::Task& task = snapshot.run->tasks[i];
    if (task.rank() == rank && task.instruction.valid()) last = &task;
  }
  if (last == nullptr) return {};
  std::string text = fmt::format("; its last call on record{}:",
                                 last->state == model::TaskState::kFinished ? "" : ", in flight");
  const TextLine at = snapshot.program->shown(last->instruction.index);
  for (uint32_t n = at.line; n <= line_count(at); ++n) {
    const std::string_view line = at.sources->line(at.file, n);
    if (n > at.line && line.find("// ") == std::string_view::npos) break;
    text += "\n" + source_line(n, line, n == at.line ? "->" : "  ");
    text.pop_back();
  }
  return text;
}

}  // namespace

std::string position_text(const Snapshot& snapshot, Rank rank) {
  const RankSnapshot& at = snapshot.rank(rank);
  const ProgramView& view = *snapshot.program;
  if (at.status == RankStatus::kDone) return fmt::format("rank {} has returned\n", rank);
  if (at.status == RankStatus::kNotStarted) return fmt::format("rank {} was not started\n", rank);
  std::string state;
  if (at.status == RankStatus::kBlocked) state = ", blocked";
  if (at.frozen) state += ", frozen";
  std::string loops;
  for (const FrameSnapshot& f : at.frames) {
    if (f.kind == FrameSnapshot::Kind::kLoop)
      loops += fmt::format(" %{}={}", f.variable, f.iteration);
  }
  if (at.address.empty()) {  // another tool's record does not have it
    std::string text = fmt::format("rank {}: the record does not say where its host is{}\n", rank,
                                   last_call_text(snapshot, rank));
    for (const StreamSnapshot& stream : at.streams) {
      if (!stream.tasks.empty())
        text += fmt::format("  stream {}: {}, in flight\n", stream.name, stream.tasks.front().text);
    }
    return text;
  }
  const TextLine shown = view.shown(at.code);
  return fmt::format("rank {} at {}, {}:{}{}{}\n{}", rank, at.address,
                     shown.sources->name(shown.file), shown.line, loops, state,
                     source_line(shown.line, shown.sources->line(shown.file, shown.line), "->"));
}

Expected<std::string> answer(Session& session, const Command& command) {
  const SnapshotPtr snapshot = session.snapshot();
  switch (command.kind) {
    case CommandKind::kInfo:
      return info(*snapshot, command);
    case CommandKind::kPrint:
    case CommandKind::kExamine: {
      HOSTIR_ASSIGN_OR_RETURN(const auto values, read_printed(session, command));
      return printed_text(values, command);
    }
    case CommandKind::kInside: {
      HOSTIR_ASSIGN_OR_RETURN(const auto found, read_inside(session, command));
      return insides_text(found);
    }
    case CommandKind::kBacktrace:
      return backtrace(*snapshot, command);
    case CommandKind::kList: {
      HOSTIR_ASSIGN_OR_RETURN(const ListedLines listed, read_listed(*snapshot, command));
      return listed_text(listed);
    }
    default:
      return help_text(command.text);
  }
}

}  // namespace hostir::interp
