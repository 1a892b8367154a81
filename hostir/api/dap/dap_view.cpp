#include "hostir/api/dap/dap_view.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "hostir/api/serve/command_data.h"
#include "hostir/io/files.h"
#include "interp/session/answers/locals.h"
#include "interp/session/expressions/watch_expr.h"

namespace hostir::api {

namespace {

using interp::FrameSnapshot;
using interp::Rank;
using interp::RankSnapshot;
using interp::Snapshot;

// Numbers of texts that are not files: the running text, then the phases, then the user's texts.
constexpr int64_t kRunningText = 1;
constexpr int64_t kFirstPhase = 2;
constexpr int64_t kFirstGiven = 1000;

Json named(const std::string& name, const std::string& value, const std::string& type = {}) {
  Json out = {{"name", name}, {"value", value}, {"variablesReference", 0}};
  if (!type.empty()) out["type"] = type;
  return out;
}

std::string without_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

tl::unexpected<Error> usage(std::string message) {
  return fail(ErrorKind::kUsage, "dap_request", std::move(message));
}

std::string thread_name(const Snapshot& snapshot, const RankSnapshot& rank) {
  std::string out = fmt::format("rank {}", rank.rank);
  const Mesh* mesh = snapshot.program->mesh();
  const auto position = mesh ? mesh->position_of(rank.rank) : std::nullopt;
  if (position) {
    std::vector<std::string> coordinates;
    for (size_t axis = 0; axis < mesh->axes.size(); ++axis)
      coordinates.push_back(
          fmt::format("{}={}", mesh->axes[axis].name, mesh->coord(*position, axis)));
    out += fmt::format(" ({})", fmt::join(coordinates, ", "));
  }
  if (rank.status != interp::RankStatus::kRunnable)
    out += fmt::format(", {}", interp::name(rank.status));
  return out;
}

// `%h[3, 1]`; `%h` without indices.
std::string element_name(const std::string& value, const std::vector<int64_t>& index) {
  return index.empty() ? "%" + value : fmt::format("%{}[{}]", value, fmt::join(index, ", "));
}

}  // namespace

Expected<Rank> DapView::rank_of_thread(int64_t thread) const {
  const int64_t ranks = session_.snapshot()->rank_count();
  if (thread >= 1 && thread <= ranks) return static_cast<Rank>(thread - 1);
  return usage(fmt::format("there is no thread {}; the run has threads 1 to {}", thread, ranks));
}

Expected<Rank> DapView::rank_of_frame(int64_t frame) const {
  return rank_of_thread(frame / kFramesPerRank + 1);
}

int64_t DapView::refer(Reference reference) {
  references_.push_back(std::move(reference));
  return static_cast<int64_t>(references_.size());
}

Json DapView::threads() const {
  const interp::SnapshotPtr shot = session_.snapshot();
  Json out = Json::array();
  for (const auto& rank : shot->ranks)
    out.push_back({{"id", thread_of(rank->rank)}, {"name", thread_name(*shot, *rank)}});
  return out;
}

// The user's file by path, other texts by number.
Json DapView::place_json(const interp::TextLine& at) const {
  if (!at.sources || at.line == 0) return Json::object();
  const interp::ProgramView& program = *session_.snapshot()->program;
  const std::string name(at.sources->name(at.file));
  Json source = {{"name", io::file_name(name)}};
  std::error_code none;
  if (at.sources != program.given.texts.get()) {
    source["sourceReference"] = kRunningText;
    source["origin"] = "lowered";
  } else if (std::filesystem::is_regular_file(name, none)) {
    source["path"] = std::filesystem::absolute(name, none).lexically_normal().string();
  } else {
    source["sourceReference"] = kFirstGiven + at.file;
  }
  return {{"source", std::move(source)}, {"line", at.line}, {"column", 1}};
}

Json DapView::frame_json(Rank rank, int64_t depth, const std::string& name,
                         interp::CodeIndex code) const {
  const interp::SnapshotPtr shot = session_.snapshot();
  const interp::ProgramView& program = *shot->program;
  Json out = {{"id", int64_t{rank} * kFramesPerRank + depth}, {"name", name}};
  const bool known = code < program.lines.size();
  out.update(place_json(known ? program.shown(code) : interp::TextLine{}));
  if (!out.contains("line")) out.update(Json{{"line", 0}, {"column", 0}});
  out["instructionPointerReference"] = program.address(code);
  return out;
}

Expected<Json> DapView::stack(int64_t thread, int64_t first, int64_t levels) const {
  HOSTIR_ASSIGN_OR_RETURN(const Rank number, rank_of_thread(thread));
  const interp::SnapshotPtr shot = session_.snapshot();
  const interp::ProgramView& program = *shot->program;
  const RankSnapshot& rank = shot->rank(number);
  Json frames = Json::array();
  if (rank.status == interp::RankStatus::kDone) {
    frames.push_back({{"id", int64_t{number} * kFramesPerRank},
                      {"name", "has finished"},
                      {"line", 0},
                      {"column", 0}});
    return Json{{"stackFrames", std::move(frames)}, {"totalFrames", 1}};
  }
  frames.push_back(frame_json(number, 0, fmt::format("{}  {}", rank.op, rank.address), rank.code));
  // The place in the user's file from which the compiler lowered this instruction.
  const SourceSpan span = program.origin(rank.code);
  if (!program.shows_given && span.valid()) {
    const uint32_t line = program.given.texts->locate(span.file, span.begin).line;
    Json origin = {{"id", int64_t{number} * kFramesPerRank + 1},
                   {"name", "lowered from the fusion"},
                   {"presentationHint", "subtle"}};
    origin.update(place_json({program.given.texts.get(), span.file, line}));
    frames.push_back(std::move(origin));
  }
  for (auto frame = rank.frames.rbegin(); frame != rank.frames.rend(); ++frame) {
    const bool loop = frame->kind == FrameSnapshot::Kind::kLoop;
    const std::string name =
        loop ? fmt::format("for %{} = {}  {}", frame->variable, frame->iteration, frame->address)
             : fmt::format("call @{}  {}", frame->variable, frame->address);
    frames.push_back(frame_json(number, static_cast<int64_t>(frames.size()), name,
                                program.find(frame->address)));
  }
  const int64_t total = static_cast<int64_t>(frames.size());
  const int64_t begin = std::clamp<int64_t>(first, 0, total);
  const int64_t end = levels > 0 ? begin + std::min(levels, total - begin) : total;
  Json wanted(frames.begin() + begin, frames.begin() + end);
  if (!wanted.is_array()) wanted = Json::array();
  return Json{{"stackFrames", std::move(wanted)}, {"totalFrames", total}};
}

Expected<Json> DapView::scopes(int64_t frame) {
  using Kind = Reference::Kind;
  HOSTIR_ASSIGN_OR_RETURN(const Rank rank, rank_of_frame(frame));
  Json out = Json::array();
  const auto add = [&](const char* name, Kind kind, bool expensive) {
    out.push_back({{"name", name},
                   {"variablesReference", refer({kind, rank, {}, {}})},
                   {"expensive", expensive}});
  };
  if (!interp::local_integers(session_, rank).empty()) add("Integers", Kind::kIntegers, false);
  add("Tensors", Kind::kTensors, false);
  if (session_.snapshot()->rank(rank).outstanding() > 0) add("Pending", Kind::kStreams, false);
  if (session_.snapshot()->rank(rank).waits) add("Waits for", Kind::kWaits, false);
  return out;
}

Json DapView::integers(Rank rank) const {
  Json out = Json::array();
  for (const interp::LocalInteger& integer : interp::local_integers(session_, rank)) {
    out.push_back(named("%" + integer.name, integer.text, "index"));
    out.back()["evaluateName"] = "%" + integer.name;
  }
  return out;
}

Json DapView::tensor_json(const std::string& value, Rank rank) {
  const auto text = interp::value_in_short(session_, value, rank);
  Json out = named("%" + value, text ? *text : text.error().message());
  out["evaluateName"] = "%" + value;
  for (const interp::AllocationSnapshot& a :
       session_.snapshot()->memory[static_cast<size_t>(rank)]->allocations) {
    if (a.name != value || !a.live) continue;
    out["type"] = to_string(a.type);
    if (!a.placement.box.lo.empty())
      out["indexedVariables"] = a.placement.box.hi[0] - a.placement.box.lo[0];
    out["variablesReference"] = refer({Reference::Kind::kTensor, rank, value, {}});
    break;
  }
  return out;
}

Json DapView::tensors(Rank rank) {
  Json out = Json::array();
  for (const interp::AllocationSnapshot& a :
       session_.snapshot()->memory[static_cast<size_t>(rank)]->allocations) {
    if (a.live) out.push_back(tensor_json(a.name, rank));
  }
  return out;
}

Json DapView::streams(Rank rank) const {
  Json out = Json::array();
  for (const interp::StreamSnapshot& stream : session_.snapshot()->rank(rank).streams) {
    for (const interp::TaskSnapshot& task : stream.tasks) {
      const bool queued = task.state == interp::TaskSnapshot::State::kQueued;
      out.push_back(named(fmt::format("{} {}", stream.name, task.address),
                          fmt::format("{}: {}", queued ? "queued" : "running", task.text)));
    }
  }
  return out;
}

Json DapView::waits(Rank rank) const {
  Json out = Json::array();
  const auto& waits = session_.snapshot()->rank(rank).waits;
  if (!waits) return out;
  out.push_back(named("for", waits->sentence));
  out.push_back(named("ranks", fmt::format("{}", fmt::join(waits->ranks, ", "))));
  return out;
}

// The next dimension of a tensor: rows of rows, and elements in the last one.
Expected<Json> DapView::parts(Reference reference, std::string_view filter, int64_t first,
                              int64_t count) {
  interp::ValueQuery query;
  query.value = reference.value;
  query.rank = reference.rank;
  const auto& memory = *session_.snapshot()->memory[static_cast<size_t>(reference.rank)];
  const auto a = std::find_if(memory.allocations.begin(), memory.allocations.end(),
                              [&](const auto& allocation) {
                                return allocation.name == reference.value && allocation.live;
                              });
  if (a == memory.allocations.end())
    return usage(fmt::format("rank {} no longer holds %{}", reference.rank, reference.value));
  const size_t depth = reference.prefix.size();
  const Box& held = a->placement.box;
  Json out = Json::array();
  if (filter != "indexed" && depth == 0) {
    const Sharding* sharding = sharding_of(a->type);
    if (sharding) out.push_back(named("layout", sharding->to_pytorch()));
    out.push_back(named("held", box_json(held).dump()));
    out.push_back(named("bytes", fmt::format("{}", a->bytes)));
    out.push_back(named("written by", a->written_by.empty() ? "(nobody yet)" : a->written_by));
  }
  if (filter == "named" || depth >= held.lo.size()) return out;
  const int64_t begin =
      held.lo[depth] + std::clamp<int64_t>(first, 0, held.hi[depth] - held.lo[depth]);
  const int64_t wanted = count > 0 ? std::min(count, kMostElements) : kMostElements;
  const int64_t end = std::min(held.hi[depth], begin + wanted);
  for (int64_t i = begin; i < end; ++i) {
    Reference inner = reference;
    inner.prefix.push_back(i);
    query.box = held;
    for (size_t d = 0; d <= depth; ++d) {
      query.box->lo[d] = inner.prefix[d];
      query.box->hi[d] = inner.prefix[d] + 1;
    }
    HOSTIR_ASSIGN_OR_RETURN(const interp::ValueReading reading, session_.read(query));
    HOSTIR_ASSIGN_OR_RETURN(const interp::WatchExpr watch,
                            interp::parse_watch("%" + reference.value));
    Json part =
        named(fmt::format("[{}]", i),
              reading.undefined ? "not written" : interp::watch_text(watch, reading.tensor));
    part["evaluateName"] = element_name(reference.value, inner.prefix);
    if (depth + 1 < held.lo.size()) {
      part["indexedVariables"] = held.hi[depth + 1] - held.lo[depth + 1];
      part["variablesReference"] = refer(std::move(inner));
    }
    out.push_back(std::move(part));
  }
  return out;
}

Expected<Json> DapView::variables(int64_t reference, std::string_view filter, int64_t first,
                                  int64_t count) {
  if (reference < 1 || reference > static_cast<int64_t>(references_.size()))
    return usage(
        fmt::format("variables reference {} is no longer valid: the run has moved", reference));
  const Reference wanted = references_[static_cast<size_t>(reference - 1)];
  switch (wanted.kind) {
    case Reference::Kind::kIntegers:
      return integers(wanted.rank);
    case Reference::Kind::kTensors:
      return tensors(wanted.rank);
    case Reference::Kind::kStreams:
      return streams(wanted.rank);
    case Reference::Kind::kWaits:
      return waits(wanted.rank);
    case Reference::Kind::kTensor:
      return parts(wanted, filter, first, count);
  }
  return Json::array();
}

Expected<Json> DapView::set(int64_t reference, const std::string& name, const std::string& value) {
  const bool known = reference >= 1 && reference <= static_cast<int64_t>(references_.size());
  if (!known || references_[static_cast<size_t>(reference - 1)].kind != Reference::Kind::kTensor)
    return usage(fmt::format("{} cannot be set; only elements of tensors can", name));
  const Reference parent = references_[static_cast<size_t>(reference - 1)];
  std::string index = name;
  std::erase_if(index, [](char c) { return c == '[' || c == ']'; });
  std::string element = "%" + parent.value + "[";
  for (const int64_t i : parent.prefix) element += fmt::format("{}, ", i);
  element += index + "]";
  HOSTIR_ASSIGN_OR_RETURN(
      const interp::Command command,
      interp::parse_command(fmt::format("set {} = {} rank {}", element, value, parent.rank)));
  HOSTIR_TRY(session_.execute(command, {}));
  return evaluate(element, parent.rank);
}

// The short form of a tensor or a number of it, as a watch shows it.
Expected<std::string> DapView::watched(const std::string& text, Rank rank) {
  HOSTIR_ASSIGN_OR_RETURN(const interp::WatchExpr watch, interp::parse_watch(text));
  interp::ValueQuery query;
  query.value = watch.value;
  query.rank = rank;
  for (const interp::AllocationSnapshot& a :
       session_.snapshot()->memory[static_cast<size_t>(rank)]->allocations) {
    if (a.name != watch.value || !a.live || watch.slice.empty()) continue;
    HOSTIR_ASSIGN_OR_RETURN(query.box, interp::slice_box(watch.slice, a.placement.global));
  }
  HOSTIR_ASSIGN_OR_RETURN(const interp::ValueReading reading, session_.read(query));
  return reading.undefined ? "not written" : interp::watch_text(watch, reading.tensor);
}

Expected<Json> DapView::evaluate(const std::string& expression, Rank rank) {
  std::string text = expression;
  const std::string value = expression.substr(expression.find_first_not_of('%') == 1 ? 1 : 0);
  for (const interp::AllocationSnapshot& a :
       session_.snapshot()->memory[static_cast<size_t>(rank)]->allocations) {
    if (a.name != value) continue;
    if (a.live) {
      Json out = tensor_json(value, rank);
      out["result"] = out["value"];
      return out;
    }
    text = "%" + value;  // an editor may take the word under the pointer without its sigil
  }
  std::string result;
  if (auto number = watched(text, rank)) {
    result = std::move(*number);
  } else {
    // Not a watch: try it as an argument of `print`, whose errors are more specific.
    HOSTIR_ASSIGN_OR_RETURN(const interp::Command command,
                            interp::parse_command(fmt::format("print {} rank {}", text, rank)));
    HOSTIR_ASSIGN_OR_RETURN(const CommandResult done, carry_out(session_, command, {}));
    result = without_newline(done.outcome.text);
  }
  return Json{{"result", result}, {"value", result}, {"variablesReference", 0}};
}

Json DapView::loaded_sources() const {
  const interp::ProgramView& program = *session_.snapshot()->program;
  Json out = Json::array();
  if (!program.shows_given)
    out.push_back({{"name", std::string(program.sources->name(program.file))},
                   {"sourceReference", kRunningText}});
  int64_t number = kFirstPhase;
  for (const interp::PhaseText& phase : program.phases)
    out.push_back({{"name", phase.name + ".hir"}, {"sourceReference", number++}});
  return out;
}

Expected<std::string> DapView::source_text(int64_t reference) const {
  const interp::ProgramView& program = *session_.snapshot()->program;
  if (reference == kRunningText) return std::string(program.text());
  const auto& given = program.given.texts;
  if (given && reference >= kFirstGiven && reference - kFirstGiven < int64_t{given->size()})
    return std::string(given->text(static_cast<uint32_t>(reference - kFirstGiven)));
  int64_t number = kFirstPhase;
  for (const interp::PhaseText& phase : program.phases) {
    if (number++ == reference) return phase.text;
  }
  return usage(fmt::format("there is no text {}", reference));
}

}  // namespace hostir::api
