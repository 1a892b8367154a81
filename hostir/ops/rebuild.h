// Copies a fusion instruction by instruction, replacing some. expand_composites and differentiate
// use it.
#pragma once

#include "hostir/ir/unique_names.h"
#include "hostir/ops/builder.h"

namespace hostir::ops {

/// Builds a function from a source function and maps source values to new ones.
class Rebuild {
 public:
  /// Copies the signature: name, documentation, parameters, declared results.
  /// `program`: see Builder.
  explicit Rebuild(const Function& source, const Program* program = nullptr);
  Rebuild(const Rebuild&) = delete;
  Rebuild& operator=(const Rebuild&) = delete;

  Function& out() { return out_; }
  RegionId region() const { return region_; }  // being built
  Builder& builder() { return builder_; }
  UniqueNames& names() { return names_; }

  /// The new value for a source value; invalid if it is not defined yet.
  ValueId at(ValueId source) const;
  void set(ValueId source, ValueId value);
  /// The instruction with its operands mapped to the new function, without results.
  Instruction with_operands(const Instruction& source) const;
  /// Appends a copy of the instruction with its results to the region that is being built. `visit`
  /// copies each instruction of its own regions; empty: copy().
  using Visit = std::function<void(const Instruction& source)>;
  InstrId copy(const Instruction& source, const Visit& visit = {});
  /// Removes instructions whose results are unused, where `removable` is true, also in regions.
  void drop_unused(const std::vector<bool>& removable);
  /// The finished function, with its arenas in text order.
  Function take();

 private:
  ValueId copy_value(ValueId source);
  RegionId copy_region(RegionId source, const Visit& visit);
  void drop_unused(RegionId region, const std::vector<bool>& removable, std::vector<bool>& used);

  const Function& source_;
  Function out_;
  RegionId region_;  // being built
  UniqueNames names_;
  Builder builder_;
  std::vector<ValueId> map_;
};

}  // namespace hostir::ops
