// Parses MLIR text into a `Module`: types, attributes, operations, functions.
//
// Every `read_*` that fails records one diagnostic and returns nullopt or false. After an error in
// a function, the reader continues with the next function. Nesting, operation counts and sizes are
// limited, so no input can exhaust stack or memory. Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hostir/import/mlir/mlir_lexer.h"
#include "hostir/import/module.h"

namespace hostir::importer {

/// A literal before its type is known: its scalars in order, or one hex string.
struct RawLiteral {
  std::vector<std::string_view> scalars;
  std::optional<std::string> hex;  // bytes, already decoded
  std::string resource;
  bool nested = false;  // had brackets, so it is not a splat, even with one element
  SourceSpan span;
};

/// Sets what the attributes of a parameter or result say about it.
void set_port(Port& port, const std::vector<NamedAttr>& fields);

class MlirReader {
 public:
  MlirReader(uint32_t file, std::string_view text, std::vector<Diagnostic>& diagnostics);
  /// Parses the whole file.
  Module read_module();

 private:
  static constexpr int kMaxNesting = 64;
  static constexpr size_t kMaxOps = 4'000'000;

  /// Counts nesting in a scope. If it is too deep, reports that and `ok()` is false.
  class Nesting {
   public:
    explicit Nesting(MlirReader& reader);
    ~Nesting() { --reader_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    bool ok() const { return ok_; }

   private:
    MlirReader& reader_;
    bool ok_;
  };

  // Tokens (mlir_tokens.cpp).
  const MlirToken& peek() const { return token_; }
  MlirToken next();
  void move_to(uint32_t position);
  bool at(std::string_view text) const { return token_.is(text); }
  bool at(MlirTokenKind kind) const { return token_.kind == kind; }
  bool accept(std::string_view text);
  bool expect(std::string_view text);
  bool error(std::string message, SourceSpan span);
  bool unexpected(std::string_view wanted);
  SourceSpan span_of(const MlirToken& token) const { return {file_, token.begin, token.end}; }
  std::optional<int64_t> read_integer();
  bool skip_balanced();  // from an opening bracket past the matching closing one
  bool skip_location();  // an optional `loc(...)`

  // Types and literals (mlir_types.cpp).
  std::optional<ModuleType> read_type();
  std::optional<ModuleType> read_tensor_type();
  /// The text after the colon: `(T, T) -> T`, `(T) -> (T, T)`, `T`, `T, T`, `T -> (T, T)`.
  struct Signature {
    std::vector<ModuleType> operands;
    std::vector<ModuleType> results;
    bool arrow = false;
  };
  std::optional<Signature> read_signature();
  bool read_type_list(std::vector<ModuleType>& out);
  std::optional<RawLiteral> read_raw_literal();
  bool read_raw_elements(RawLiteral& out);
  std::optional<Literal> literal_of(const RawLiteral& raw, const ModuleType& type);
  std::optional<Literal> complex_literal(const RawLiteral& raw, const ModuleType& type);
  bool store_scalar(Tensor& data, int64_t index, std::string_view text, SourceSpan span);
  bool store_bytes(Literal& literal, const std::string& bytes, SourceSpan span);

  // Attributes (mlir_attributes.cpp).
  std::optional<Attr> read_attr();
  std::optional<Attr> read_hash_attr();
  Attr read_number();  // not including a type after it
  std::optional<Attr> read_literal_attr();
  std::optional<Attr> read_list_attr(std::string_view close);
  std::optional<Attr> read_raw_attr(uint32_t begin);
  /// `{a = 1, b}` or `<a = 1, b>`; the next token must be the opening bracket.
  bool read_fields(std::vector<NamedAttr>& out, std::string_view close);
  std::optional<Attr> read_dialect_body(std::string name);
  std::optional<Sharding> read_sharding();
  bool read_sharding_dims(Sharding& out);
  bool read_axes(std::vector<AxisRef>& out);
  std::optional<Mesh> read_mesh_body(std::string name);

  // Operations (mlir_ops.cpp).
  using Scope = std::unordered_map<std::string, std::pair<ValueNumber, uint32_t>>;
  bool read_block(ModuleBlock& out);   // `{ ... }`, with arguments already set
  bool read_region(ModuleBlock& out);  // `{ ^bb0(...): ... }`
  bool read_ops(ModuleBlock& out);     // up to the closing brace
  bool read_op(ModuleBlock& out);
  struct Defined {
    std::vector<std::pair<MlirToken, uint32_t>> names;  // and the number of values of each
    uint32_t count = 0;
  };
  bool read_defined(Defined& out);
  bool read_generic(ModuleOp& op);
  bool read_pretty(ModuleOp& op);
  bool read_pretty_item(ModuleOp& op);
  bool read_parenthesised(ModuleOp& op);
  bool read_reduce(ModuleOp& op);
  bool read_while(ModuleOp& op);
  bool read_manual(ModuleOp& op);
  bool read_manual_axes(ModuleOp& op);
  bool read_axis_names(Attr& out);  // `{"x", "y"}`, as words
  bool read_reshard_like(ModuleOp& op);
  bool read_operand(ModuleOp& op);
  bool read_ranges(ModuleOp& op);
  bool finish(ModuleOp& op, const Defined& defined);
  bool read_block_arguments(ModuleBlock& out);
  std::optional<ValueNumber> resolve(const MlirToken& token);
  ValueNumber define(std::string_view name, ModuleType type, SourceSpan span);

  // Module (mlir_module.cpp).
  bool read_top();
  bool read_module_op();
  bool read_module_body();
  bool read_mesh();
  bool read_function();
  bool add_function(ModuleFunction f);
  bool read_parameters(ModuleFunction& f);
  bool read_results(ModuleFunction& f);
  bool read_port_attributes(Port& port);
  bool read_alias();

  // Generic form (mlir_generic.cpp).
  struct Properties {
    std::vector<NamedAttr> fields;  // without the two below
    std::optional<Signature> function;
    std::optional<Mesh> mesh;
  };
  bool read_properties(Properties& out);
  bool read_generic_end(Properties& out);
  bool read_generic_module();
  bool read_generic_mesh();
  bool read_generic_function();
  bool read_trailer();
  void skip_to_function();
  void resolve_resources();

  uint32_t file_;
  MlirLexer lexer_;
  MlirToken token_;
  uint32_t last_end_ = 0;
  uint32_t resume_at_ =
      0;  // where to continue after regions that follow a signature; 0: at the current token
  std::vector<Diagnostic>& diagnostics_;
  int depth_ = 0;
  bool too_deep_ = false;  // set once nesting is too deep; stops retries
  size_t op_count_ = 0;
  Module module_;
  ModuleFunction* function_ = nullptr;
  std::vector<Scope> scopes_;
  std::unordered_map<std::string, Attr> aliases_;
  std::unordered_map<std::string, ModuleType> type_aliases_;
  std::unordered_map<std::string, std::string> resources_;
};

}  // namespace hostir::importer
