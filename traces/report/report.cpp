#include "traces/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interp/model/verdict.h"
#include "traces/recorded/log_model.h"
#include "traces/report/html.h"
#include "traces/report/sections.h"

namespace hostir::traces::report {

namespace {

/// The findings of the job's files, else the log's faults, else the verdict on the recorded calls.
JobFindings findings_in(const LogReader& log, const std::vector<interp::FaultRecord>& faults,
                        const model::Run& run) {
  if (auto stored = findings_of(log.run().properties)) return *std::move(stored);
  JobFindings out;
  for (const interp::FaultRecord& fault : faults) {
    if (out.verdict.empty())
      out.verdict = fault.sentence;
    else
      out.notes.push_back(fault.kind + ": " + fault.sentence);
    out.holds = JobFindings::Holds::kAlways;
    out.notes.insert(out.notes.end(), fault.notes.begin(), fault.notes.end());
  }
  if (!out.verdict.empty()) return out;
  const model::Verdict verdict = diagnose::diagnose(run);
  out.verdict = verdict.sentence;
  if (verdict.is_fault()) out.holds = JobFindings::Holds::kAlways;
  for (const model::VerdictNote& note : verdict.notes) out.notes.push_back(note.text);
  for (const std::string& gap : verdict.not_known) out.notes.push_back("not known: " + gap);
  if (out.verdict.empty()) {
    if (!verdict.not_known.empty()) out.holds = JobFindings::Holds::kOpen;
    out.verdict = log.run().outcome == "ok" ? "The run completed; no rank is at fault."
                                            : "The log shows no rank at fault.";
  }
  return out;
}

std::string verdict_section(const JobFindings& findings) {
  struct Look {
    std::string_view style;
    std::string_view title;
  };
  constexpr std::array<Look, 3> kLooks = {
      {{"good", "Verdict"}, {"open", "Not decided yet"}, {"bad", "At fault"}}};
  const Look& look = kLooks[static_cast<size_t>(findings.holds)];
  std::string out = fmt::format("<section id=\"verdict\" class=\"{}\"><h2>{}</h2><p>{}</p>",
                                look.style, look.title, escaped(findings.sentence()));
  if (!findings.trial.empty()) out += "<p class=\"trial\">" + escaped(findings.trial) + "</p>";
  if (!findings.verdict.empty() && !findings.profile.empty())
    out += "<p class=\"trial\">profiles: " + escaped(findings.profile) + "</p>";
  constexpr size_t kShown = 20;
  if (!findings.notes.empty()) out += "<ul>";
  for (size_t i = 0; i < std::min(kShown, findings.notes.size()); ++i)
    out += "<li>" + escaped(findings.notes[i]) + "</li>";
  if (!findings.notes.empty()) out += "</ul>";
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
  add("recorded by", run.property("producer"));
  add("command", run.command_line);
  return out + "</dl>";
}

}  // namespace

std::string section(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>{}</section>", id, title, body);
}

Expected<std::string> report_html(const LogReader& log, const std::string& title) {
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::FaultRecord> faults, log.faults());
  HOSTIR_ASSIGN_OR_RETURN(const model::Run run, run_of(log));
  const JobFindings findings = findings_in(log, faults, run);
  HOSTIR_ASSIGN_OR_RETURN(const std::string waits, wait_section(log, run));
  HOSTIR_ASSIGN_OR_RETURN(const std::string timeline, timeline_section(log));
  HOSTIR_ASSIGN_OR_RETURN(const std::string collectives,
                          collectives_section(log, run, findings.at_fault));
  HOSTIR_ASSIGN_OR_RETURN(const std::string memory, memory_section(log));
  HOSTIR_ASSIGN_OR_RETURN(const std::string program, program_section(log));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{}</title><style>{}</style></head>\n<body><header><h1>{}</h1>{}</header>\n<main>{}\n"
      "{}\n{}\n{}\n{}\n{}\n{}</main><footer>hostir {}</footer><script>{}</script></body></html>\n",
      escaped(title), kStyle, escaped(title), facts_list(log), verdict_section(findings), waits,
      timeline, collectives, layouts_section(log), memory, program, escaped(log.run().tool_version),
      kScript);
}

}  // namespace hostir::traces::report
