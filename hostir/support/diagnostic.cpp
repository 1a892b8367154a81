#include "hostir/support/diagnostic.h"

#include <algorithm>

namespace hostir {

uint32_t SourceManager::add(std::string name, std::string text) {
  File file{std::move(name), std::move(text), {0}};
  for (uint32_t i = 0; i < file.text.size(); ++i) {
    if (file.text[i] == '\n') file.line_starts.push_back(i + 1);
  }
  files_.push_back(std::move(file));
  return static_cast<uint32_t>(files_.size() - 1);
}

std::string_view SourceManager::name(uint32_t file) const {
  return file < files_.size() ? std::string_view(files_[file].name) : std::string_view();
}

std::string_view SourceManager::text(uint32_t file) const {
  return file < files_.size() ? std::string_view(files_[file].text) : std::string_view();
}

LineColumn SourceManager::locate(uint32_t file, uint32_t offset) const {
  if (file >= files_.size()) return {};
  const auto& starts = files_[file].line_starts;
  const auto next = std::upper_bound(starts.begin(), starts.end(), offset);
  const auto line = static_cast<uint32_t>(next - starts.begin());
  return {line, offset - starts[line - 1] + 1};
}

std::string_view SourceManager::line(uint32_t file, uint32_t line) const {
  if (file >= files_.size() || line == 0) return {};
  const File& f = files_[file];
  if (line > f.line_starts.size()) return {};
  const size_t begin = f.line_starts[line - 1];
  size_t end = line < f.line_starts.size() ? f.line_starts[line] - 1 : f.text.size();
  if (end > begin && f.text[end - 1] == '\r') --end;
  return std::string_view(f.text).substr(begin, end - begin);
}

namespace {

struct Paint {
  std::string_view begin;
  std::string_view end;
};

Paint paint(Severity severity, Colour colour) {
  if (colour == Colour::kNever) return {"", ""};
  switch (severity) {
    case Severity::kError:
      return {"\x1b[1;31m", "\x1b[0m"};
    case Severity::kWarning:
      return {"\x1b[1;33m", "\x1b[0m"};
    case Severity::kNote:
      return {"\x1b[1;36m", "\x1b[0m"};
  }
  return {"", ""};
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

void append_position(std::string& out, const SourceSpan& span, const SourceManager& sources) {
  if (!span.valid() || span.file >= sources.size()) return;
  const LineColumn at = sources.locate(span.file, span.begin);
  out += std::string(sources.name(span.file)) + ":" + std::to_string(at.line) + ":" +
         std::to_string(at.column) + ": ";
}

constexpr size_t kShownColumns = 240;

void append_caret(std::string& out, const SourceSpan& span, const SourceManager& sources,
                  const Paint& paint) {
  if (!span.valid()) return;
  const LineColumn at = sources.locate(span.file, span.begin);
  const std::string_view line = sources.line(span.file, at.line);
  if (line.empty()) return;
  // Show only the part of a long line around the caret.
  const size_t column = std::min<size_t>(at.column - 1, line.size());
  const size_t begin =
      line.size() > kShownColumns && column > kShownColumns / 2 ? column - kShownColumns / 2 : 0;
  const std::string_view shown = line.substr(begin, kShownColumns);
  const std::string_view before = begin > 0 ? "..." : "";
  out += "  ";
  out += before;
  for (const char c : shown) out += (c == '\t' || static_cast<unsigned char>(c) < 0x20) ? ' ' : c;
  if (begin + shown.size() < line.size()) out += "...";
  out += "\n  ";
  out.append(before.size() + column - begin, ' ');
  const size_t left = shown.size() - std::min(column - begin, shown.size());
  const size_t width = std::clamp<size_t>(span.end > span.begin ? span.end - span.begin : 1, 1,
                                          std::max<size_t>(left, 1));
  out += paint.begin;
  out += '^';
  out.append(width - 1, '~');
  out += paint.end;
  out += '\n';
}

}  // namespace

std::string render(const Diagnostic& diagnostic, const SourceManager& sources, Colour colour) {
  std::string out;
  const Paint p = paint(diagnostic.severity, colour);
  append_position(out, diagnostic.span, sources);
  out += p.begin;
  out += severity_name(diagnostic.severity);
  if (!diagnostic.id.empty()) out += "[" + diagnostic.id + "]";
  out += p.end;
  out += ": " + diagnostic.message + "\n";
  append_caret(out, diagnostic.span, sources, p);
  const Paint note_paint = paint(Severity::kNote, colour);
  for (const Note& note : diagnostic.notes) {
    append_position(out, note.span, sources);
    out += note_paint.begin;
    out += "note";
    out += note_paint.end;
    out += ": " + note.message + "\n";
  }
  return out;
}

std::string render(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                   Colour colour) {
  std::string out;
  for (const Diagnostic& d : diagnostics) out += render(d, sources, colour);
  return out;
}

}  // namespace hostir
