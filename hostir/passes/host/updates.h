// Results that are declared `alias(%w)`, and how their values get into the buffer of %w.
//
//   1. A value whose item runs after the last other use of %w is computed there: a kernel or a
//      collective then writes %w's buffer instead of one of its own.
//   2. A kernel that also reads %w updates it, `rw(%w)`, if it is known to read every element
//      before it replaces it: only pointwise ops and reductions use %w and what is computed from it
//      place by place, or %w is what an op changes in places (dynamic_update_slice, put). The
//      kernel's result is then an alias, too.
//   3. Any other value is copied after the last item that uses it or %w; at the end if %w is also
//      returned or relabelled, or if the value is itself a parameter.
#pragma once

#include <map>
#include <optional>

#include "hostir/passes/host/segment.h"
#include "hostir/passes/redistribute/redistribute_step.h"

namespace hostir {

/// A result that is an alias of a parameter and another value.
struct Update {
  size_t result = 0;
  ValueId value;
  ValueId parameter;
  bool in_place = false;        // `value` is computed in the buffer of `parameter`
  std::optional<size_t> after;  // else: index of the item that the copy follows; none: at the end
};

/// A kernel that updates parameters: the last `updates` values that it reads and writes are one
/// buffer each. The kernel's parameters and results are in the same order.
struct UpdatingLaunch {
  KernelUse use;
  Function kernel;
  size_t updates = 0;
};

struct UpdatePlan {
  std::vector<Update> updates;                // in the order of `after`
  std::map<size_t, UpdatingLaunch> launches;  // by index of the item that each replaces
};

UpdatePlan plan_updates(const Program& program, const Function& fusion, const Segments& segments);

/// What a reshard of split_reshards() does.
std::optional<RedistributeStep> step_of(const Program& program, const Function& fusion,
                                        const Instruction& reshard);
bool is_relabel(const Program& program, const Function& fusion, const Instruction& instruction);
/// The value in whose buffer this one is.
ValueId memory_of_value(const Program& program, const Function& fusion, ValueId value);

}  // namespace hostir
