// Operations without a counterpart.

#include <fmt/format.h>

#include "hostir/import/emitter.h"
#include "hostir/ops/record.h"

namespace hostir::importer {

// Emits one `opaque` per result, with the tensor operands; its name is the original operation.
Expected<void> Emitter::opaque(const OpSite& site, const std::string& why) {
  const std::string what = site.op.name + (why.empty() ? "" : " (" + why + ")");
  for (size_t r = 0; r < site.op.results.size(); ++r) {
    if (!site.result_type(r).is_tensor())
      return site.fail("import_c8", "has no counterpart" + (why.empty() ? "" : ": " + why));
  }
  ++report_.opaque[what];
  std::vector<Known> operands;
  for (size_t i = 0; i < site.count(); ++i) {
    if (site.in(i).type.is_tensor()) operands.push_back(site.in(i));
  }
  for (size_t r = 0; r < site.op.results.size(); ++r) {
    Attributes attributes;
    attributes.set("name", what);
    if (site.op.results.size() > 1) attributes.set("result", static_cast<int64_t>(r));
    HOSTIR_ASSIGN_OR_RETURN(
        Known y, apply_list(OpKind::opaque, operands, std::move(attributes), &site.result_type(r)));
    HOSTIR_TRY(site.set(std::move(y), r));
  }
  return {};
}

}  // namespace hostir::importer
