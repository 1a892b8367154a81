// Layouts of sharded tensors as pictures, and the program with the instructions at fault.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/support/text.h"
#include "interp/model/ids.h"
#include "traces/report/html.h"
#include "traces/report/sections.h"

namespace hostir::traces::report {

namespace {

/// The tensor as a rectangle: its last two dimensions, or one; the others are stacked behind the
/// first slice, so only boxes that begin at index 0 there are drawn.
std::string picture_of(const interp::LogTensor& tensor) {
  const size_t dims = tensor.extents.size();
  const int64_t rows = dims >= 2 ? tensor.extents[dims - 2] : 1;
  const int64_t columns = dims >= 1 ? tensor.extents[dims - 1] : 1;
  if (rows <= 0 || columns <= 0) return {};
  constexpr double kWidth = 180;
  const double height =
      std::clamp(kWidth * static_cast<double>(rows) / static_cast<double>(columns), 24.0, 140.0);
  std::string out = fmt::format(
      "<svg class=\"layout\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"layout\">", kWidth,
      height);
  std::map<std::vector<int64_t>, std::vector<model::Rank>> owners;  // by box
  const auto key_of = [](const Box& box) {
    std::vector<int64_t> key = box.lo;
    key.insert(key.end(), box.hi.begin(), box.hi.end());
    return key;
  };
  for (size_t rank = 0; rank < tensor.boxes.size(); ++rank)
    owners[key_of(tensor.boxes[rank])].push_back(static_cast<model::Rank>(rank));
  for (size_t rank = 0; rank < tensor.boxes.size(); ++rank) {
    const Box& box = tensor.boxes[rank];
    if (box.lo.size() != dims || box.hi.size() != dims) continue;
    const Extents size = box.extents();
    const double x = dims >= 1 ? static_cast<double>(box.lo[dims - 1]) : 0;
    const double w = dims >= 1 ? static_cast<double>(size[dims - 1]) : 1;
    const double y = dims >= 2 ? static_cast<double>(box.lo[dims - 2]) : 0;
    const double h = dims >= 2 ? static_cast<double>(size[dims - 2]) : 1;
    bool front = w > 0 && h > 0;
    for (size_t d = 0; d + 2 < dims; ++d) front = front && box.lo[d] == 0;
    const std::vector<model::Rank>& list = owners[key_of(box)];
    if (!front || list.front() != static_cast<model::Rank>(rank)) continue;
    const bool all = list.size() == tensor.boxes.size() && list.size() > 1;
    const double sx = kWidth / static_cast<double>(columns),
                 sy = height / static_cast<double>(rows);
    out += fmt::format(
        "<g><rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/><text "
        "x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>",
        all ? "all" : rank_class(static_cast<int64_t>(rank)), x * sx, y * sy, w * sx, h * sy,
        (x + w / 2) * sx, (y + h / 2) * sy + 4,
        all ? std::string("all ranks") : ranges_text(list, {.shortest = 3}));
  }
  return out + "</svg>";
}

std::string value_text(const interp::LogCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text ? *text : std::string();
}

}  // namespace

std::string layouts_section(const LogReader& log) {
  constexpr size_t kMost = 24;
  constexpr size_t kMostRanks = 64;
  std::string body;
  size_t shown = 0;
  std::set<std::string> seen;
  for (const interp::LogTensor& tensor : log.tensors()) {
    if (tensor.sharding.empty() || tensor.boxes.empty() || tensor.boxes.size() > kMostRanks)
      continue;
    if (!seen.insert(tensor.name + tensor.sharding).second) continue;
    if (++shown > kMost) break;
    body += fmt::format(
        "<figure>{}<figcaption><b>%{}</b> "
        "<code>{}x{}</code><br><code>{}</code></figcaption></figure>",
        picture_of(tensor), escaped(tensor.name), fmt::join(tensor.extents, "x"),
        name(tensor.dtype), escaped(tensor.sharding));
  }
  if (body.empty()) return body;
  return section("layouts", "Layouts",
                 "<p>The part that each rank holds; the first slice of tensors with more than two "
                 "dimensions.</p>"
                 "<div class=\"figures\">" +
                     body + "</div>");
}

Expected<std::string> program_section(const LogReader& log) {
  constexpr size_t kMostBytes = 200'000;
  HOSTIR_ASSIGN_OR_RETURN(
      const interp::LogTable sources,
      log.query("SELECT text FROM source WHERE kind = 'program' ORDER BY id LIMIT 1", 1));
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::FaultRecord> faults, log.faults());
  std::set<std::string> addresses;
  for (const interp::FaultRecord& fault : faults)
    addresses.insert(fault.instructions.begin(), fault.instructions.end());
  std::set<int64_t> lines;
  for (const interp::LogInstruction& i : log.instructions()) {
    if (i.line > 0 && addresses.contains(i.address)) lines.insert(i.line);
  }
  std::string text = sources.rows.empty() ? std::string() : value_text(sources.rows[0][0]);
  if (text.empty()) return std::string();
  const bool cut = text.size() > kMostBytes;
  text.resize(std::min(text.size(), kMostBytes));
  std::string body = "<pre class=\"program\">";
  int64_t number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    body += fmt::format("<span{} data-n=\"{}\">{}\n</span>",
                        lines.contains(number) ? " class=\"fault\"" : "", number,
                        escaped(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  body += "</pre>";
  if (cut) body += "<p class=\"note\">cut; the log has the whole text</p>";
  return section("program", lines.empty() ? "Program" : "Program, with the instructions at fault",
                 body);
}

}  // namespace hostir::traces::report
