// What the parts of the verifier share.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hostir/ops/record.h"
#include "hostir/text/part.h"

namespace hostir::text {

struct VerifyContext {
  Program& program;
  const PartNotes& notes;
  const SourceManager* sources;  // may be null
  std::vector<Diagnostic>& diagnostics;
  std::set<std::string> faulty = {};  // functions with a fault: nothing is derived from them

  Diagnostic& error(std::string id, std::string message, SourceSpan span) {
    diagnostics.push_back({Severity::kError, std::move(id), std::move(message), span, {}});
    return diagnostics.back();
  }
  bool is_broken_symbol(const std::string& name) const {
    return notes.broken_symbols.contains(name);
  }
};

/// The span of the n-th occurrence (from 0) of a word inside a span; the span itself if it is not
/// there or there is no text.
SourceSpan find_word(const SourceManager* sources, SourceSpan span, std::string_view word,
                     int occurrence = 0);

/// The mesh with this name, or nullptr after `mesh_c3`.
const Mesh* check_mesh(VerifyContext& context, const std::string& name, SourceSpan span);

enum class OpenDimensions : uint8_t { kAllowed, kForbidden };
/// Mesh, axes, sub-axes and rank of a sharding. False after at least one report.
bool check_sharding(VerifyContext& context, const Sharding& sharding, size_t rank, SourceSpan span,
                    OpenDimensions open);
/// Axes that a text names together (`over {tp}`), by axis_faults() of hostir/ir/axes.h. False after
/// at least one report.
bool check_axes(VerifyContext& context, const Mesh& mesh, const AxisList& axes, SourceSpan span);

void verify_function(VerifyContext& context, Function& function, const FunctionNotes& notes);
void verify_test(VerifyContext& context, const TestPiece& test);

/// Equal shape and dtype; sizes are compared after simplification.
bool same_shape_and_dtype(const Type& a, const Type& b);
/// Equal in everything but the spelling of sizes; a tensor's sharding is not compared.
bool same_type(const Type& a, const Type& b);

}  // namespace hostir::text
