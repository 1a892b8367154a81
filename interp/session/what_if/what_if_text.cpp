// Formats the answer of `whatif` as text.
#include <fmt/core.h>

#include <map>

#include "interp/session/what_if/what_if.h"

namespace hostir::interp {
namespace {

using Verdict = WhatIfTrial::Verdict;

std::string diff_text(const std::vector<DiffLine>& diff) {
  std::string out;
  size_t last = 0;
  for (const DiffLine& line : diff) {
    const bool same = line.kind == DiffLine::Kind::kSame;
    if (same && last > 0 && line.number > last + 1) out += "          ...\n";
    if (line.kind != DiffLine::Kind::kRemoved) last = line.number;
    out += fmt::format("    {:>5} {} {}\n", line.number,
                       same                                    ? ' '
                       : line.kind == DiffLine::Kind::kRemoved ? '-'
                                                               : '+',
                       line.text);
  }
  return out;
}

std::string claims_text(const WhatIfClaims& claims) {
  if (claims.tests == 0) return {};
  if (claims.failed == 0)
    return fmt::format("   {} of the file pass{}\n",
                       claims.tests == 1 ? "the test" : fmt::format("{} tests", claims.tests),
                       claims.tests == 1 ? "es" : "");
  std::string out =
      fmt::format("   {} of {} tests of the file fail:\n", claims.failed, claims.tests);
  for (const std::string& failure : claims.failures) out += fmt::format("     {}\n", failure);
  return out;
}

// `hangs` for one, `hang, such as` for several.
std::string_view others_words(Verdict verdict, bool one) {
  switch (verdict) {
    case Verdict::kHangs:
      return one ? "hangs" : "hang, such as";
    case Verdict::kMismatch:
      return one ? "ends in a mismatch" : "end in a mismatch, such as";
    case Verdict::kFault:
      return one ? "fails" : "fail, such as";
    case Verdict::kRefused:
      return one ? "is refused" : "are refused, such as";
    case Verdict::kTooLong:
      return one ? "takes too long" : "take too long, such as";
    case Verdict::kCompletes:
      break;
  }
  return "";
}

}  // namespace

std::string to_text(const WhatIf& result) {
  std::string out = result.conclusion + "\n";
  if (result.reformatted)
    out +=
        "The text was reprinted first, with one instruction per line; line numbers are those of "
        "the reprinted text.\n";
  if (!result.of_given && result.completes > 0)
    out += "The edits apply to the running text, which `list` shows; it is not in a file.\n";
  for (size_t i = 0; i < result.completes; ++i) {
    const WhatIfTrial& trial = result.trials[i];
    out += fmt::format("{}. {}\n", i + 1, trial.edit.sentence) + diff_text(trial.edit.diff);
    for (const std::string& warning : trial.warnings)
      out += fmt::format("   completes, but: {}\n", warning);
    out += claims_text(trial.claims);
  }
  if (!result.leaks.empty()) out += result.leaks + "\n";
  std::map<Verdict, std::pair<size_t, const WhatIfTrial*>> others;
  for (const WhatIfTrial& trial : result.trials) {
    if (trial.verdict == Verdict::kCompletes) continue;
    auto& [count, smallest] = others[trial.verdict];
    if (++count == 1) smallest = &trial;
  }
  for (const auto& [verdict, found] : others) {
    const auto& [count, smallest] = found;
    const bool one = count == 1;
    out += fmt::format("{} {} {}: {} ({})\n", count, one ? "other" : "others",
                       others_words(verdict, one), smallest->edit.sentence, smallest->why);
  }
  return out;
}

}  // namespace hostir::interp
