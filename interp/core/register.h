// What one name of a host function refers to on one rank.
//
// Integers and events use `value` (an event is a TaskId). A buffer is an allocation and the part of
// it that is viewed. Copying a register copies the name, not the data. Trivially copyable, because
// a rank's register file is saved with the state.
#pragma once

#include <cstdint>

#include "hostir/ir/placement.h"
#include "interp/core/ids.h"

namespace hostir::interp {

inline constexpr uint32_t kNoSlot = 0xffffffffu;

struct Register {
  int64_t value = -1;                    // integer; TaskId (kNoTask == -1); allocation id
  int64_t offset_bytes = 0;              // buffers: into the allocation
  const Placement* placement = nullptr;  // buffers: the layout it was created with
  uint32_t slot = kNoSlot;               // buffers: the rank's slot of the allocation
  uint32_t generation = 0;               // buffers: of the slot's contents (`alloc over`)
  uint32_t shape = 0;                    // buffers: index of a strided shape; 0: contiguous
};

}  // namespace hostir::interp
