#include "traces/import/formats/json_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace hostir::traces::import {

namespace {

/// Builds the tree from parser events; returning false stops the parser.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(size_t text_bytes) : text_bytes_(text_bytes) {}

  io::PlainTree tree;
  std::string error;

  bool null() override { return value({.kind = io::PlainKind::kNone}); }
  bool boolean(bool is) override {
    return value({.kind = io::PlainKind::kBool, .number = is ? 1 : 0});
  }
  bool number_integer(int64_t number) override {
    return value({.kind = io::PlainKind::kInt, .number = number});
  }
  bool number_unsigned(uint64_t number) override {
    if (number <= static_cast<uint64_t>(INT64_MAX)) {
      return value({.kind = io::PlainKind::kInt, .number = static_cast<int64_t>(number)});
    }
    return value({.kind = io::PlainKind::kText, .text = fmt::format("{}", number)});
  }
  bool number_float(double number, const std::string&) override {
    return value({.kind = io::PlainKind::kReal, .real = number});
  }
  bool string(std::string& text) override {
    if (text.size() > io::kMaxTextBytes) {
      error = fmt::format("a text of {} bytes; at most {}", text.size(), io::kMaxTextBytes);
      return false;
    }
    return value({.kind = io::PlainKind::kText, .text = std::move(text)});
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(size_t) override { return open(io::PlainKind::kDict); }
  bool start_array(size_t) override { return open(io::PlainKind::kList); }
  bool key(std::string& name) override { return string(name); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t place, const std::string&, const nlohmann::json::exception&) override {
    error = place > text_bytes_ ? fmt::format("the file ends too early (byte {})", text_bytes_)
                                : fmt::format("byte {}: not valid JSON", place);
    return false;
  }

 private:
  bool value(io::PlainNode node) {
    if (tree.nodes.size() >= io::kMaxNodes) {
      error = fmt::format("more than {} values", io::kMaxNodes);
      return false;
    }
    const uint32_t id = tree.add(std::move(node));
    if (open_.empty()) {
      tree.root = id;
    } else {
      tree.nodes[open_.back()].items.push_back(id);
    }
    return true;
  }
  bool open(io::PlainKind kind) {
    if (open_.size() >= io::kMaxDepth) {
      error = fmt::format("values are nested deeper than {} levels", io::kMaxDepth);
      return false;
    }
    if (!value({.kind = kind})) return false;
    open_.push_back(static_cast<uint32_t>(tree.nodes.size() - 1));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  size_t text_bytes_;
  std::vector<uint32_t> open_;
};

}  // namespace

Expected<io::PlainTree> read_json(std::string_view text) {
  TreeBuilder builder(text.size());
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    return fail(ErrorKind::kInvalid, "json_format",
                builder.error.empty() ? "the text is not JSON" : builder.error);
  }
  HOSTIR_TRY(io::check_tree(builder.tree));
  return std::move(builder.tree);
}

bool begins_like_object(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t brace = text.find_first_not_of(kSpace);
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const size_t next = text.find_first_not_of(kSpace, brace + 1);
  return next == std::string_view::npos || text[next] == '"' || text[next] == '}';
}

}  // namespace hostir::traces::import
