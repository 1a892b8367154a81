// A fusion copied instruction by instruction, with some replaced: what expand_composites and
// differentiate are made of.
#pragma once

#include "hostir/ir/unique_names.h"
#include "hostir/ops/builder.h"

namespace hostir::ops {

/// Builds a function from another one. Values of the source are looked up by id in `map`.
class Rebuild {
 public:
  /// Copies the signature: name, documentation, parameters, declared results.
  explicit Rebuild(const Function& source);
  Rebuild(const Rebuild&) = delete;
  Rebuild& operator=(const Rebuild&) = delete;

  Function& out() { return out_; }
  Builder& builder() { return builder_; }
  UniqueNames& names() { return names_; }

  /// The value that stands for one of the source; invalid before that is defined.
  ValueId at(ValueId source) const;
  void set(ValueId source, ValueId value);
  /// The instruction with operands of the new function and without results.
  Instruction with_operands(const Instruction& source) const;
  /// A copy of the instruction and its results.
  InstrId copy(const Instruction& source);
  /// Removes instructions from position `first` of the body on whose results nobody uses.
  void drop_unused(const std::vector<bool>& removable);
  /// The function, its arenas in the order of the text.
  Function take();

 private:
  const Function& source_;
  Function out_;
  UniqueNames names_;
  Builder builder_;
  std::vector<ValueId> map_;
};

}  // namespace hostir::ops
