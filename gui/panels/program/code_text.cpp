#include "gui/panels/program/code_text.h"

#include "gui/panels/collectives/collective_glyph.h"
#include "hostir/ops/record.h"
#include "hostir/support/characters.h"

namespace hostir::gui {

namespace {

bool is_word(char c) { return is_word_char(c) || c == '.'; }

size_t word_end(std::string_view line, size_t at) {
  while (at < line.size() && is_word(line[at])) ++at;
  return at;
}

ImU32 word_colour(std::string_view word, const Palette& p) {
  static constexpr std::string_view kWords[] = {
      "fusion", "kernel", "host", "mesh",  "machine", "test", "on", "over",
      "in",     "from",   "else", "carry", "ro",      "wo",   "rw", "none"};
  for (const std::string_view w : kWords) {
    if (w == word) return p.text_dim;
  }
  const auto kind = find_op(word);
  if (!kind) return p.text;
  const OpRecord& r = record(*kind);
  if (r.op_class == OpClass::kCommunication) return p.event(event_kind(word, true));
  return r.op_class == OpClass::kCompute ? p.event(EventKind::kCompute) : p.link;
}

}  // namespace

std::vector<CodePiece> colour_line(std::string_view line, const Palette& p) {
  std::vector<CodePiece> out;
  size_t at = 0;
  while (at < line.size()) {
    const size_t begin = at;
    ImU32 colour = p.text;
    if (line.substr(at, 2) == "//") {
      at = line.size();
      colour = p.text_dim;
    } else if (line[at] == '"') {
      const size_t close = line.find('"', at + 1);
      at = close == std::string_view::npos ? line.size() : close + 1;
      colour = p.event(EventKind::kMemory);
    } else if (line[at] == '%') {
      at = word_end(line, at + 1);
      colour = p.text_strong;
    } else if (line[at] == '@') {
      at = word_end(line, at + 1);
      colour = p.event(EventKind::kPointToPoint);
    } else if (is_word(line[at])) {
      at = word_end(line, at);
      colour = word_colour(line.substr(begin, at - begin), p);
    } else {
      while (at < line.size() && !is_word(line[at]) && line[at] != '%' && line[at] != '@' &&
             line[at] != '"' && line.substr(at, 2) != "//") {
        ++at;
      }
      colour = p.text_dim;
    }
    out.push_back({line.substr(begin, at - begin), colour});
  }
  return out;
}

std::string_view name_at(std::string_view line, size_t column) {
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] != '%' && line[at] != '@') continue;
    const size_t end = word_end(line, at + 1);
    if (column >= at && column < end) return line.substr(at, end - at);
    at = end > at ? end - 1 : at;
  }
  return {};
}

}  // namespace hostir::gui
