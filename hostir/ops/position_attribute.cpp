#include "hostir/ops/position_attribute.h"

#include <algorithm>

namespace hostir {

const AttributeSpec* position_attribute(OpKind kind) {
  const OpRecord& op = record(kind);
  if (op.op_class != OpClass::kCommunication) return nullptr;
  const auto at = std::find_if(op.attributes.begin(), op.attributes.end(), [](const auto& spec) {
    return spec.type == AttributeSpec::Type::kExpr;
  });
  return at == op.attributes.end() ? nullptr : &*at;
}

}  // namespace hostir
