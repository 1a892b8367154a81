#include "hostir/io/plain_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "hostir/support/number_from.h"
#include "hostir/support/text.h"

namespace hostir::io {

namespace {

/// State of a node during the walk.
struct Walked {
  enum class State : uint8_t { kNew, kOpen, kDone } state = State::kNew;
  uint8_t depth = 0;      // depth below it
  uint64_t expanded = 0;  // number of nodes; shared ones count at every use
};

/// A container on the path, and its next member.
struct OpenNode {
  uint32_t node;
  size_t next;
};

}  // namespace

Expected<void> check_tree(const PlainTree& tree) {
  if (tree.root >= tree.nodes.size()) {
    return fail(ErrorKind::kInvalid, "plain_data", "the file holds no value");
  }
  std::vector<Walked> walked(tree.nodes.size());
  std::vector<OpenNode> open = {{tree.root, 0}};
  walked[tree.root] = {Walked::State::kOpen, 0, 1};
  while (!open.empty()) {
    OpenNode& top = open.back();
    const PlainNode& node = tree.nodes[top.node];
    Walked& here = walked[top.node];
    if (top.next < node.items.size()) {
      const uint32_t child = node.items[top.next];
      if (walked[child].state == Walked::State::kOpen) {
        return fail(ErrorKind::kInvalid, "plain_data", "a container contains itself");
      }
      if (walked[child].state == Walked::State::kNew && tree.nodes[child].items.empty()) {
        walked[child] = {Walked::State::kDone, 0, 1};
      } else if (walked[child].state == Walked::State::kNew) {
        if (open.size() >= kMaxDepth) {
          return fail(ErrorKind::kInvalid, "plain_data",
                      fmt::format("values are nested deeper than {} levels", kMaxDepth));
        }
        walked[child] = {Walked::State::kOpen, 0, 1};
        open.push_back({child, 0});
        continue;
      }
      ++top.next;
      here.expanded += walked[child].expanded;
      here.depth = static_cast<uint8_t>(std::max<int>(here.depth, walked[child].depth + 1));
      if (here.expanded > kMaxNodes || here.depth >= kMaxDepth) {
        return fail(ErrorKind::kInvalid, "plain_data",
                    here.depth >= kMaxDepth
                        ? fmt::format("values are nested deeper than {} levels", kMaxDepth)
                        : fmt::format("shared values make more than {} values", kMaxNodes));
      }
      continue;
    }
    here.state = Walked::State::kDone;
    open.pop_back();
  }
  return {};
}

size_t PlainView::size() const {
  if (is(PlainKind::kList)) return here().items.size();
  return is(PlainKind::kDict) ? here().items.size() / 2 : 0;
}

PlainView PlainView::at(size_t index) const {
  if (!is(PlainKind::kList) || index >= size()) return {};
  return {*tree_, here().items[index]};
}

PlainView PlainView::key(size_t index) const {
  if (!is(PlainKind::kDict) || index >= size()) return {};
  return {*tree_, here().items[2 * index]};
}

PlainView PlainView::value(size_t index) const {
  if (!is(PlainKind::kDict) || index >= size()) return {};
  return {*tree_, here().items[2 * index + 1]};
}

PlainView PlainView::operator[](std::string_view name) const {
  for (size_t i = is(PlainKind::kDict) ? size() : 0; i-- > 0;) {
    const PlainNode& entry = tree_->nodes[here().items[2 * i]];
    if (entry.kind == PlainKind::kText && entry.text == name) return value(i);
  }
  return {};
}

std::optional<int64_t> PlainView::integer() const {
  if (is(PlainKind::kInt)) return here().number;
  if (is(PlainKind::kText)) return number_from<int64_t>(here().text);
  return std::nullopt;
}

std::optional<double> PlainView::real() const {
  if (is(PlainKind::kReal)) return here().real;
  if (is(PlainKind::kInt)) return static_cast<double>(here().number);
  return std::nullopt;
}

std::optional<bool> PlainView::boolean() const {
  if (is(PlainKind::kBool)) return here().number != 0;
  return std::nullopt;
}

std::string_view PlainView::text() const {
  return is(PlainKind::kText) ? std::string_view(here().text) : std::string_view();
}

std::optional<std::vector<int64_t>> integer_list(PlainView value) {
  std::vector<int64_t> numbers;
  if (value.is(PlainKind::kList)) {
    for (size_t i = 0; i < value.size(); ++i) {
      const auto number = value.at(i).integer();
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }
  std::string_view text = value.text();
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto number = number_from<int64_t>(trimmed(text.substr(0, comma)));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

}  // namespace hostir::io
