#include "hostir/ir/type.h"

namespace hostir {

namespace {

struct TypePrinter {
  std::string operator()(const NoType&) const { return "?"; }
  std::string operator()(const TensorType& t) const {
    std::string out = "tensor<" + shape_to_string(t.shape, t.dtype) + ">";
    if (t.sharding) out += " " + t.sharding->to_string();
    return out;
  }
  std::string operator()(const ShardType& t) const {
    std::string out = "shard<" + shape_to_string(t.shape, t.dtype) + ", @" + t.sharding->mesh +
                      ", " + t.sharding->dims_to_string();
    if (t.blocks) {
      const bool same = t.blocks->mesh == t.sharding->mesh;
      out += ", blocks=" + (same ? t.blocks->dims_to_string() : t.blocks->to_string());
    }
    return out + ">";
  }
  std::string operator()(const EventType&) const { return "event"; }
  std::string operator()(const StreamType&) const { return "stream"; }
  std::string operator()(const CommType&) const { return "comm"; }
  std::string operator()(const IndexType&) const { return "index"; }
};

}  // namespace

std::string shape_to_string(const Shape& shape, DType dtype) {
  std::string out;
  for (const IndexExpr& e : shape) {
    const bool plain = e.is_const() || e.kind() == IndexExpr::Kind::kSize;
    out += (plain ? e.to_string() : "(" + e.to_string() + ")") + "x";
  }
  return out + std::string(name(dtype));
}

std::string to_string(const Type& type) { return std::visit(TypePrinter{}, type); }

const Shape& shape_of(const Type& type) {
  if (const auto* t = std::get_if<TensorType>(&type)) return t->shape;
  return std::get_if<ShardType>(&type)->shape;
}

DType dtype_of(const Type& type) {
  if (const auto* t = std::get_if<TensorType>(&type)) return t->dtype;
  return std::get_if<ShardType>(&type)->dtype;
}

const Sharding* sharding_of(const Type& type) {
  if (const auto* t = std::get_if<TensorType>(&type)) return t->sharding ? &*t->sharding : nullptr;
  if (const auto* s = std::get_if<ShardType>(&type)) return &*s->sharding;
  return nullptr;
}

}  // namespace hostir
