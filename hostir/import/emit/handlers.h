// The handler function of each module operation.
#pragma once

#include <span>
#include <string_view>

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

using Handler = Expected<void> (*)(const OpSite&);

struct HandlerRow {
  std::string_view name;  // "stablehlo.add"
  Handler handler;
  size_t least = 1;  // minimum number of operands; checked before the handler runs
};

/// The row of an operation; nullptr if it has no handler.
const HandlerRow* find_handler(std::string_view name);

/// True for an operation that works element by element on operands of one shape.
bool is_pointwise(std::string_view name);

/// A field of a custom call's configuration: `mhlo.backend_config = {uplo = 76 : ui8}`.
std::optional<int64_t> call_option(const OpSite& s, std::string_view name);

// One table per file.
std::span<const HandlerRow> pointwise_handlers();
std::span<const HandlerRow> special_handlers();  // element by element, as pointwise ones
std::span<const HandlerRow> bit_handlers();      // also element by element
std::span<const HandlerRow> bitcast_handlers();
std::span<const HandlerRow> shape_handlers();
std::span<const HandlerRow> algebra_handlers();
std::span<const HandlerRow> factor_handlers();
std::span<const HandlerRow> contraction_handlers();
std::span<const HandlerRow> convolution_handlers();
std::span<const HandlerRow> reduction_handlers();
std::span<const HandlerRow> window_handlers();
std::span<const HandlerRow> random_handlers();
std::span<const HandlerRow> index_handlers();
std::span<const HandlerRow> control_handlers();
std::span<const HandlerRow> loop_handlers();
std::span<const HandlerRow> sort_handlers();
std::span<const HandlerRow> dynamic_handlers();

}  // namespace hostir::importer
