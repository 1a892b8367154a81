#include "hostir/import/handlers.h"

#include <unordered_map>

namespace hostir::importer {

const HandlerRow* find_handler(std::string_view name) {
  static const auto kTable = [] {
    std::unordered_map<std::string_view, const HandlerRow*> table;
    for (const auto rows :
         {pointwise_handlers(), special_handlers(), bitcast_handlers(), shape_handlers(),
          contraction_handlers(), reduction_handlers(), index_handlers(), control_handlers()}) {
      for (const HandlerRow& row : rows) table.emplace(row.name, &row);
    }
    return table;
  }();
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : found->second;
}

}  // namespace hostir::importer
