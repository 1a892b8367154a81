// Calls, branches, custom calls.

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/emit/handlers.h"
#include "hostir/import/mapped/manual_map.h"

namespace hostir::importer {

namespace {

Expected<void> set_all(const OpSite& s, std::vector<Known> results) {
  if (results.size() < s.op.results.size()) {
    return s.fail("import_c2", fmt::format("returns {} results, but the text names {}",
                                           results.size(), s.op.results.size()));
  }
  for (size_t i = 0; i < s.op.results.size(); ++i) HOSTIR_TRY(s.set(std::move(results[i]), i));
  return {};
}

std::vector<Known> operands_of(const OpSite& s) {
  std::vector<Known> out;
  for (size_t i = 0; i < s.count(); ++i) out.push_back(s.in(i));
  return out;
}

Expected<void> call_function(const OpSite& s, const std::string& name,
                             std::vector<Known> arguments) {
  const ModuleFunction* callee = s.emitter.module().find(name);
  if (callee == nullptr) return s.fail("import_c6", "there is no function @" + name);
  HOSTIR_ASSIGN_OR_RETURN(auto results, s.emitter.call(*callee, std::move(arguments), s.op.span));
  return set_all(s, std::move(results));
}

Expected<void> emit_call(const OpSite& s) {
  const Attr* callee = s.op.find("callee");
  if (callee == nullptr) return s.fail("import_c6", "does not name a function");
  return call_function(s, callee->text, operands_of(s));
}

// The decomposition defines the operation. Its name would only help to select a better kernel.
Expected<void> emit_composite(const OpSite& s) {
  const Attr* decomposition = s.op.find("decomposition");
  if (decomposition == nullptr) return s.emitter.opaque(s, "a composite without a decomposition");
  return call_function(s, decomposition->text, operands_of(s));
}

// Branches have no side effects, so all are computed and one result is selected. A known index
// selects its branch directly.
Expected<void> emit_case(const OpSite& s) {
  Emitter& e = s.emitter;
  const Known index = s.in(0);
  const auto count = static_cast<int64_t>(s.op.regions.size());
  if (count == 0) return s.fail("import_c5", "has no branches");
  const bool is_if = s.op.name == "stablehlo.if";
  if (index.is_number()) {
    int64_t chosen = index.number->get_int(0);
    if (is_if) chosen = chosen != 0 ? 0 : 1;
    if (chosen < 0 || chosen >= count) chosen = count - 1;
    HOSTIR_ASSIGN_OR_RETURN(
        auto results, e.block(s.function, s.op.regions[static_cast<size_t>(chosen)], s.frame));
    return set_all(s, std::move(results));
  }
  std::vector<std::vector<Known>> branches;
  std::vector<size_t> cuts;  // before each branch
  for (const ModuleBlock& region : s.op.regions) {
    cuts.push_back(e.cut_loops());
    HOSTIR_ASSIGN_OR_RETURN(auto results, e.block(s.function, region, s.frame));
    if (results.size() != s.op.results.size())
      return s.fail("import_c5", fmt::format("has {} results, but a branch returns {}",
                                             s.op.results.size(), results.size()));
    for (size_t r = 0; r < results.size(); ++r) {
      if (results[r].type != s.result_type(r))
        return s.fail("import_c5", "a branch returns " + results[r].type.to_string() +
                                       " where the text says " + s.result_type(r).to_string());
    }
    branches.push_back(std::move(results));
  }
  cuts.push_back(e.cut_loops());
  std::vector<Known> chosen = branches.back();  // also if the index is out of range
  for (int64_t b = count - 2; b >= 0; --b) {
    const auto at = static_cast<size_t>(b);
    Known is_this = index;
    if (!is_if) {
      std::vector<NamedAttr> equal = {{"comparison_direction", Attr::of_word("EQ")}};
      HOSTIR_ASSIGN_OR_RETURN(
          is_this,
          e.module_op("stablehlo.compare", {index, e.integer(b, index.type)}, std::move(equal)));
    }
    for (size_t r = 0; r < chosen.size(); ++r) {
      HOSTIR_ASSIGN_OR_RETURN(
          chosen[r], e.module_op("stablehlo.select", {is_this, branches[at][r], chosen[r]}));
    }
    HOSTIR_TRY(e.restrict_cut_loops(cuts[at], cuts[at + 1], is_this));
    if (cuts[at + 1] == e.cut_loops()) continue;
    HOSTIR_ASSIGN_OR_RETURN(const Known is_other, e.module_op("stablehlo.not", {is_this}));
    HOSTIR_TRY(e.restrict_cut_loops(cuts[at + 1], e.cut_loops(), is_other));
  }
  return set_all(s, std::move(chosen));
}

Expected<void> emit_named(const OpSite& s) {
  if (s.op.regions.size() != 1 || s.op.regions[0].arguments.size() != s.count())
    return s.fail("import_c5", "needs one region, with an argument for each operand");
  for (size_t i = 0; i < s.count(); ++i) s.frame[s.op.regions[0].arguments[i]] = s.in(i);
  HOSTIR_ASSIGN_OR_RETURN(auto results, s.emitter.block(s.function, s.op.regions[0], s.frame));
  return set_all(s, std::move(results));
}

// A tuple is the list of its parts; no instruction computes it.
Expected<void> emit_tuple(const OpSite& s) {
  Known tuple;
  tuple.type = s.result_type();
  tuple.pieces = operands_of(s);
  const auto fits = [](const Known& piece, const ModuleType& part) { return piece.type == part; };
  if (!std::equal(tuple.pieces.begin(), tuple.pieces.end(), tuple.type.parts.begin(),
                  tuple.type.parts.end(), fits))
    return s.fail("import_c2", "its parts are not those of " + tuple.type.to_string());
  return s.set(std::move(tuple));
}

Expected<void> emit_tuple_element(const OpSite& s) {
  const auto written = s.op.integers("start_indices");
  const int64_t index = written.size() == 1 ? written[0] : s.op.integer_or("index", -1);
  const auto& parts = s.in(0).pieces;
  if (s.in(0).type.is_tensor() || index < 0 || static_cast<size_t>(index) >= parts.size())
    return s.fail("import_c2", fmt::format("there is no element {}", index));
  return s.set(parts[static_cast<size_t>(index)]);
}

// The handler of a library's routine, or of an operation that an older version of StableHLO lacks
// (`mhlo.erf`, printed by jax.export). nullptr for other calls.
const HandlerRow* row_of_call(std::string_view target) {
  if (target == "TopK" || target == "mhlo.topk") return find_handler("chlo.top_k");
  if (target == "ApproxTopK") return find_handler("hostir.approx_top_k");
  if (target == "cu_threefry2x32" || target == "hip_threefry2x32")
    return find_handler("hostir.threefry2x32");
  for (const std::string_view dialect : {"mhlo.", "chlo."}) {
    if (!target.starts_with(dialect)) continue;
    const std::string name = "chlo." + std::string(target.substr(dialect.size()));
    return is_pointwise(name) ? find_handler(name) : nullptr;
  }
  for (const std::string_view routine : {"potrf", "trsm", "getrf", "geqrf", "orgqr"}) {
    for (const std::string_view library : {"lapack_s", "lapack_d", "cusolver_"}) {
      if (target == fmt::format("{}{}_ffi", library, routine))
        return find_handler(fmt::format("hostir.{}", routine));
    }
  }
  return nullptr;
}

// A token orders side effects, which the import drops.
Expected<void> emit_token(const OpSite& s) {
  Known token;
  token.type = s.result_type();
  return s.set(std::move(token));
}

// Markers for partitioners and printers are the identity. Any other custom call is code outside the
// module.
Expected<void> emit_custom_call(const OpSite& s) {
  static constexpr std::string_view kIdentities[] = {"Sharding",
                                                     "annotate_device_placement",
                                                     "LayoutConstraint",
                                                     "xla.sdy.FuncResultSharding",
                                                     "InspectSharding",
                                                     "SPMDFullToShardShape",
                                                     "SPMDShardToFullShape",
                                                     "xla.sdy.GlobalToLocalShape",
                                                     "MoveToHost",
                                                     "MoveToDevice",
                                                     "xla.sdy.LocalToGlobalShape"};
  const Attr* callee = s.op.find("callee");
  if (callee == nullptr) callee = s.op.find("call_target_name");
  const std::string target = callee != nullptr ? callee->text : "";
  for (const std::string_view identity : kIdentities) {
    if (target != identity) continue;
    for (size_t i = 0; i < s.op.results.size(); ++i) {
      if (i >= s.count() || s.in(i).type != s.result_type(i)) {
        return s.emitter.opaque(s, "@" + target + " between full and local shapes");
      }
      HOSTIR_TRY(s.set(s.in(i), i));
    }
    return {};
  }
  // Applied as a separate operation, so that a manual computation maps it over its devices.
  const HandlerRow* row = row_of_call(target);
  if (row != nullptr && s.count() >= row->least) {
    ModuleOp named = s.op;
    named.name = row->name;
    return s.emitter.operation(s.function, named, s.frame);
  }
  return s.emitter.opaque(s, "@" + target);
}

constexpr HandlerRow kControlRows[] = {
    {"sdy.manual_computation", emit_manual, 0},
    {"sdy.named_computation", emit_named, 0},
    {"stablehlo.tuple", emit_tuple, 0},
    {"stablehlo.create_token", emit_token, 0},
    {"stablehlo.after_all", emit_token, 0},
    {"stablehlo.get_tuple_element", emit_tuple_element},
    {"func.call", emit_call, 0},
    {"stablehlo.composite", emit_composite, 0},
    {"stablehlo.case", emit_case},
    {"stablehlo.if", emit_case},
    {"stablehlo.custom_call", emit_custom_call, 0},
};

}  // namespace

std::span<const HandlerRow> control_handlers() { return kControlRows; }

}  // namespace hostir::importer
