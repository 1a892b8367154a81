// Emits operations that no op of the language corresponds to.

#include <algorithm>

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

// Emits one `opaque` per result, with the tensor operands; its name is the original operation.
Expected<void> Emitter::opaque(const OpSite& site, const std::string& why) {
  const std::string what = site.op.name + (why.empty() ? "" : " (" + why + ")");
  const auto is_token = [&](size_t r) {
    const ModuleType& type = site.result_type(r);
    return type.kind == ModuleType::Kind::kOther && type.element.find("token") != std::string::npos;
  };
  for (size_t r = 0; r < site.op.results.size(); ++r) {
    if (!site.result_type(r).is_tensor() && !is_token(r))
      return site.fail("import_c8", "has no counterpart" + (why.empty() ? "" : ": " + why));
  }
  const auto& results = site.op.results;
  bool only_tokens = true;
  for (size_t r = 0; r < results.size(); ++r) only_tokens = only_tokens && is_token(r);
  if (!only_tokens) ++report_.opaque[what];  // a print or another side effect is dropped
  std::vector<Known> operands;
  for (size_t i = 0; i < site.count(); ++i) {
    if (site.in(i).type.is_tensor()) operands.push_back(site.in(i));
  }
  for (size_t r = 0; r < site.op.results.size(); ++r) {
    if (is_token(r)) {
      Known token;
      token.type = site.result_type(r);
      HOSTIR_TRY(site.set(std::move(token), r));
      continue;
    }
    Attributes attributes;
    attributes.set("name", what);
    if (site.op.results.size() > 1) attributes.set("result", static_cast<int64_t>(r));
    const bool has_like = std::any_of(operands.begin(), operands.end(), [&](const Known& x) {
      return !x.type.dims.empty() && x.type.dims == site.result_type(r).dims;
    });
    if (has_like && target_.kind == FunctionKind::kFusion && !program_.meshes.empty())
      attributes.set("as_operands", true);
    HOSTIR_ASSIGN_OR_RETURN(
        Known y, apply_list(OpKind::opaque, operands, std::move(attributes), &site.result_type(r)));
    HOSTIR_TRY(site.set(std::move(y), r));
  }
  return {};
}

}  // namespace hostir::importer
