#include "hostir/import/emit/handlers.h"

#include <algorithm>
#include <unordered_map>

namespace hostir::importer {

const HandlerRow* find_handler(std::string_view name) {
  static const auto kTable = [] {
    std::unordered_map<std::string_view, const HandlerRow*> table;
    for (const auto rows :
         {pointwise_handlers(), special_handlers(), bit_handlers(), bitcast_handlers(),
          shape_handlers(), algebra_handlers(), factor_handlers(), contraction_handlers(),
          convolution_handlers(), reduction_handlers(), window_handlers(), random_handlers(),
          index_handlers(), control_handlers(), loop_handlers(), sort_handlers(),
          dynamic_handlers()}) {
      for (const HandlerRow& row : rows) table.emplace(row.name, &row);
    }
    return table;
  }();
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : found->second;
}

bool is_pointwise(std::string_view name) {
  for (const auto rows : {pointwise_handlers(), special_handlers(), bit_handlers()}) {
    const auto named = [&](const HandlerRow& row) { return row.name == name; };
    if (std::any_of(rows.begin(), rows.end(), named)) return true;
  }
  return false;
}

std::optional<int64_t> call_option(const OpSite& s, std::string_view name) {
  for (const std::string_view dict : {"mhlo.backend_config", "backend_config"}) {
    const Attr* config = s.op.find(dict);
    const Attr* field = config != nullptr ? config->find(name) : nullptr;
    if (field != nullptr) return field->integer;
  }
  return std::nullopt;
}

}  // namespace hostir::importer
