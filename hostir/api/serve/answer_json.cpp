#include "hostir/api/serve/answer_json.h"

#include "hostir/api/serve/command_data.h"
#include "hostir/support/json_text.h"
#include "traces/export/queries.h"

namespace hostir::api {

namespace {

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

Json stop_json(const interp::StopReason& stop, const interp::ProgramView& program) {
  Json out;
  out["kind"] = word(stop.kind);
  out["sentence"] = stop.sentence;
  out["rank"] = stop.rank == interp::kNoRank ? Json(nullptr) : Json(stop.rank);
  out["breakpoint"] = stop.breakpoint == 0 ? Json(nullptr) : Json(stop.breakpoint);
  out["value"] = stop.value.empty() ? Json(nullptr) : Json(stop.value);
  out["element"] = stop.element;
  out["written_by"] =
      stop.code == interp::kNoCode ? Json(nullptr) : Json(program.address(stop.code));
  return out;
}

// By result: the buffer that is returned for it. Empty if the program is unknown.
Json outputs_json(const interp::ProgramView& program) {
  Json out = Json::object();
  if (!program.code) return out;
  const Function& entry = *program.code->functions.front();
  const auto& body = entry.region(entry.body).instructions;
  if (body.empty() || entry.instr(body.back()).kind != OpKind::return_) return out;
  const std::vector<Operand>& returned = entry.instr(body.back()).operands;
  for (size_t i = 0; i < entry.results.size() && i < returned.size(); ++i) {
    const std::string& name = entry.results[i].name;
    if (returned[i].value.valid())
      out[name.empty() ? std::to_string(i) : name] = entry.value(returned[i].value).name;
  }
  return out;
}

}  // namespace

Expected<std::string> execute_json(interp::Session& session, const interp::Command& command,
                                   const std::stop_token& stop) {
  HOSTIR_ASSIGN_OR_RETURN(CommandResult done, carry_out(session, command, stop));
  const interp::Outcome& outcome = done.outcome;
  const interp::SnapshotPtr shot = session.snapshot();
  const interp::Snapshot& snapshot = *shot;
  const interp::ProgramView& program = *snapshot.program;
  Json out;
  out["text"] = outcome.text;
  out["ran"] = outcome.ran;
  out["position"] = position_json(snapshot);
  out["stop"] = outcome.ran ? stop_json(outcome.stop, program) : Json(nullptr);
  out["moved"] = Json::array();
  for (const interp::RankMove& move : outcome.moved)
    out["moved"].push_back({{"rank", move.rank}, {"steps", move.steps}});
  out["logged"] = Json::array();
  for (const interp::LogLine& line : outcome.logged) {
    out["logged"].push_back(
        {{"rank", line.rank}, {"at", program.address(line.code)}, {"text", line.text}});
  }
  out["logged_dropped"] = outcome.log_dropped;
  out["quit"] = outcome.quit;
  out["data"] = std::move(done.data);
  return json_text(out);
}

std::string opened_json(const interp::Snapshot& snapshot, const std::string& notice,
                        const std::string& warning) {
  Json out = topic_json(interp::InfoTopic::kProgram, "", snapshot);
  for (Json& phase : out["phases"]) phase = phase["name"];
  out.erase("text");
  out["outputs"] = outputs_json(*snapshot.program);
  out["position"] = position_json(snapshot);
  out["can_run"] = snapshot.no_stepping.empty();
  out["why_not"] = snapshot.no_stepping.empty() ? Json(nullptr) : Json(snapshot.no_stepping);
  out["notice"] = notice;
  out["warning"] = warning;
  return json_text(out);
}

std::string reading_json(const interp::PrintedValue& value, const interp::ValueReading& reading) {
  return json_text(value_json(value, reading));
}

std::string table_json(const interp::LogTable& table) {
  return json_text(
      Json{{"columns", table.columns},
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
  return json_text(out);
}

}  // namespace hostir::api
