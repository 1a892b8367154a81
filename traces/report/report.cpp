#include "traces/report/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "interp/model/verdict.h"
#include "traces/reader/log_model.h"
#include "traces/report/html.h"
#include "traces/report/sections.h"

namespace hostir::traces::report {

namespace {

/// The verdict: the caller's, else the log's faults, else what the recorded calls prove.
ReportFacts verdict_of(const LogReader& log, const std::vector<interp::FaultRecord>& faults,
                       const model::Run* run, ReportFacts facts) {
  if (!facts.sentence.empty()) return facts;
  for (const interp::FaultRecord& fault : faults) {
    if (facts.sentence.empty()) {
      facts.sentence = fault.sentence;
      facts.fault = true;
    } else {
      facts.notes.push_back(fault.kind + ": " + fault.sentence);
    }
    facts.notes.insert(facts.notes.end(), fault.notes.begin(), fault.notes.end());
  }
  if (!facts.sentence.empty()) return facts;
  for (const auto& [key, value] : log.run().properties) {
    if (key == "profile" || key == "verdict") facts.sentence = value;
    if (key == "verdict_holds") (value == "if_stuck" ? facts.undecided : facts.fault) = true;
  }
  if (run != nullptr && facts.sentence.empty()) {
    const model::Verdict verdict = diagnose::diagnose(*run);
    facts.sentence = verdict.sentence;
    facts.fault = verdict.is_fault();
    for (const model::VerdictNote& note : verdict.notes) facts.notes.push_back(note.text);
  }
  if (!facts.sentence.empty()) return facts;
  facts.sentence = log.run().outcome == "ok" ? "The run completed; no rank is at fault."
                                             : "The log shows no rank at fault.";
  return facts;
}

std::string verdict_section(const ReportFacts& facts) {
  const std::string_view kind = facts.fault ? "bad" : facts.undecided ? "open" : "good";
  const std::string_view title = facts.fault       ? "At fault"
                                 : facts.undecided ? "Not decided yet"
                                                   : "Verdict";
  std::string out = fmt::format("<section id=\"verdict\" class=\"{}\"><h2>{}</h2><p>{}</p>", kind,
                                title, escaped(facts.sentence));
  if (!facts.trial.empty()) out += "<p class=\"trial\">" + escaped(facts.trial) + "</p>";
  constexpr size_t kShown = 20;
  if (!facts.notes.empty()) out += "<ul>";
  for (size_t i = 0; i < std::min(kShown, facts.notes.size()); ++i)
    out += "<li>" + escaped(facts.notes[i]) + "</li>";
  if (!facts.notes.empty()) out += "</ul>";
  return out + "</section>";
}

std::string facts_list(const LogReader& log) {
  const interp::LogRun& run = log.run();
  const interp::LogExtent extent = log.extent();
  std::string out = "<dl>";
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty())
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", name, escaped(value));
  };
  add("ranks", std::to_string(run.rank_count));
  add("events", std::to_string(extent.event_count));
  if (extent.end_ns > extent.begin_ns)
    add(run.virtual_time ? "simulated time" : "time", time_text(extent.end_ns - extent.begin_ns));
  add("backend", run.backend == "import" ? "" : run.backend);
  add("machine", run.machine);
  add("entry", run.entry.empty() ? "" : "@" + run.entry);
  for (const auto& [key, value] : run.properties) {
    if (key == "producer") add("recorded by", value);
  }
  add("command", run.command_line);
  return out + "</dl>";
}

}  // namespace

std::string section(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>{}</section>", id, title, body);
}

Expected<std::string> report_html(const LogReader& log, const ReportFacts& facts) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::FaultRecord> faults, log.faults());
  HOSTIR_ASSIGN_OR_RETURN(const model::Run run, run_of(log));
  const ReportFacts verdict = verdict_of(log, faults, &run, facts);
  HOSTIR_ASSIGN_OR_RETURN(const std::string waits, wait_section(log, run));
  HOSTIR_ASSIGN_OR_RETURN(const std::string timeline, timeline_section(log));
  HOSTIR_ASSIGN_OR_RETURN(const std::string collectives, collectives_section(log, facts.marked));
  HOSTIR_ASSIGN_OR_RETURN(const std::string memory, memory_section(log));
  HOSTIR_ASSIGN_OR_RETURN(const std::string program, program_section(log));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{}</title><style>{}</style></head>\n<body><header><h1>{}</h1>{}</header>\n<main>{}\n"
      "{}\n{}\n{}\n{}\n{}\n{}</main><footer>hostir {}</footer><script>{}</script></body></html>\n",
      escaped(facts.title), kStyle, escaped(facts.title), facts_list(log), verdict_section(verdict),
      waits, timeline, collectives, layouts_section(log), memory, program,
      escaped(log.run().tool_version), kScript);
}

}  // namespace hostir::traces::report
