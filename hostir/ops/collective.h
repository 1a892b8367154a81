// Slots, checks and prose shared by the records of collectives and send/recv.
//
// The checks cover only facts that follow from the program text. Facts that differ by rank (extents
// of uneven shards, counts, the other members' instructions) are compared at the rendezvous
// (interp/core). An unbound size is never an error here.
#pragma once

#include "hostir/ops/common.h"

namespace hostir::ops {

/// comm, input (ro), output (wo), buffer (rw), stream.
std::vector<OperandSpec> collective_operands();
std::vector<ResultSpec> event_result();

AttributeSpec reduction_attribute();
AttributeSpec root_attribute();
AttributeSpec peer_attribute();

/// An operand of an instruction, looked up by slot name.
struct SlotOperand {
  size_t index = 0;  // index into the instruction's operands
  const Operand* operand = nullptr;
  const Type* type = nullptr;  // nullptr: `none`
};
std::vector<SlotOperand> in_slot(const OpCall& call, std::string_view slot);
/// The first operand in a slot that is not `none`.
std::optional<SlotOperand> first_in(const OpCall& call, std::string_view slot);

/// The number of members of the communicator; nullopt if the text does not determine it.
std::optional<int64_t> member_count(const OpCall& call);

/// Constraints.
Violated check_handles(const OpCall& call);    // comm is a communicator, stream is a stream
Violated check_form(const OpCall& call);       // ro and wo, or one rw; all are buffers
Violated check_dtypes(const OpCall& call);     // input and output have the same dtype
Violated check_reducible(const OpCall& call);  // the same dtype, and not i1
Violated check_root(const OpCall& call);       // a position in the communicator
Violated check_peer(const OpCall& call);
Violated check_transfer_buffer(const OpCall& call);  // send and recv: the operand is a buffer

/// How the element counts of input and output relate.
enum class Extent : uint8_t { kSame, kOutputIsAll, kInputIsAll };
Violated check_extent(const OpCall& call, Extent extent);
template <Extent extent>
Violated check_elements(const OpCall& call) {
  return check_extent(call, extent);
}
/// The output of a reduction must not be partial over the communicator's axes.
Violated check_reduced_layout(const OpCall& call);

inline constexpr std::string_view kHandles =
    "The first operand is a communicator, the last one a stream.";
inline constexpr std::string_view kForm =
    "The buffers are ro(input) wo(output), or one rw(buffer) for the in-place form.";
inline constexpr std::string_view kDTypes = "Input and output have the same dtype.";
inline constexpr std::string_view kReducible =
    "Input and output have the same dtype, and it is not i1.";
inline constexpr std::string_view kRoot = "root is a position in the communicator.";
inline constexpr std::string_view kPeer = "peer is a position in the communicator.";
inline constexpr std::string_view kSameElements =
    "Output and input have the same number of elements.";
inline constexpr std::string_view kOutputIsAll = "The output holds the inputs of all members.";
inline constexpr std::string_view kInputIsAll = "The input holds the outputs of all members.";
inline constexpr std::string_view kReducedLayout =
    "The output is no longer unreduced over the communicator's axes.";
inline constexpr std::string_view kAnyDType = "Any, the same on every member.";
inline constexpr std::string_view kReducedDType =
    "All but i1, the same on every member. Folded in group order; 16- and 8-bit floats in f32 and "
    "rounded "
    "once, integers wrap, avg of integers rounds towards zero.";
inline constexpr std::string_view kCollectiveCost =
    "Bytes and steps of the machine's model of this collective (hostir/ops/collective_cost.h).";

}  // namespace hostir::ops
