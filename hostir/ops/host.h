// What the records of host instructions share: the buffers they use, the functions they name.
//
// Where an instruction may stand (streams at the top, yield and return at the end) and what regions
// hand over is the same for all ops and is checked by the verifier (hostir/text).
#pragma once

#include "hostir/ops/collective.h"

namespace hostir::ops {

bool is_buffer(const Type& type);
/// The one buffer operand of a view or read; nullptr if it is `none` or no buffer (then _c1 says
/// so).
const Type* only_buffer(const OpCall& call);
/// The operand of a slot that must be a buffer.
Violated check_buffer_slot(const OpCall& call, std::string_view slot);
/// Handles of the slots stream, and the buffer of the slot buffer.
Violated check_buffer(const OpCall& call);
/// Bytes of a tensor type with known sizes; nullopt for shards, whose sizes are each rank's own.
std::optional<int64_t> known_bytes(const Type& type);
/// Same dtype and no sizes that are known to differ (symbolic ones are bound later).
bool may_bind(const Type& from, const Type& to);
/// `f32[4x8]`, `event`: a type without its layout, for messages.
std::string short_text(const Type& type);
/// The types that a yield or return hands over; an event for `none`.
std::vector<Type> handed_over(const OpCall& call, const Instruction& instruction);
/// The last instruction of a region of this instruction if it is a yield.
const Instruction* closing_yield(const OpCall& call, size_t region);
/// The function that a symbol attribute names, or nullptr.
const Function* named_function(const OpCall& call, std::string_view attribute);
const Mesh* mesh_named_or_own(const OpCall& call);

inline constexpr std::string_view kStreamCost = "Host issue cost only (ns, machine's issue_ns).";
inline constexpr std::string_view kNoLayout = "None involved.";
inline constexpr std::string_view kNoDTypes = "None involved.";
inline constexpr std::string_view kNoHostGradient =
    "none: host instructions are made after differentiation";

}  // namespace hostir::ops
