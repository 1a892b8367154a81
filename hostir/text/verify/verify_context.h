// Shared by the parts of the verifier.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hostir/text/part.h"

namespace hostir::text {

struct VerifyContext {
  Program& program;
  const PartNotes& notes;
  const SourceManager* sources;  // may be null
  std::vector<Diagnostic>& diagnostics;
  std::set<std::string> faulty = {};  // functions with errors; gradients of these are not built

  Diagnostic& error(std::string id, std::string message, SourceSpan span) {
    diagnostics.push_back({Severity::kError, std::move(id), std::move(message), span, {}});
    return diagnostics.back();
  }
  bool is_broken_symbol(const std::string& name) const {
    return notes.broken_symbols.contains(name);
  }
};

/// The span of occurrence `occurrence` (from 0) of a word inside a span; the whole span if it is
/// not found or there is no source text.
SourceSpan find_word(const SourceManager* sources, SourceSpan span, std::string_view word,
                     int occurrence = 0);

/// The mesh with this name; nullptr after reporting `mesh_c3`.
const Mesh* check_mesh(VerifyContext& context, const std::string& name, SourceSpan span);

enum class OpenDimensions : uint8_t { kAllowed, kForbidden };
/// Checks mesh, axes, sub-axes and rank of a sharding. False after at least one error.
bool check_sharding(VerifyContext& context, const Sharding& sharding, size_t rank, SourceSpan span,
                    OpenDimensions open);
/// Checks axes that are used together (`over {tp}`) with axis_faults() of hostir/ir/axes.h. False
/// after at least one error.
bool check_axes(VerifyContext& context, const Mesh& mesh, const AxisList& axes, SourceSpan span);

void verify_function(VerifyContext& context, Function& function, const FunctionNotes& notes);
void verify_test(VerifyContext& context, const TestPiece& test);

/// True if shape and dtype are equal; compares simplified sizes.
bool same_shape_and_dtype(const Type& a, const Type& b);
/// True if the types are equal; compares simplified sizes and ignores the sharding of tensors.
bool same_type(const Type& a, const Type& b);

}  // namespace hostir::text
