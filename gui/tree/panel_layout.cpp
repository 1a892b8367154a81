// Layouts as text, and the built-in ones.
#include <fmt/core.h>

#include <charconv>

#include "gui/tree/panel_tree.h"

namespace hostir::gui {

namespace {

class LayoutParser {
 public:
  explicit LayoutParser(std::string_view text) : text_(text) {}

  std::unique_ptr<PanelNode> parse() {
    auto node = parse_node(0);
    skip();
    return at_ == text_.size() ? std::move(node) : nullptr;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::unique_ptr<PanelNode> parse_node(int depth) {
    if (depth > 16) return nullptr;
    if (take('[')) return parse_tabs();
    const bool columns = take('h');
    if (!columns && !take('v')) return nullptr;
    auto node = std::make_unique<PanelNode>();
    node->kept = take('!');
    if (!take('(')) return nullptr;
    node->kind = columns ? PanelNode::Kind::kColumns : PanelNode::Kind::kRows;
    skip();
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), node->ratio);
    if (error != std::errc() || !(node->ratio > 0.01f && node->ratio < 0.99f)) return nullptr;
    at_ = static_cast<size_t>(end - text_.data());
    node->first = parse_node(depth + 1);
    if (!node->first) return nullptr;
    node->second = parse_node(depth + 1);
    if (!node->second || !take(')')) return nullptr;
    return node;
  }

  std::unique_ptr<PanelNode> parse_tabs() {
    auto node = std::make_unique<PanelNode>();
    while (!take(']')) {
      std::string panel = word();
      if (panel.empty()) return nullptr;
      if (take('*')) node->active = panel;
      node->tabs.push_back(std::move(panel));
    }
    if (node->active.empty() && !node->tabs.empty()) node->active = node->tabs.front();
    node->bring_forward = true;
    node->kept = take('!');
    return node;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::unique_ptr<PanelNode> parse_layout(std::string_view text) {
  return LayoutParser(text).parse();
}

std::string layout_text(const PanelNode& node) {
  const char* kept = node.kept ? "!" : "";
  if (node.kind != PanelNode::Kind::kLeaf) {
    return fmt::format("{}{}({:.3f} {} {})", node.kind == PanelNode::Kind::kColumns ? "h" : "v",
                       kept, node.ratio, layout_text(*node.first), layout_text(*node.second));
  }
  std::string out = "[";
  for (size_t i = 0; i < node.tabs.size(); ++i) {
    out += (i ? " " : "") + node.tabs[i] + (node.tabs[i] == node.active ? "*" : "");
  }
  return out + "]" + kept;
}

const std::vector<NamedLayout>& builtin_layouts() {
  static const std::vector<NamedLayout> kLayouts = {
      {"Step",
       "v(0.64 h(0.41 v(0.74 [host_ir* phases editor] [ranks* breaks watches messages notes]) "
       "h(0.54 [layout* memory explain diff] v(0.5 [values* history inside] v(0.5 [ledger* events "
       "sql] [waits* whatif])))) [timeline* schedule statistics])"},
      {"Timeline",
       "v(0.30 h(0.40 [host_ir* phases] h(0.5 [layout* values history inside memory] [statistics* "
       "events ledger "
       "sql])) [timeline* schedule])"},
      {"Compare",
       "h(0.34 [host_ir* phases] v(0.6 [diff* values layout history] [events* watches messages]))"},
      {"Deadlock",
       "h(0.40 v(0.62 [host_ir* phases] [ranks* schedule messages breaks watches]) v(0.55 [waits* "
       "whatif] "
       "[ledger* events]))"},
  };
  return kLayouts;
}

}  // namespace hostir::gui
