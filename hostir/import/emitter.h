// Turns operations of a module into instructions of a fusion or kernel.
//
// The emitter walks a function of the module: calls are inlined, loops with a known number of
// passes are unrolled, integers that are known are computed here (loop counters, indices), so that
// dynamic slices of layers become plain ones. Every other operation goes to its handler
// (`handlers.h`), which appends instructions of ours; what has no handler stays as `opaque`.
// Constants are instructions only once they are used. Errors: `import_c*` at the operation's place
// in the module's text.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hostir/import/module.h"
#include "hostir/ir/program.h"

namespace hostir::importer {

/// What a value of the module is in the program that is built.
struct Known {
  ModuleType type;
  ValueId value;                 // invalid: not an instruction (yet)
  std::optional<Tensor> number;  // known now; rank 0 where `splat`
  bool splat = false;            // all elements are `number`
  std::vector<Known> pieces;  // put one after another along `pieces_dim`; a stack that a loop fills
  size_t pieces_dim = 0;

  bool is_number() const { return number.has_value(); }
};

using Frame = std::vector<std::optional<Known>>;  // by ValueNumber

/// What an import left out or guessed, for the user.
struct ImportReport {
  std::map<std::string, int64_t> opaque;  // operations without a counterpart, with how many of each
  std::vector<Diagnostic> notes;
};

class Emitter;

/// One operation being emitted.
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

/// Collectives and device numbers are not compute ops; who builds host functions says what they
/// become.
using DeviceHook = std::function<Expected<bool>(const OpSite&)>;

class Emitter {
 public:
  /// All must outlive the emitter. `program` is asked for meshes only.
  Emitter(const Module& module, const Program& program, Function& target, ImportReport& report);

  void set_device_hook(DeviceHook hook) { hook_ = std::move(hook); }
  void set_opaque_error(bool is_error) { opaque_is_error_ = is_error; }
  Function& target() { return target_; }
  RegionId region() const { return region_; }
  const Module& module() const { return module_; }

  /// A parameter of the target with this name.
  Known parameter(const std::string& name, const ModuleType& type, Type ours);
  /// All operations of a block; the operands of its terminator.
  Expected<std::vector<Known>> block(const ModuleFunction& function, const ModuleBlock& block,
                                     Frame& frame);
  /// One operation; the frame gets its results.
  Expected<void> operation(const ModuleFunction& function, const ModuleOp& op, Frame& frame);
  Expected<std::vector<Known>> call(const ModuleFunction& callee, std::vector<Known> arguments,
                                    SourceSpan at);

  /// Appends an instruction and infers its type, or takes the written one.
  Expected<Known> apply(OpKind kind, std::initializer_list<Known> operands,
                        Attributes attributes = {}, const ModuleType* written = nullptr);
  Expected<Known> apply_list(OpKind kind, std::vector<Known> operands, Attributes attributes = {},
                             const ModuleType* written = nullptr);
  /// An instruction with several results.
  Expected<std::vector<Known>> apply_many(OpKind kind, std::vector<Known> operands,
                                          Attributes attributes, size_t results);
  /// The mesh of the program that a module's sharding means; nullptr for a mesh of one device.
  const Mesh* mesh_of(const Sharding& sharding) const;
  /// The value as an instruction's result; makes constants and joins pieces.
  Expected<ValueId> materialise(const Known& known);
  /// A value of its own for something that has one already (a parameter returned, say).
  Expected<Known> settled(const Known& known);

  // Small builders, used by many handlers.
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
  /// The value without the bits that its narrower element type does not have.
  Expected<Known> wrapped(const Known& x, const ModuleType& narrow);
  Expected<Known> compared(const Known& a, const Known& b, std::string direction);
  /// reduce_sum, reduce_max, ... over `dims`.
  Expected<Known> reduced(OpKind kind, const Known& x, const std::vector<int64_t>& dims);
  /// An operation that has no counterpart.
  Expected<void> opaque(const OpSite& site, const std::string& why);

  SourceSpan place() const { return place_; }
  void set_wanted_name(std::string name) { wanted_name_ = std::move(name); }

 private:
  static constexpr int kMaxCalls = 64;
  static constexpr size_t kMaxInstructions =
      200'000;  // ten times a model of 80 layers, forwards and backwards

  Expected<std::vector<Known>> finished(Instruction made);
  Expected<void> annotate(const OpSite& site);
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
  bool opaque_is_error_ = false;
  SourceSpan place_;
  std::string wanted_name_;
  std::map<std::string, uint32_t> name_counts_;
  std::set<std::string> names_;
  std::map<std::string, ValueId> constants_;
  int calls_ = 0;
};

/// A constant with every element the same; the number has rank 0.
Known splat_of(Tensor scalar, ModuleType type);
/// Result types of ours from the module's. Errors: `import_c1` a dtype or size that we do not have.
Expected<TensorType> our_type(const ModuleType& type, SourceSpan at);
/// Integer and boolean operations on numbers that are known, floats where exact: the result, or
/// nothing.
std::optional<Known> folded(const OpSite& site);

}  // namespace hostir::importer
