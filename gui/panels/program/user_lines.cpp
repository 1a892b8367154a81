// 1. The program view gives the origin of each instruction and operand. If several lines have one
//    origin, the first is that line itself and the others were generated.
// 2. From there upwards and downwards, a line with the same text as the neighbour in the user's
//    file is that neighbour: comments, braces, blank lines.
// 3. A mesh has no origin: its line is the one with its text.
#include "gui/panels/program/user_lines.h"

#include <algorithm>
#include <set>

#include "hostir/support/text.h"

namespace hostir::gui {

std::vector<UserLine> user_lines(const interp::ProgramView& program,
                                 const std::vector<std::string_view>& lines) {
  std::vector<UserLine> out(lines.size());
  if (!program.given.texts || program.given.moves.empty()) {
    for (size_t i = 0; i < out.size(); ++i) out[i].line = static_cast<uint32_t>(i + 1);
    return out;
  }
  const SourceManager& given = *program.given.texts;
  uint32_t file = 0;
  for (const interp::SpanMove& move : program.given.moves) {
    if (move.here.file != program.file || !move.there.valid()) continue;
    const uint32_t here = program.sources->locate(program.file, move.here.begin).line;
    if (here == 0 || here > out.size() || out[here - 1].line > 0) continue;
    out[here - 1].line = given.locate(move.there.file, move.there.begin).line;
    file = move.there.file;
  }
  std::set<uint32_t> seen;
  for (UserLine& line : out) line.generated = line.line > 0 && !seen.insert(line.line).second;
  const auto continues = [&](size_t i, int64_t wanted) {
    if (out[i].line > 0 || wanted < 1) return;
    const auto line = static_cast<uint32_t>(wanted);
    if (!seen.contains(line) && trimmed(given.line(file, line)) == trimmed(lines[i]))
      out[i].line = line;
  };
  for (size_t i = 1; i < out.size(); ++i) {
    if (out[i - 1].line > 0 && !out[i - 1].generated) continues(i, int64_t{out[i - 1].line} + 1);
  }
  for (size_t i = out.size(); i-- > 1;) {
    if (out[i].line > 0 && !out[i].generated) continues(i - 1, int64_t{out[i].line} - 1);
  }
  const std::string_view text = given.text(file);
  const auto count = static_cast<uint32_t>(std::count(text.begin(), text.end(), '\n') + 1);
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].line > 0 || !trimmed(lines[i]).starts_with("mesh ")) continue;
    for (uint32_t line = 1; line <= count && out[i].line == 0; ++line) {
      if (trimmed(given.line(file, line)) == trimmed(lines[i])) out[i].line = line;
    }
  }
  return out;
}

}  // namespace hostir::gui
