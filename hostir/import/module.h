// A parsed module of another compiler: functions of operations on tensors, before conversion.
//
// One generic `ModuleOp` (name, operands, named attributes, regions) represents every operation of
// StableHLO, sdy and func, in pretty or generic form, and HLO instructions after `hlo_to_ops`.
// Values are indices into their function's table. Only the syntax has been checked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"
#include "hostir/ir/tensor.h"

namespace hostir::importer {

/// `tensor<8x4xbf16>`, a token, a tuple. Element types keep MLIR's names: `ui32`, `i1`, `f8E4M3FN`.
struct ModuleType {
  enum class Kind : uint8_t { kTensor, kTuple, kOther };
  static constexpr int64_t kUnknownSize = -1;  // `?`
  Kind kind = Kind::kOther;
  std::string element;            // kTensor: the element type; kOther: the text
  std::vector<int64_t> dims;      // kTensor
  std::vector<ModuleType> parts;  // kTuple

  bool is_tensor() const { return kind == Kind::kTensor; }
  /// Number of elements; -1 if a size is unknown or the number overflows.
  int64_t element_count() const;
  /// The corresponding dtype, if any.
  std::optional<DType> dtype() const;
  std::string to_string() const;
  friend bool operator==(const ModuleType&, const ModuleType&) = default;
};

/// True if elements are of a float type that has no dtype here, like f8E4M3FNUZ and f4E2M1FN. Their
/// values are kept as bytes, and no op computes with them.
bool is_only_stored(const ModuleType& type);
ModuleType tensor_type(std::string element, std::vector<int64_t> dims);
/// True if the elements are of a type like `complex<f32>`.
bool is_complex(const ModuleType& type);
/// The type of the real and imaginary parts; any other type is returned unchanged.
ModuleType part_of(const ModuleType& type);

/// A constant: a single value for all elements, or one value per element. The data of a complex one
/// has a last dimension for both parts.
struct Literal {
  ModuleType type;
  bool splat = false;
  std::optional<Tensor> data;  // one element if splat; empty if the dtype or the data is unknown
                               // not in the text
  std::string resource;        // `dense_resource<name>`, until the end of the file is read
};

struct NamedAttr;

struct Attr {
  enum class Kind : uint8_t {
    kUnit,
    kBool,
    kInt,
    kFloat,
    kString,
    kSymbol,
    kWord,
    kList,
    kDict,
    kLiteral,
    kShardings,  // sdy.sharding (one) and sdy.sharding_per_value
    kRaw,        // kept as text
  };
  Kind kind = Kind::kUnit;
  int64_t integer = 0;  // kInt, kBool
  double real = 0;
  std::string
      text;  // kString, kSymbol, kWord, kRaw; for a dict, the dialect's name (`stablehlo.gather`)
  std::vector<Attr> items;
  std::vector<NamedAttr> fields;
  std::optional<Literal> literal;
  std::vector<Sharding> shardings;

  const Attr* find(std::string_view name) const;
  /// The integers of a list or of an integer literal (in row-major order); empty for other kinds.
  std::vector<int64_t> integers() const;
  static Attr of_int(int64_t value);
  static Attr of_ints(const std::vector<int64_t>& values);
  static Attr of_word(std::string word);
};

/// A field of a dict or an attribute of an op. Not a std::pair, which would need a complete Attr
/// here.
struct NamedAttr {
  NamedAttr(std::string_view name, Attr value) : first(name), second(std::move(value)) {}
  std::string first;
  Attr second;
};

using ValueNumber = uint32_t;

struct ModuleBlock;

struct ModuleOp {
  std::string name;  // "stablehlo.add"
  SourceSpan span;   // of the name
  std::vector<ValueNumber> operands;
  std::vector<ValueNumber> results;
  std::vector<NamedAttr> attributes;
  std::vector<ModuleBlock> regions;

  const Attr* find(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  int64_t integer_or(std::string_view name, int64_t fallback) const;
  /// The word in an attribute; `LT` and `#stablehlo<comparison_direction LT>` both give `LT`.
  std::string_view word(std::string_view name) const;
};

struct ModuleBlock {
  std::vector<ValueNumber> arguments;
  std::vector<ModuleOp> ops;
};

struct ModuleValue {
  std::string name;  // without '%'
  ModuleType type;
  SourceSpan span;
  uint32_t uses = 0;
};

/// A parameter or result of a function, with its attributes.
struct Port {
  ModuleType type;
  std::optional<Sharding> sharding;
  std::string tiles;              // mhlo.sharding, from before Shardy
  std::optional<int64_t> alias;   // tf.aliasing_output
  std::string info;               // jax.result_info
  bool same_on_replicas = false;  // mhlo.is_same_data_across_replicas
  SourceSpan span;
};

struct ModuleFunction {
  std::string name;
  bool is_public = false;
  std::vector<ModuleValue> values;
  std::vector<Port> params;  // the values are the body's arguments
  std::vector<Port> results;
  ModuleBlock body;
  SourceSpan span;

  const ModuleType& type(ValueNumber value) const { return values[value].type; }
  /// Number of uses of a value as an operand, including in regions. The reader counts them.
  uint32_t uses(ValueNumber value) const { return values[value].uses; }
};

/// Counts the uses of all values again, after a change.
void count_uses(ModuleFunction& function);

struct Module {
  std::string name;
  int64_t partitions = 1;  // mhlo.num_partitions
  int64_t replicas = 1;    // mhlo.num_replicas
  // Set by the caller: how many passes to unroll of a loop whose end depends on data. Unset: as
  // many as the loop's condition allows, within limits.
  std::optional<int64_t> loop_passes;
  // Set by the caller: integers for scalar parameters of the entry, by index.
  std::map<size_t, int64_t> known_arguments;
  std::vector<Mesh> meshes;
  std::vector<ModuleFunction> functions;

  const ModuleFunction* find(std::string_view function) const;
  const Mesh* find_mesh(std::string_view mesh) const;
};

}  // namespace hostir::importer
