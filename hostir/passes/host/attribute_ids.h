// Numbers for lists of attributes: equal lists have equal numbers.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hostir/ir/attribute.h"

namespace hostir {

size_t hash_of(const IndexExpr& e);
/// Hashes numbers and strings. Other attributes are compared but not hashed.
size_t hash_of(const Attributes& attributes);

class AttributeIds {
 public:
  uint32_t id(const Attributes& attributes);

 private:
  std::vector<Attributes> known_;
  std::unordered_multimap<size_t, uint32_t> by_hash_;
};

}  // namespace hostir
