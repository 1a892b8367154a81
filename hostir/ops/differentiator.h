// The state of differentiate(): the copy of the fusion to which the backward pass is appended.
//
// differentiate.cpp has the parts for whole fusions, differentiate_loop.cpp those for loops,
// recompute.cpp those for values that are not kept, stack_elements.cpp prepares loops of loops.
#pragma once

#include <map>
#include <set>

#include "hostir/ops/rebuild.h"

namespace hostir {

/// The type of a cotangent: that of the value, with its sharding but fully reduced.
Type type_of_cotangent(const Type& type);
bool is_real(const Type& type);
/// True if the backward pass computes the value of this instruction again.
bool is_recomputed(const Instruction& instruction);

/// The same fusion, in which each loop takes elements of stacks by its own variable.
Expected<Function> with_elements_by_loop(const Function& fusion);

class Differentiator {
 public:
  Differentiator(const Program& program, const Function& source, std::string name,
                 std::vector<std::string> wrt);

  Expected<Function> run();

 private:
  /// An element of a stack that each pass of a loop uses, `at %ws[%i + offset]`: the cotangents of
  /// all passes are stacked too.
  struct StackUse {
    ValueId stack;
    IndexExpr offset;
    ValueId cotangent;  // in one pass
  };
  /// The reverse loop that is being built.
  struct Frame {
    std::string variable;
    IndexExpr first, last;       // the bounds
    std::vector<ValueId> outer;  // active values from outside that the region uses
    std::vector<StackUse> uses;
  };
  /// The region of a loop, copied into its reverse loop.
  struct Again {
    InstrId loop;                              // whose region is copied
    RegionId region;                           // of the reverse loop
    IndexExpr position;                        // of a pass in stacks
    std::vector<InstrId> copies;               // at the top of the region
    std::map<ValueId, ValueId> original = {};  // by copied value; arguments too
    std::map<InstrId, InstrId> loops = {};     // by copied loop, nested ones too
    std::map<ValueId, ValueId> copied = {};    // by original
    std::map<ValueId, ValueId> elements = {};  // of stacks, by copied value
  };

  Function& out() { return rebuild_.out(); }
  const std::vector<InstrId>& body() { return out().region(out().body).instructions; }
  const Type& type(ValueId v) { return out().value(v).type; }

  Expected<void> choose_parameters();
  void copy_forward();
  void name_all_results(InstrId id);
  void find_active();
  Expected<void> seed();
  Expected<void> finish();
  void unname_unused();

  // Activity and cotangents grow with the function.
  bool is_active(ValueId value) const;
  void set_active(ValueId value, bool active);
  ValueId& cotangent(ValueId value);
  void accumulate(ValueId value, ValueId cotangent);

  void enter(RegionId region);
  void mark_active(const std::vector<InstrId>& instructions);
  void mark_loop_active(const Instruction& loop);
  Expected<void> backward(const std::vector<InstrId>& forward);
  Expected<void> backward(InstrId id);

  Expected<void> backward_loop(InstrId id);
  /// The result of a loop that stacks this value of its region.
  ValueId stacked(InstrId loop, ValueId value);
  bool take_stack_use(const Instruction& at);
  std::vector<ValueId> values_from_outside(const Instruction& loop);
  Again copy_region_again(InstrId loop);
  InstrId copy_again(Again& again, InstrId id, RegionId into);
  ValueId in_whole_stack(const Frame& frame, const StackUse& use, ValueId cotangents);

  /// Replaces the values that the backward part of a region uses, and that are kept, by elements of
  /// stacks; drops what is then unused.
  void use_kept(Again& again);
  void use_kept(Again& again, InstrId user, std::set<InstrId>& needed);
  bool is_of_region(const Again& again, ValueId value);
  bool is_kept(const Again& again, ValueId copy);
  ValueId original_of(Again& again, ValueId copy);
  ValueId element_of_stack(Again& again, ValueId copy);
  void recompute_marked(size_t forward_count);

  const Program& program_;
  const Function& source_;
  std::vector<std::string> wrt_;
  ops::Rebuild rebuild_;
  Instruction returned_;
  std::vector<ValueId> parameters_;                        // the requested parameters
  std::vector<bool> active_;                               // by value
  std::vector<ValueId> cotangents_;                        // by value
  RegionId region_;                                        // being appended to
  Frame* frame_ = nullptr;                                 // of the innermost loop
  std::map<std::pair<InstrId, ValueId>, ValueId> stacks_;  // by loop and value of its region
};

}  // namespace hostir
