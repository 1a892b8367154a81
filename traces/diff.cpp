#include "traces/diff.h"

#include <fmt/core.h>

#include "traces/diff_steps.h"

namespace hostir::traces {

Expected<DiffReport> diff(const LogReader& a, const LogReader& b, const DiffOptions& options) {
  DiffReport report;
  HOSTIR_TRY(compare_surroundings(a, b, report));
  compare_inputs(a, b, report);
  const size_t before = report.findings.size();
  compare_instructions(a, b, report);
  HOSTIR_TRY(compare_collectives(a, b, report));
  const bool same_program =
      report.findings.size() == before || report.findings[before].what != "instructions";
  if (same_program) HOSTIR_TRY(compare_executed(a, b, report));
  HOSTIR_TRY(compare_values(a, b, options, report));
  HOSTIR_TRY(compare_faults(a, b, report));
  return report;
}

std::string to_string(const DiffReport& report) {
  std::string out;
  for (const std::string& remark : report.remarks) out += "note: " + remark + "\n";
  if (report.findings.empty()) {
    out += fmt::format("equal: {} instructions, {} collectives", report.instructions,
                       report.collectives);
    return out + (report.values > 0 ? fmt::format(", {} values\n", report.values) : "\n");
  }
  for (const DiffFinding& finding : report.findings) out += finding.sentence + "\n";
  return out;
}

}  // namespace hostir::traces
