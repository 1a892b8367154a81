// Converts the operations of a module to instructions of a fusion or kernel.
//
// The emitter walks a function of the module. It inlines calls, unrolls loops with a known trip
// count and evaluates known integers (loop counters, indices), so that dynamic slices of layers
// become plain slices. Every other operation goes to its handler (`handlers.h`), which appends
// instructions; an operation without a handler becomes `opaque`. Constants become instructions only
// when used. Errors: `import_c*` at the operation's position in the module.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hostir/import/module.h"
#include "hostir/ir/program.h"

namespace hostir::importer {

/// The counterpart of a module value in the program being built.
struct Known {
  ModuleType type;
  ValueId value;                 // invalid: not an instruction (yet)
  std::optional<Tensor> number;  // the value if known; rank 0 if `splat`
  bool splat = false;            // all elements equal `number`
  std::vector<Known> pieces;     // joined along `pieces_dim`; used for a stack filled by a loop
  size_t pieces_dim = 0;
  // Axes along which devices differ, in a manual computation: `value` and `number` have a leading
  // dimension for each, `type` is that of one device. See manual_map.h.
  std::vector<size_t> lead;

  /// A known value, equal on all devices.
  bool is_number() const { return number.has_value() && lead.empty(); }
};

using Frame = std::vector<std::optional<Known>>;  // by ValueNumber

/// Complex parameters and results of the module: the places of their real parts in the program, in
/// order. The imaginary part follows.
struct ComplexPorts {
  std::vector<size_t> params;
  std::vector<size_t> results;
};

/// What the import skipped or guessed, for the user.
struct ImportReport {
  std::map<std::string, int64_t> opaque;  // count of each operation without a counterpart
  std::string unfinished;  // the i1 result that is true if a loop needs more passes; or empty
  std::vector<Diagnostic> notes;
  ComplexPorts complex;
};

class Emitter;

/// The operation being emitted.
struct OpSite {
  Emitter& emitter;
  const ModuleFunction& function;
  const ModuleOp& op;
  Frame& frame;

  const Known& in(size_t i) const { return *frame[op.operands[i]]; }
  size_t count() const { return op.operands.size(); }
  const ModuleType& result_type(size_t i = 0) const { return function.type(op.results[i]); }
  Expected<void> set(Known known, size_t i = 0) const;
  tl::unexpected<Error> fail(std::string id, std::string message) const;
};

/// Handles collectives and device numbers, which are not compute ops. Set by builders of host
/// functions.
using DeviceHook = std::function<Expected<bool>(const OpSite&)>;

class Emitter {
 public:
  /// All arguments must outlive the emitter. `program` is used only to look up meshes.
  Emitter(const Module& module, const Program& program, Function& target, ImportReport& report);

  /// An emitter for another function of the same program.
  Emitter beside(Function& target) const {
    Emitter out(module_, program_, target, report_);
    out.text_rounds_ = text_rounds_;
    return out;
  }

  /// A bf16 value as f32. As in XLA's code, a result of arithmetic is not rounded to bf16 first,
  /// unless the module's text has all conversions (`set_text_rounds`).
  Expected<Known> widened(const Known& x);
  void set_text_rounds() { text_rounds_ = true; }

  /// Applies an operation of the module language with one result, through the device hook. A
  /// predicate of `select` may be a scalar.
  Expected<Known> module_op(std::string_view name, std::vector<Known> operands,
                            std::vector<NamedAttr> attributes = {});

  // Loops whose end depends on data and that were cut after some passes. `still_runs` is an i1 that
  // is true if the program's results are wrong because of it.
  struct CutLoop {
    Known still_runs;
    int64_t passes = 0;
    SourceSpan place;
    std::string bound;  // what the condition compares its counter with, if it does
  };
  /// Whether the caller returns the values of `cut()`. Otherwise such loops are refused.
  void allow_cut_loops() { may_cut_loops_ = true; }
  bool may_cut_loops() const { return may_cut_loops_; }
  const std::vector<CutLoop>& cut() const { return cut_; }
  size_t cut_loops() const { return cut_.size(); }
  void add_cut_loop(CutLoop loop) { cut_.push_back(std::move(loop)); }
  /// The cut loops from `begin` to `end` matter only if `pred` holds.
  Expected<void> restrict_cut_loops(size_t begin, size_t end, const Known& pred);

  /// Returns the hook set before.
  DeviceHook set_device_hook(DeviceHook hook) { return std::exchange(hook_, std::move(hook)); }
  /// What the hook says to an operation: true if it handled it.
  Expected<bool> hooked(const OpSite& site) { return hook_ ? hook_(site) : Expected<bool>(false); }
  Function& target() { return target_; }
  const Module& module() const { return module_; }

  /// Adds a parameter with this name to the target function.
  Known parameter(const std::string& name, const ModuleType& type, Type ours);
  /// Emits all operations of a block. Returns the operands of its terminator.
  Expected<std::vector<Known>> block(const ModuleFunction& function, const ModuleBlock& block,
                                     Frame& frame);
  /// Emits one operation and stores its results in the frame.
  Expected<void> operation(const ModuleFunction& function, const ModuleOp& op, Frame& frame);
  Expected<std::vector<Known>> call(const ModuleFunction& callee, std::vector<Known> arguments,
                                    SourceSpan at);

  /// Appends an instruction. Its type is `written`, or inferred if that is null.
  Expected<Known> apply(OpKind kind, std::initializer_list<Known> operands,
                        Attributes attributes = {}, const ModuleType* written = nullptr);
  Expected<Known> apply_list(OpKind kind, std::vector<Known> operands, Attributes attributes = {},
                             const ModuleType* written = nullptr);
  /// Appends an instruction with several results.
  Expected<std::vector<Known>> apply_many(OpKind kind, std::vector<Known> operands,
                                          Attributes attributes, size_t results);
  /// The program's mesh for a sharding of the module; nullptr for a mesh of one device.
  const Mesh* mesh_of(const Sharding& sharding) const;
  /// The value with its last dimensions uncut, if the fusion is on a mesh: for formulas that visit
  /// all elements of these dimensions one by one.
  Expected<Known> kept_whole(const Known& known, size_t last_dims);
  /// The value as the result of an instruction. Emits constants and joins pieces.
  Expected<ValueId> materialise(const Known& known);
  /// Materialises a value so that its instruction is not emitted again.
  Expected<Known> settled(const Known& known);

  // Small builders for the handlers.
  Known number(double value, const ModuleType& type);
  Known integer(int64_t value, const ModuleType& type);
  Expected<Known> reshaped(const Known& x, std::vector<int64_t> dims);
  Expected<Known> transposed(const Known& x, const std::vector<int64_t>& permutation);
  Expected<Known> broadcast(const Known& x, const std::vector<int64_t>& dims,
                            std::vector<int64_t> to);
  Expected<Known> sliced(const Known& x, const std::vector<int64_t>& start,
                         const std::vector<int64_t>& limit, const std::vector<int64_t>& stride);
  Expected<Known> concatenated(std::vector<Known> parts, size_t dim);
  Expected<Known> cast(const Known& x, const std::string& element);
  Expected<Known> compared(const Known& a, const Known& b, std::string direction);
  /// reduce_sum, reduce_max, ... over `dims`.
  Expected<Known> reduced(OpKind kind, const Known& x, const std::vector<int64_t>& dims);
  /// Handles an operation without a counterpart.
  Expected<void> opaque(const OpSite& site, const std::string& why);

  SourceSpan place() const { return place_; }

 private:
  static constexpr int kMaxCalls = 64;
  static constexpr int64_t kMaxOperations = 1'000'000;  // with those that only count passes
  static constexpr size_t kMaxInstructions =
      200'000;  // ten times the size of a model with 80 layers and its backward pass

  Expected<std::vector<Known>> finished(Instruction made);
  std::optional<ValueId> rolled(const std::vector<Known>& parts, size_t dim) const;
  Expected<void> annotate(const OpSite& site);
  Expected<void> wrap_narrow(const OpSite& site);
  Expected<bool> composed_in_f32(const OpSite& site);
  std::string fresh_name(std::string wanted);
  Expected<ValueId> constant(const Known& known);
  Expected<Instruction> instruction(OpKind kind, const std::vector<Known>& operands,
                                    Attributes attributes);

  const Module& module_;
  const Program& program_;
  Function& target_;
  RegionId region_;
  ImportReport& report_;
  DeviceHook hook_;
  SourceSpan place_;
  std::string wanted_name_;
  std::map<std::string, uint32_t> name_counts_;
  std::set<std::string> names_;
  std::map<std::string, ValueId> constants_;
  bool text_rounds_ = false;
  std::map<ValueId, Known> widened_;  // the results of `widened`, by the rounded value
  std::vector<CutLoop> cut_;
  bool may_cut_loops_ = false;
  int calls_ = 0;
  int64_t operations_ = 0;
};

/// A constant with all elements equal; `scalar` has rank 0.
Known splat_of(Tensor scalar, ModuleType type);
/// Converts a module type. Errors: `import_c1` the dtype or size is not supported.
Expected<TensorType> our_type(const ModuleType& type, SourceSpan at);
/// Whether a comparison is of the kind TOTALORDER, in which -0 < 0 and NaN has a place.
bool orders_totally(const ModuleOp& compare);
/// Evaluates an operation on known numbers: integers, booleans, and floats if exact. nullopt if it
/// cannot.
std::optional<Known> folded(const OpSite& site);

}  // namespace hostir::importer
