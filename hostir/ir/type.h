// Types of values.
//
// Every named value has a `Type`. A `tensor` in a fusion may carry a sharding; a `shard` in a host
// function always does; a `tensor` in a host function has the same shape on every rank. `blocks`
// describes a packed communication buffer: it holds this rank's box of `sharding` as one block per
// group member, in group order. Each block is the row-major intersection of this rank's box with
// that member's box of `blocks`.
#pragma once

#include <string>
#include <variant>

#include "hostir/ir/shared_sharding.h"

namespace hostir {

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;              // global
  SharedSharding sharding;  // may be empty
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

struct ShardType {
  DType dtype = DType::kF32;
  Shape shape;              // global
  SharedSharding sharding;  // never empty; its mesh is the function's or a sub-mesh of it
  SharedSharding blocks;    // may be empty
  friend bool operator==(const ShardType&, const ShardType&) = default;
};

struct EventType {
  friend bool operator==(const EventType&, const EventType&) = default;
};
struct StreamType {
  friend bool operator==(const StreamType&, const StreamType&) = default;
};
struct CommType {
  friend bool operator==(const CommType&, const CommType&) = default;
};
/// A 64-bit integer on the host: loop variables and results of `read`.
struct IndexType {
  friend bool operator==(const IndexType&, const IndexType&) = default;
};
/// Not inferred yet; does not occur after verification.
struct NoType {
  friend bool operator==(const NoType&, const NoType&) = default;
};

using Type =
    std::variant<NoType, TensorType, ShardType, EventType, StreamType, CommType, IndexType>;

/// True for a tensor and for a shard of one; a buffer has one of these types.
inline bool is_tensor(const Type& type) {
  return std::holds_alternative<TensorType>(type) || std::holds_alternative<ShardType>(type);
}

/// `4x?Bxf32`, `(?B*?S)x32xf32`, `f32`.
std::string shape_to_string(const Shape& shape, DType dtype);
/// The type in the language's syntax: `tensor<4xf32> <@m, [{x}]>`, `shard<4xf32, @m, [{x}]>`,
/// `event`.
std::string to_string(const Type& type);

/// The global shape and dtype. The type must be a tensor or shard.
const Shape& shape_of(const Type& type);
DType dtype_of(const Type& type);
/// The sharding of a tensor or shard, or nullptr.
const Sharding* sharding_of(const Type& type);

}  // namespace hostir
