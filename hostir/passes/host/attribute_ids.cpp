#include "hostir/passes/host/attribute_ids.h"

#include <functional>

#include "hostir/support/hash.h"

namespace hostir {

size_t hash_of(const IndexExpr& e) { return e.is_const() ? std::hash<int64_t>()(e.value()) : 0; }

namespace {

size_t hash_of_one(const Attribute& a) {
  if (const auto* n = std::get_if<int64_t>(&a)) return std::hash<int64_t>()(*n);
  if (const auto* x = std::get_if<double>(&a)) return std::hash<double>()(*x);
  if (const auto* text = std::get_if<std::string>(&a)) return std::hash<std::string>()(*text);
  if (const auto* word = std::get_if<Keyword>(&a)) return std::hash<std::string>()(word->word);
  size_t hash = a.index();
  if (const auto* list = std::get_if<IntList>(&a)) {
    for (const int64_t n : *list) hash = hash_with(hash, std::hash<int64_t>()(n));
  }
  if (const auto* list = std::get_if<ExprList>(&a)) {
    for (const IndexExpr& e : *list) hash = hash_with(hash, hash_of(e));
  }
  return hash;
}

}  // namespace

size_t hash_of(const Attributes& attributes) {
  size_t hash = attributes.entries().size();
  for (const auto& [name, value] : attributes.entries()) hash = hash_with(hash, hash_of_one(value));
  return hash;
}

uint32_t AttributeIds::id(const Attributes& attributes) {
  const size_t hash = hash_of(attributes);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (known_[at->second] == attributes) return at->second;
  }
  const auto made = static_cast<uint32_t>(known_.size());
  known_.push_back(attributes);
  by_hash_.emplace(hash, made);
  return made;
}

}  // namespace hostir
