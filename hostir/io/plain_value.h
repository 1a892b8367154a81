// Plain data from other tools' files: numbers, strings, lists and dictionaries.
//
// One tree type for pickles and JSON. Nodes are in one arena and are referenced by index, so that a
// value shared in a pickle is stored once. A tree that passed check_tree() has no cycle, is at most
// kMaxDepth deep, and has fewer than kMaxNodes nodes even if shared ones are counted at every use:
// recursive walks terminate. There are no objects, functions or external references.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::io {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxTextBytes = size_t{16} << 20;
constexpr size_t kMaxNodes = 50'000'000;

enum class PlainKind : uint8_t { kNone, kBool, kInt, kReal, kText, kList, kDict };

struct PlainNode {
  PlainKind kind = PlainKind::kNone;
  bool tuple = false;  // a list that cannot grow
  int64_t number = 0;  // kBool, kInt
  double real = 0;
  std::string text;
  std::vector<uint32_t> items;  // kList; kDict: key, value, key, value
};

struct PlainTree {
  std::vector<PlainNode> nodes;
  uint32_t root = 0;

  uint32_t add(PlainNode node) {
    nodes.push_back(std::move(node));
    return static_cast<uint32_t>(nodes.size() - 1);
  }
};

/// Rejects trees that cannot be walked: a container that contains itself, excessive depth, or too
/// many nodes if shared ones are counted at every use.
/// Errors: `plain_data`.
Expected<void> check_tree(const PlainTree& tree);

/// A value in a tree, or nothing if its key or index does not exist. Cheap to copy; the tree must
/// outlive it.
class PlainView {
 public:
  PlainView() = default;
  PlainView(const PlainTree& tree, uint32_t node) : tree_(&tree), node_(node) {}
  explicit PlainView(const PlainTree& tree) : PlainView(tree, tree.root) {}

  bool present() const { return tree_ != nullptr; }
  bool is(PlainKind kind) const { return present() && here().kind == kind; }
  /// Members of a list, pairs of a dictionary; 0 for anything else.
  size_t size() const;
  PlainView at(size_t index) const;
  PlainView key(size_t index) const;
  PlainView value(size_t index) const;
  /// The last entry with this key, as in Python's dictionaries.
  PlainView operator[](std::string_view name) const;

  /// An integer; a string of digits counts too, because some writers print numbers as strings.
  std::optional<int64_t> integer() const;
  std::optional<double> real() const;
  std::optional<bool> boolean() const;
  /// The text; empty if it is not a string.
  std::string_view text() const;
  /// Equal for all uses of a shared value; nullopt if it is not present.
  std::optional<uint32_t> node() const { return present() ? std::optional(node_) : std::nullopt; }

 private:
  const PlainNode& here() const { return tree_->nodes[node_]; }

  const PlainTree* tree_ = nullptr;
  uint32_t node_ = 0;
};

/// `[0, 1, 2]`, as a string or as a list; nullopt for anything else.
std::optional<std::vector<int64_t>> integer_list(PlainView value);

}  // namespace hostir::io
