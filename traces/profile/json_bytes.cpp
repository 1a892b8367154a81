#include "traces/profile/json_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hostir/support/lists.h"

namespace hostir::traces::profile {

namespace {

constexpr size_t kBlockBytes = 1 << 16;
constexpr uint64_t kMostValueBytes = uint64_t{32} << 20;

/// The length of the UTF-8 character at the front of `text`; 0: it is invalid; -1: it may continue
/// after the end.
int utf8_length(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = at(0);
  const int length = lead >= 0xc2 && lead <= 0xdf   ? 2
                     : lead >= 0xe0 && lead <= 0xef ? 3
                     : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                    : 0;
  for (int i = 1; i < length; ++i) {
    if (static_cast<size_t>(i) >= text.size()) return -1;
    uint8_t low = 0x80, high = 0xbf;
    if (i == 1 && lead == 0xe0) low = 0xa0;
    if (i == 1 && lead == 0xed) high = 0x9f;
    if (i == 1 && lead == 0xf0) low = 0x90;
    if (i == 1 && lead == 0xf4) high = 0x8f;
    if (at(static_cast<size_t>(i)) < low || at(static_cast<size_t>(i)) > high) return 0;
  }
  return length;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_not_finite(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWords = {"NaN",      "nan", "Infinity",
                                                      "infinity", "inf", "Inf"};
  return contains(kWords, word);
}

}  // namespace

JsonBytes::JsonBytes(Source source, uint64_t most_bytes)
    : source_(std::move(source)), most_bytes_(most_bytes) {
  head_.resize(2);
  size_t size = 0;
  while (size < 2) {
    const size_t more = source_(std::span(head_).subspan(size));
    if (more == 0) break;
    size += more;
  }
  head_.resize(size);
  if (import::looks_like_gzip(head_)) {
    gzip_ = std::make_unique<import::GzipReader>([this](std::span<char> out) {
      if (head_.empty()) return source_(out);
      const size_t given = std::min(out.size(), head_.size());
      std::copy_n(head_.data(), given, out.data());
      head_.erase(0, given);
      return given;
    });
  }
  refill();
}

Expected<size_t> JsonBytes::read(std::span<char> out) {
  if (gzip_) return gzip_->read(out);
  if (head_.empty()) return source_(out);
  const size_t given = std::min(out.size(), head_.size());
  std::copy_n(head_.data(), given, out.data());
  head_.erase(0, given);
  return given;
}

void JsonBytes::refill() {
  clean_.clear();
  at_ = 0;
  while (clean_.empty() && !ended_) {
    const size_t kept = raw_.size();
    raw_.resize(kept + kBlockBytes);
    const auto size = read(std::span(raw_).subspan(kept));
    raw_.resize(kept + size.value_or(0));
    total_ += size.value_or(0);
    since_value_ += size.value_or(0);
    if (!size) error_ = size.error();
    if (total_ > most_bytes_) {
      error_ = fail(ErrorKind::kInvalid, "profile_size",
                    fmt::format("the text is larger than {} bytes", most_bytes_))
                   .value();
    }
    if (since_value_ > kMostValueBytes) {
      error_ = fail(ErrorKind::kInvalid, "profile_size",
                    fmt::format("one value is larger than {} bytes", kMostValueBytes))
                   .value();
    }
    ended_ = error_ || *size == 0;
    if (error_) return;
    clean(ended_);
  }
}

// Moves what is complete from raw_ to clean_.
void JsonBytes::clean(bool last) {
  size_t i = 0;
  while (i < raw_.size()) {
    const char c = raw_[i];
    size_t next = i;
    if (static_cast<uint8_t>(c) >= 0x80) {
      next = clean_text(i, last);
    } else if (!in_string_ && is_letter(c)) {
      next = clean_word(i, last);
    } else {
      clean_ += static_cast<uint8_t>(c) < 0x20 ? ' ' : c;
      if (c == '"' && !escaped_) in_string_ = !in_string_;
      escaped_ = in_string_ && c == '\\' && !escaped_;
      next = i + 1;
    }
    if (next == i) break;  // the rest depends on the next block
    i = next;
  }
  raw_.erase(0, i);
}

size_t JsonBytes::clean_text(size_t i, bool last) {
  escaped_ = false;
  const int length = utf8_length(std::string_view(raw_).substr(i));
  if (length < 0 && !last) return i;
  if (length <= 0) {
    clean_ += '?';
    return i + 1;
  }
  clean_.append(raw_, i, static_cast<size_t>(length));
  return i + static_cast<size_t>(length);
}

size_t JsonBytes::clean_word(size_t i, bool last) {
  constexpr size_t kLongestWord = 8;
  size_t end = i;
  while (end < raw_.size() && is_letter(raw_[end])) ++end;
  if (end == raw_.size() && !last && end - i <= kLongestWord) return i;
  const std::string_view word = std::string_view(raw_).substr(i, end - i);
  if (is_not_finite(word)) {
    clean_ += '0';
  } else {
    clean_ += word;
  }
  return end;
}

}  // namespace hostir::traces::profile
