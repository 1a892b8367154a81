// Helpers for the records of host instructions: the buffers they use and the functions they name.
//
// The verifier (hostir/text) checks rules that hold for all ops: where an instruction may be
// (streams at the top, yield and return at the end), and which values regions pass on.
#pragma once

#include "hostir/ops/collective.h"

namespace hostir::ops {

/// The buffer operand of a view or read; nullptr if it is `none` or not a buffer (reported as _c1).
const Type* only_buffer(const OpCall& call);
/// The operand in this slot must be a buffer.
Violated check_buffer_slot(const OpCall& call, std::string_view slot);
/// The operand in slot `stream` must be a stream, and the one in slot `buffer` a buffer.
Violated check_buffer(const OpCall& call);
/// Bytes of a tensor type with known sizes; nullopt for shards, whose size differs by rank.
std::optional<int64_t> known_bytes(const Type& type);
/// True if the dtypes are equal and no sizes are known to differ. Symbolic sizes are bound later.
bool may_bind(const Type& from, const Type& to);
/// A type without its layout, for messages: `f32[4x8]`, `event`.
std::string short_text(const Type& type);
/// The types of the values that a yield or return passes on; an event for `none`.
std::vector<Type> handed_over(const OpCall& call, const Instruction& instruction);
/// The last instruction of a region of this call's instruction if it is a yield, else nullptr.
const Instruction* closing_yield(const OpCall& call, size_t region);
/// The function named by a symbol attribute, or nullptr.
const Function* named_function(const OpCall& call, std::string_view attribute);
const Mesh* mesh_named_or_own(const OpCall& call);

inline constexpr std::string_view kStreamCost = "Host issue cost only (ns, machine's issue_ns).";
inline constexpr std::string_view kNoLayout = "None involved.";
inline constexpr std::string_view kNoDTypes = "None involved.";
inline constexpr std::string_view kNoHostGradient =
    "none: host instructions are made after differentiation";

}  // namespace hostir::ops
