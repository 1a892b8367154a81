// Verifies one function: types, names, op records, structure.
//
// A value of unknown type (NoType) always comes from an error that has been reported. Instructions
// that use one are skipped silently, so that one mistake gives one diagnostic.
#pragma once

#include <map>
#include <optional>

#include "hostir/ops/sharding_rule.h"
#include "hostir/text/verify/verify_context.h"

namespace hostir::text {

class FunctionVerifier {
 public:
  FunctionVerifier(VerifyContext& context, Function& function, const FunctionNotes& notes)
      : context_(context), function_(function), notes_(notes) {}

  void run();

 private:
  // Layouts changed by instructions, by buffer; nullopt: depends on control flow.
  using Layouts = std::map<ValueId, std::optional<Sharding>>;

  bool is_host() const { return function_.kind == FunctionKind::kHost; }
  bool is_broken() const { return notes_.broken; }

  void check_signature();
  /// Reports ops with operands on several meshes that do not say where they run.
  void check_meshes();
  void check_result_names();
  void check_aliases();
  /// Checks that a kernel's sharding rule fits its signature, and that the function it names as its
  /// gradient does.
  void check_rule();
  void check_cuttable_sizes(const ShardingRule& rule);
  void check_gradient();
  void check_gradient_types(const Function& gradient);
  /// Whether the local size of a tensor may depend on the rank: not if it enters or leaves a
  /// function.
  enum class Sizes : uint8_t { kSameOnAllRanks, kMayDiffer };
  /// Checks kind, sizes and sharding of a written type; false after an error.
  bool check_type(const Type& type, SourceSpan span, Sizes sizes);
  bool check_is_buffer(const Type& type, SourceSpan span);
  bool check_reducible(const Type& type, const Sharding& sharding, SourceSpan span);
  bool check_buffer_mesh(const std::string& mesh, SourceSpan span);
  bool check_sizes(const Shape& shape, SourceSpan span, Sizes sizes);
  bool check_leaf(const IndexExpr& leaf, SourceSpan span);
  /// True if the leaf names a list that `read` made.
  bool names_list(const IndexExpr& leaf) const;
  bool check_expression(const IndexExpr& expr, SourceSpan span);

  void walk(const Region& region);
  /// Makes a value visible until the end of the region. Reports a name that is already in use.
  void define(ValueId value, std::vector<ValueId>& region);
  void check_visible(const Instruction& instruction);
  void visit(InstrId id);
  void visit_regions(const Instruction& instruction);
  bool operands_known(const Instruction& instruction) const;
  bool yields_known(const Instruction& instruction) const;
  bool check_kind(const Instruction& instruction);
  bool check_return_at_end(const Instruction& instruction);
  bool check_attributes(const Instruction& instruction);
  bool check_attribute(const Instruction& instruction, std::string_view name,
                       const Attribute& attribute);
  bool check_symbol(const Instruction& instruction, const std::string& name);
  /// Reports operands that are lists of integers.
  bool check_no_lists(const Instruction& instruction);
  void check_accesses(const Instruction& instruction);
  void check_becomes(const Operand& operand);
  bool infer(const Instruction& instruction);
  /// Infers the result types with operands widened as in NumPy. Records the widenings for
  /// apply_widening().
  Expected<std::vector<Type>> infer_widened(const Instruction& instruction);
  void set_literal_types(const Instruction& instruction);
  void set_literal_type(ValueId value, DType dtype, const Shape& shape, const char* advice);
  bool is_literal(ValueId value) const;
  struct Widening;
  void apply_widening();
  void insert_widenings(RegionId region, const std::map<InstrId, std::vector<Widening>>& due);
  bool has_unnamed_result(const Instruction& instruction) const;
  bool accept_type(const Instruction& instruction, ValueId result, Type inferred);
  bool check_axis_lists(const Instruction& instruction);
  bool has_only_sharding(ValueId result) const;

  void set_argument_types(const Instruction& instruction);
  void check_end();
  void check_returned_values(const Instruction& instruction);
  void check_returned_layouts(const Instruction& instruction);
  void check_returned_layout(const Operand& operand, const ResultDecl& declared);

  VerifyContext& context_;
  Function& function_;
  const FunctionNotes& notes_;
  /// Operand `operand` of `user` must be widened to `shape`.
  struct Widening {
    const Instruction* user;
    size_t operand;
    Shape shape;
  };

  Layouts layouts_;
  std::vector<Widening> widenings_;
  std::map<std::string_view, ValueId> visible_;
};

}  // namespace hostir::text
