#include "hostir/api/answer_json.h"

#include <fmt/core.h>

#include <cmath>

#include "hostir/api/snapshot_json.h"
#include "traces/queries.h"

namespace hostir::api {

namespace {

// Longer values are read as tensors.
constexpr int64_t kMaxElements = 1000;

std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view word(interp::StopKind kind) {
  switch (kind) {
    case interp::StopKind::kStart:
      return "start";
    case interp::StopKind::kStep:
      return "step";
    case interp::StopKind::kBreakpoint:
      return "breakpoint";
    case interp::StopKind::kArrived:
      return "arrived";
    case interp::StopKind::kFinished:
      return "finished";
    case interp::StopKind::kFault:
      return "fault";
    case interp::StopKind::kDeadlock:
      return "deadlock";
    case interp::StopKind::kBegin:
      return "begin";
    case interp::StopKind::kNobodyMoves:
      return "nobody_moves";
    case interp::StopKind::kInterrupted:
      return "interrupted";
  }
  return "";
}

Json stop_json(const interp::StopReason& stop, const interp::Code& code) {
  Json out;
  out["kind"] = word(stop.kind);
  out["sentence"] = stop.sentence;
  out["rank"] = stop.rank == interp::kNoRank ? Json(nullptr) : Json(stop.rank);
  out["breakpoint"] = stop.breakpoint == 0 ? Json(nullptr) : Json(stop.breakpoint);
  out["value"] = stop.value.empty() ? Json(nullptr) : Json(stop.value);
  out["element"] = stop.element;
  out["written_by"] = stop.code == interp::kNoCode ? Json(nullptr) : Json(code.address(stop.code));
  return out;
}

Json element_json(const Tensor& tensor, int64_t index) {
  if (!is_float(tensor.dtype)) return tensor.get_int(index);
  const double value = tensor.get_double(index);
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

Json value_json(const interp::PrintedValue& value, const interp::ValueReading& reading) {
  Json out;
  out["value"] = value.name;
  out["rank"] = value.rank ? Json(*value.rank) : Json(nullptr);
  out["dtype"] = name(reading.tensor.dtype);
  out["shape"] = reading.tensor.extents;
  out["type"] = to_string(reading.type);
  const Sharding* sharding = sharding_of(reading.type);
  out["pytorch"] = sharding ? Json(sharding->to_pytorch()) : Json(nullptr);
  out["global_shape"] = reading.placement.global;
  out["box"] = box_json(reading.box);
  out["version"] = reading.version;
  out["written"] = !reading.undefined;
  out["write_in_flight"] = reading.write_in_flight;
  out["notes"] = reading.notes;
  return out;
}

Json printed_json(const std::vector<interp::PrintedValue>& printed) {
  Json out = Json::array();
  for (const interp::PrintedValue& value : printed) {
    if (!value.reading) {
      out.push_back({{"value", value.name},
                     {"rank", value.rank ? Json(*value.rank) : Json(nullptr)},
                     {"error", value.reading.error().message()}});
      continue;
    }
    Json item = value_json(value, *value.reading);
    const Tensor& tensor = value.reading->tensor;
    item["elements"] = nullptr;
    if (!value.reading->undefined && tensor.element_count() <= kMaxElements) {
      item["elements"] = Json::array();
      for (int64_t i = 0; i < tensor.element_count(); ++i)
        item["elements"].push_back(element_json(tensor, i));
    }
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace

std::string outcome_json(const interp::Command& command, const interp::Outcome& outcome,
                         const interp::Snapshot& snapshot,
                         const std::vector<interp::PrintedValue>& printed) {
  const interp::Code& code = *snapshot.program->code;
  Json out;
  out["text"] = outcome.text;
  out["ran"] = outcome.ran;
  out["position"] = position_json(snapshot);
  out["stop"] = outcome.ran ? stop_json(outcome.stop, code) : Json(nullptr);
  out["moved"] = Json::array();
  for (const interp::RankMove& move : outcome.moved)
    out["moved"].push_back({{"rank", move.rank}, {"steps", move.steps}});
  out["logged"] = Json::array();
  for (const interp::LogLine& line : outcome.logged) {
    out["logged"].push_back(
        {{"rank", line.rank}, {"at", code.address(line.code)}, {"text", line.text}});
  }
  out["logged_dropped"] = outcome.log_dropped;
  out["quit"] = outcome.quit;
  out["data"] = nullptr;
  if (command.topic) out["data"] = topic_json(*command.topic, command.value, snapshot);
  if (!printed.empty()) out["data"] = printed_json(printed);
  return one_line(out);
}

std::string opened_json(const interp::Snapshot& snapshot, const std::string& notice,
                        const std::string& warning) {
  Json out = topic_json(interp::InfoTopic::kProgram, "", snapshot);
  for (Json& phase : out["phases"]) phase = phase["name"];
  out.erase("text");
  out["position"] = position_json(snapshot);
  out["can_run"] = snapshot.no_stepping.empty();
  out["why_not"] = snapshot.no_stepping.empty() ? Json(nullptr) : Json(snapshot.no_stepping);
  out["notice"] = notice;
  out["warning"] = warning;
  return one_line(out);
}

std::string reading_json(const interp::PrintedValue& value, const interp::ValueReading& reading) {
  return one_line(value_json(value, reading));
}

std::string table_json(const interp::LogTable& table) {
  return one_line({{"columns", table.columns},
                   {"rows", Json::parse(traces::print_table(table, traces::TableFormat::kJson))}});
}

std::string error_json(const Error& error, const SourceManager& sources) {
  Json diagnostics = Json::array();
  for (const Diagnostic& d : error.diagnostics) {
    Json item = {{"id", d.id},
                 {"severity", d.severity == Severity::kError ? "error" : "warning"},
                 {"message", d.message},
                 {"file", nullptr},
                 {"line", nullptr},
                 {"column", nullptr},
                 {"notes", Json::array()}};
    if (d.span.valid() && d.span.file < sources.size()) {
      const LineColumn at = sources.locate(d.span.file, d.span.begin);
      item["file"] = sources.name(d.span.file);
      item["line"] = at.line;
      item["column"] = at.column;
    }
    for (const Note& note : d.notes) item["notes"].push_back(note.message);
    diagnostics.push_back(std::move(item));
  }
  const Diagnostic& first = error.diagnostics.front();
  Json out;
  out["error"] = {{"status", exit_status(error.kind)},
                  {"id", first.id},
                  {"message", first.message},
                  {"text", render(error.diagnostics, sources)},
                  {"diagnostics", std::move(diagnostics)}};
  return one_line(out);
}

}  // namespace hostir::api
