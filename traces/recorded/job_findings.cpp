#include "traces/recorded/job_findings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>

#include "hostir/support/json_text.h"
#include "hostir/support/number_from.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

namespace {

using nlohmann::json;

constexpr std::string_view kNote = "note_";
constexpr std::string_view kAtFault = "at_fault_";
constexpr std::string_view kEnded = "record_ended_unix_ns";

// A damaged log gives no call.
std::optional<CallAtFault> call_of(const std::string& text) {
  const json value = json::parse(text, nullptr, false);
  if (!value.is_object()) return std::nullopt;
  const auto sequence = value.find("sequence");
  const auto communicator = value.find("communicator");
  const auto pair = value.find("pair");
  const auto said = value.find("text");
  if (sequence == value.end() || !sequence->is_number_unsigned() || communicator == value.end() ||
      !communicator->is_string() || pair == value.end() || !pair->is_boolean() ||
      said == value.end() || !said->is_string())
    return std::nullopt;
  return CallAtFault{communicator->get<std::string>(), sequence->get<uint64_t>(), pair->get<bool>(),
                     said->get<std::string>()};
}

}  // namespace

LogProperties to_properties(const JobFindings& findings) {
  LogProperties out;
  const auto add = [&](std::string key, const std::string& value) {
    if (!value.empty()) out.emplace_back(std::move(key), value);
  };
  add("verdict", findings.verdict);
  if (findings.holds != JobFindings::Holds::kNever)
    add("verdict_holds", findings.holds == JobFindings::Holds::kAlways ? "always" : "open");
  add("trial", findings.trial);
  add("profile", findings.profile);
  if (findings.ended_unix_ns) add(std::string(kEnded), std::to_string(*findings.ended_unix_ns));
  for (size_t i = 0; i < findings.notes.size(); ++i)
    add(std::string(kNote) + std::to_string(i), findings.notes[i]);
  for (size_t i = 0; i < findings.at_fault.size(); ++i) {
    const CallAtFault& call = findings.at_fault[i];
    add(std::string(kAtFault) + std::to_string(i),
        json_text(json{{"communicator", call.communicator},
                       {"sequence", call.sequence},
                       {"pair", call.pair},
                       {"text", call.text}}));
  }
  return out;
}

std::optional<JobFindings> findings_of(const LogProperties& properties) {
  JobFindings out;
  for (const auto& [key, value] : properties) {
    if (key == "verdict") out.verdict = value;
    if (key == "verdict_holds") {
      out.holds = value == "always" ? JobFindings::Holds::kAlways : JobFindings::Holds::kOpen;
    }
    if (key == "trial") out.trial = value;
    if (key == "profile") out.profile = value;
    if (key == kEnded) out.ended_unix_ns = number_from<int64_t>(value);
    if (key.starts_with(kNote)) out.notes.push_back(value);
    if (!key.starts_with(kAtFault)) continue;
    if (auto call = call_of(value)) out.at_fault.push_back(*std::move(call));
  }
  if (out.sentence().empty()) return std::nullopt;
  return out;
}

int64_t record_end_ns(const LogReader& log) {
  const int64_t last_ns = log.extent().end_ns;
  const auto ended_ns = number_from<int64_t>(log.run().property(kEnded));
  const auto origin = log.query("SELECT clock_origin_unix_ns FROM run");
  if (!ended_ns || !origin || origin->rows.empty()) return last_ns;
  const auto* origin_ns = std::get_if<int64_t>(&origin->rows.front().front());
  return origin_ns == nullptr ? last_ns : std::max(last_ns, *ended_ns - *origin_ns);
}

}  // namespace hostir::traces
