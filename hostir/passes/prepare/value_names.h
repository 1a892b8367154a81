// The numbers of values that Origins refer to, and the names that go with them.
//
// Lowering numbers the values of the fusion once they are known (after `unrolled`), and again those
// that composites are made of. Passes carry the number along with the value. Names are only for
// sentences.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

using ValueNames = std::vector<std::string>;  // by Origin

/// Gives each value without an Origin the next number.
inline void number_values(Function& fusion, ValueNames& names) {
  for (Value& v : fusion.values) {
    if (v.origin.valid()) continue;
    v.origin.value = ValueId(names.size());
    names.push_back(v.name);
  }
}

/// The name of the fusion's value that this one stands for; its own if there is none.
inline const std::string& name_of(const Value& value, const ValueNames& names) {
  return value.origin.valid() ? names[value.origin.value.index] : value.name;
}

}  // namespace hostir
