// The bytes of a JSON file, plain or gzip, as an input of nlohmann's parser, in constant memory.
//
// Profilers write what JSON does not allow: raw bytes and control characters in names, `NaN` and
// `Infinity` as numbers. They are replaced on the way (by `?`, a space, 0), so that one odd kernel
// name does not make a profile unreadable.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "hostir/support/expected.h"
#include "traces/import/formats/gzip.h"

namespace hostir::traces::profile {

class JsonBytes {
 public:
  using Source = import::GzipReader::Source;
  /// `most_bytes`: of the uncompressed text.
  JsonBytes(Source source, uint64_t most_bytes);

  bool at_end() const { return at_ >= clean_.size(); }
  char current() const { return clean_[at_]; }
  void advance() {
    if (++at_ >= clean_.size()) refill();
  }
  /// The parser has delivered a value: bounds the size of one value.
  void mark() { since_value_ = 0; }
  /// Why the bytes ended early; nullopt: they did not.
  const std::optional<Error>& error() const { return error_; }

  /// An input iterator over the bytes; a default-constructed one is the end.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;
    Iterator() = default;
    explicit Iterator(JsonBytes& bytes) : bytes_(&bytes) {}
    char operator*() const { return bytes_->current(); }
    Iterator& operator++() {
      bytes_->advance();
      return *this;
    }
    void operator++(int) { bytes_->advance(); }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.ended() == b.ended(); }

   private:
    bool ended() const { return bytes_ == nullptr || bytes_->at_end(); }
    JsonBytes* bytes_ = nullptr;
  };

 private:
  void refill();
  Expected<size_t> read(std::span<char> out);
  void clean(bool last);
  size_t clean_text(size_t i, bool last);
  size_t clean_word(size_t i, bool last);

  Source source_;
  std::unique_ptr<import::GzipReader> gzip_;
  std::string head_;  // read to detect gzip, not yet delivered
  std::string raw_;
  std::string clean_;
  size_t at_ = 0;
  uint64_t total_ = 0;
  uint64_t most_bytes_ = 0;
  uint64_t since_value_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace hostir::traces::profile
