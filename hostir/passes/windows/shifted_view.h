// What a slice, pad or roll reads, as a shifted window of a value.
//
// Chains of them are windows of the value at their beginning. Shared by the searches for windows
// that exchange borders together (halo_exchange.h) and for sums of them (border_sums.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir {

/// Element i along dimension d is element offset + stride * i of the root, whose elements are
/// `spread` apart. Where the root has no element there, it is `fill`; if it wraps, indices count
/// from the other end.
struct ShiftedView {
  struct Dim {
    int64_t offset = 0;
    int64_t stride = 1;
    int64_t size = 0;
    int64_t spread = 1;
    bool wraps = false;

    /// The distance from the first to the last of `count` elements, both included.
    int64_t span(int64_t count) const { return stride * (count - 1) + 1; }
    int64_t end() const { return offset + span(size); }
    /// False if it has the elements of the root, which has `whole`, in their places.
    bool moves(int64_t whole) const {
      return offset != 0 || size != whole || stride != 1 || spread != 1;
    }
    friend bool operator==(const Dim&, const Dim&) = default;
  };
  ValueId root;
  std::vector<Dim> dims;
  std::optional<double> fill;
  int length = 1;  // number of instructions
};

/// The window that an instruction takes of its operand. nullopt if the instruction is not a slice,
/// pad or roll, if a size or amount is unknown, or if a size is 0.
std::optional<ShiftedView> view_of(const Function& function, const Instruction& i);
/// The window of `inner`'s root that `outer`, a window of `inner`, is. nullopt if no single window
/// of the root has these elements.
std::optional<ShiftedView> composed(const Function& function, const ShiftedView& inner,
                                    const ShiftedView& outer);
/// The number of elements of a value along a dimension, which must be known.
int64_t extent_of(const Function& function, ValueId value, size_t d);

int64_t floor_div(int64_t a, int64_t b);
int64_t ceil_div(int64_t a, int64_t b);

}  // namespace hostir
