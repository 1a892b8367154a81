#include "interp/session/what_if/line_edit.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "hostir/support/characters.h"
#include "hostir/support/text.h"

namespace hostir::interp {
namespace {

constexpr size_t kMaxMiddle = 3000;

std::string shifted(const std::string& line, int columns) {
  if (trimmed(line).empty()) return line;
  if (columns >= 0) return std::string(static_cast<size_t>(columns), ' ') + line;
  const size_t blanks = line.find_first_not_of(' ');
  return line.substr(std::min(blanks, static_cast<size_t>(-columns)));
}

// Diffs the middle of two texts, between their common beginning and end, by longest common
// subsequence.
struct Change {
  DiffLine::Kind kind;
  size_t old_line;
  size_t new_line;
};

std::vector<Change> changes(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const size_t n = a.size() - head - tail;
  const size_t m = b.size() - head - tail;
  std::vector<Change> out;
  for (size_t i = 0; i < head; ++i) out.push_back({DiffLine::Kind::kSame, i, i});
  size_t i = 0;
  size_t j = 0;
  if (n <= kMaxMiddle && m <= kMaxMiddle) {
    std::vector<std::vector<uint32_t>> longest(n + 1, std::vector<uint32_t>(m + 1, 0));
    for (size_t x = n; x-- > 0;) {
      for (size_t y = m; y-- > 0;) {
        longest[x][y] = a[head + x] == b[head + y] ? longest[x + 1][y + 1] + 1
                                                   : std::max(longest[x + 1][y], longest[x][y + 1]);
      }
    }
    while (i < n && j < m) {
      if (a[head + i] == b[head + j]) {
        out.push_back({DiffLine::Kind::kSame, head + i++, head + j++});
      } else if (longest[i + 1][j] >= longest[i][j + 1]) {
        out.push_back({DiffLine::Kind::kRemoved, head + i++, head + j});
      } else {
        out.push_back({DiffLine::Kind::kAdded, head + i, head + j++});
      }
    }
  }
  for (; i < n; ++i) out.push_back({DiffLine::Kind::kRemoved, head + i, head + j});
  for (; j < m; ++j) out.push_back({DiffLine::Kind::kAdded, head + i, head + j});
  for (size_t k = 0; k < tail; ++k)
    out.push_back({DiffLine::Kind::kSame, a.size() - tail + k, b.size() - tail + k});
  return out;
}

// Splits a text into words: names and numbers whole, everything else by character; skips blanks.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (is_word_char(text[i]) && end < text.size() && is_word_char(text[end])) ++end;
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0)
      out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

// Length of the longest common subsequence; nullopt: the middles that differ are too long.
std::optional<size_t> common_words(const std::vector<std::string_view>& a,
                                   const std::vector<std::string_view>& b) {
  constexpr size_t kMost = 250'000;  // cells
  const size_t least = std::min(a.size(), b.size());
  size_t head = 0;
  while (head < least && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (head + tail < least && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const size_t rows = a.size() - head - tail;
  const size_t columns = b.size() - head - tail;
  if (rows * columns > kMost) return std::nullopt;
  std::vector<size_t> above(columns + 1, 0);
  for (size_t i = 0; i < rows; ++i) {
    size_t diagonal = 0;
    for (size_t k = 0; k < columns; ++k) {
      const size_t up = above[k + 1];
      above[k + 1] = a[head + i] == b[head + k] ? diagonal + 1 : std::max(up, above[k]);
      diagonal = up;
    }
  }
  return head + tail + above[columns];
}

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0;;) {
    const size_t end = text.find('\n', at);
    out.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return out;
    at = end + 1;
  }
}

LineEdit::LineEdit(std::vector<std::string> lines) {
  lines_.reserve(lines.size());
  for (std::string& line : lines) lines_.push_back({std::move(line), {}, false});
}

LineEdit& LineEdit::erase(LineRange range) {
  for (size_t i = range.first; i <= range.last && i < lines_.size(); ++i) lines_[i].erased = true;
  return *this;
}

LineEdit& LineEdit::replace(size_t line, std::string with) {
  if (line < lines_.size()) lines_[line].text = std::move(with);
  return *this;
}

std::vector<LineEdit::Added>& LineEdit::place(size_t before) {
  return before < lines_.size() ? lines_[before].before : at_end_;
}

LineEdit& LineEdit::insert(size_t before, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) place(before).push_back({line});
  return *this;
}

LineEdit& LineEdit::indent(LineRange range, int columns) {
  for (size_t i = range.first; i <= range.last && i < lines_.size(); ++i)
    lines_[i].text = shifted(lines_[i].text, columns);
  return *this;
}

std::vector<std::string> LineEdit::lines_of(LineRange range, int columns) const {
  std::vector<std::string> out;
  for (size_t i = range.first; i <= range.last && i < lines_.size(); ++i)
    out.push_back(shifted(lines_[i].text, columns));
  return out;
}

LineEdit& LineEdit::move(LineRange range, size_t before, int columns) {
  size_t origin = range.first;
  for (std::string& line : lines_of(range, columns))
    place(before).push_back({std::move(line), origin++});
  return erase(range);
}

std::string LineEdit::text() const {
  std::vector<const std::string*> all;
  for (const Line& line : lines_) {
    for (const Added& added : line.before) all.push_back(&added.text);
    if (!line.erased) all.push_back(&line.text);
  }
  for (const Added& added : at_end_) all.push_back(&added.text);
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i > 0) out += '\n';
    out += *all[i];
  }
  return out;
}

std::vector<size_t> LineEdit::origins() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < lines_.size(); ++i) {
    for (const Added& added : lines_[i].before) out.push_back(added.origin);
    if (!lines_[i].erased) out.push_back(i);
  }
  for (const Added& added : at_end_) out.push_back(added.origin);
  return out;
}

std::vector<DiffLine> line_diff(std::string_view before, std::string_view after, size_t context) {
  const std::vector<std::string> a = split_lines(before);
  const std::vector<std::string> b = split_lines(after);
  const std::vector<Change> all = changes(a, b);
  std::vector<DiffLine> out;
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t first = i > context ? i - context : 0;
    const size_t last = std::min(all.size() - 1, i + context);
    bool near = false;
    for (size_t k = first; k <= last; ++k) near |= all[k].kind != DiffLine::Kind::kSame;
    if (!near) continue;
    const bool removed = all[i].kind == DiffLine::Kind::kRemoved;
    out.push_back({all[i].kind, (removed ? all[i].old_line : all[i].new_line) + 1,
                   removed ? a[all[i].old_line] : b[all[i].new_line]});
  }
  return out;
}

size_t edit_size(std::string_view before, std::string_view after) {
  const auto without_indent = [](std::string_view text) {
    std::vector<std::string> lines = split_lines(text);
    for (std::string& line : lines) line = std::string(trimmed(line));
    return lines;
  };
  size_t size = 0;
  size_t removed = 0;
  size_t added = 0;
  for (const Change& change : changes(without_indent(before), without_indent(after))) {
    if (change.kind == DiffLine::Kind::kSame) {
      size += std::max(removed, added);
      removed = added = 0;
    }
    removed += change.kind == DiffLine::Kind::kRemoved ? 1 : 0;
    added += change.kind == DiffLine::Kind::kAdded ? 1 : 0;
  }
  return size + std::max(removed, added);
}

bool contains_edit(std::string_view before, std::string_view smaller, std::string_view larger) {
  const std::vector<std::string_view> a = words_of(before);
  const std::vector<std::string_view> b = words_of(smaller);
  const std::vector<std::string_view> c = words_of(larger);
  const auto kept_b = common_words(a, b);
  const auto kept_c = common_words(a, c);
  const auto shared = common_words(b, c);
  if (!kept_b || !kept_c || !shared || *shared == c.size()) return false;
  const auto distance = [](const auto& x, const auto& y, size_t common) {
    return x.size() + y.size() - 2 * common;
  };
  return distance(a, b, *kept_b) + distance(b, c, *shared) == distance(a, c, *kept_c);
}

}  // namespace hostir::interp
