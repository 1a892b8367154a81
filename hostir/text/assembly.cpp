#include "hostir/text/assembly.h"

#include <algorithm>
#include <array>

#include "hostir/support/characters.h"

namespace hostir::text {

namespace {

class Compiler {
 public:
  Compiler(std::string_view text, const OpRecord& op) : rest_(text), op_(op) {}

  std::vector<Element> run() { return sequence(); }

 private:
  bool accept(std::string_view prefix) {
    if (rest_.substr(0, prefix.size()) != prefix) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  std::string_view name() {
    size_t n = 0;
    while (n < rest_.size() && is_word_char(rest_[n])) ++n;
    const std::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }
  uint8_t slot(std::string_view wanted) const {
    for (size_t i = 0; i < op_.operands.size(); ++i) {
      if (op_.operands[i].name == wanted) return static_cast<uint8_t>(i);
    }
    return UINT8_MAX;
  }

  // Reads elements up to `>` or the end.
  std::vector<Element> sequence() {
    std::vector<Element> out;
    while (!rest_.empty()) {
      const bool space = accept(" ");
      while (accept(" ")) {
      }
      if (rest_.empty() || accept(">")) break;
      Element e = element();
      e.space_before = space;
      out.push_back(std::move(e));
    }
    return out;
  }

  Element element() {
    Element e;
    if (accept("<")) {
      e.kind = Element::Kind::kOptional;
      e.children = sequence();
    } else if (accept("&=$")) {
      e.kind = Element::Kind::kRegionBinding;
      e.slot = slot(name());
    } else if (accept("&")) {
      e.kind = Element::Kind::kRegionArgument;
      e.text = name();
    } else if (accept("$")) {
      e.kind = Element::Kind::kOperands;
      e.slot = slot(name());
      if (accept("|")) e.text = name();
    } else if (accept("#")) {
      e.kind = Element::Kind::kAttribute;
      e.text = name();
      if (rest_.substr(0, 2) == ":#" && accept(":#")) {
        e.kind = Element::Kind::kRanges;
        e.second = name();
      }
    } else {
      literal(e);
    }
    return e;
  }

  void literal(Element& e) {
    e.text = name();
    if (e.text.empty()) {
      const size_t width = rest_.substr(0, 2) == ".." || rest_.substr(0, 2) == "->" ? 2 : 1;
      e.text = rest_.substr(0, width);
      rest_.remove_prefix(width);
    }
    if (e.text == "type") e.kind = Element::Kind::kType;
    if (e.text == "region") e.kind = Element::Kind::kRegion;
  }

  std::string_view rest_;
  const OpRecord& op_;
};

using Table = std::array<std::vector<Element>, kOpCount>;

Table compile_all() {
  Table table;
  for (size_t i = 0; i < kOpCount; ++i) {
    const OpRecord& op = record(static_cast<OpKind>(i));
    table[i] = compile_assembly(op.assembly, op);
  }
  return table;
}

}  // namespace

std::vector<Element> compile_assembly(std::string_view text, const OpRecord& op) {
  return Compiler(text, op).run();
}

const std::vector<Element>& assembly(OpKind kind) {
  static const Table kTable = compile_all();
  return kTable[static_cast<size_t>(kind)];
}

bool assembly_mentions(const std::vector<Element>& elements, std::string_view attribute) {
  return std::any_of(elements.begin(), elements.end(), [&](const Element& e) {
    const bool written = e.kind == Element::Kind::kAttribute || e.kind == Element::Kind::kRanges;
    return (written && (e.text == attribute || e.second == attribute)) ||
           assembly_mentions(e.children, attribute);
  });
}

}  // namespace hostir::text
