#include "hostir/passes/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "hostir/support/text.h"

namespace hostir {

namespace {

constexpr size_t kMostLost = 3;
constexpr std::string_view kMoreData = "times the data";

}  // namespace

std::string cost_text(double ns, size_t collectives, double bytes) {
  if (collectives == 0) return time_text(ns) + ", no collective";
  return fmt::format("{}, {}, {}", time_text(ns), counted(collectives, "collective"),
                     bytes_text(std::llround(bytes)));
}

std::string costed_on(std::string_view machine, double scale) {
  if (scale < 2) return fmt::format(" on @{}", machine);
  return fmt::format(" on @{} with {:.0f} {}", machine, scale, kMoreData);
}

std::vector<Alternative> cheapest_few(std::vector<Alternative> lost, std::string_view chosen) {
  std::stable_sort(lost.begin(), lost.end(), [](const Alternative& a, const Alternative& b) {
    return a.cost_ns < b.cost_ns;
  });
  std::vector<Alternative> out;
  for (Alternative& each : lost) {
    const auto same = [&](const Alternative& a) { return a.what == each.what; };
    if (out.size() == kMostLost) break;
    if (each.what == chosen || std::any_of(out.begin(), out.end(), same)) continue;
    out.push_back(std::move(each));
  }
  return out;
}

Explanation about(const Explanation& all, std::string_view value, std::string_view made_by) {
  Explanation out;
  for (const ExplainRecord& r : all) {
    const bool is_made = !made_by.empty() && r.from == made_by;
    if (r.value == value || r.value.empty() || is_made) out.push_back(r);
  }
  return out;
}

std::string sentence(const ExplainRecord& record) {
  std::string out = fmt::format("{}: {}", record.what, record.sentence);
  if (!record.from.empty()) out += fmt::format(" (from {})", record.from);
  for (const Alternative& a : record.lost) {
    out += fmt::format("\n    not {}: {}", a.what, a.cost);
    if (!a.why.empty()) out += "; " + a.why;
  }
  return out;
}

std::string costed_note(std::string_view text) {
  if (text.find(kMoreData) == std::string_view::npos) return {};
  return fmt::format(
      "\"{}\": choices in a small program are made as if its data were 1 MiB. Otherwise "
      "starting a collective would cost more than moving its bytes.\n",
      kMoreData);
}

std::string to_string(const Explanation& records) {
  std::string out;
  for (const ExplainRecord& r : records) {
    const std::string subject = r.value.empty() ? "" : "%" + r.value + " ";
    out += fmt::format("{}: {}{}\n", r.pass, subject, sentence(r));
  }
  out += costed_note(out);
  return out;
}

}  // namespace hostir
