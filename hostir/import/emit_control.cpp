// Calls, loops, branches, custom calls.

#include <fmt/format.h>

#include "hostir/import/handlers.h"
#include "hostir/import/manual_map.h"

namespace hostir::importer {

namespace {

// Far above any number of layers or steps. A longer loop is not meant to be unrolled.
constexpr int64_t kMostPasses = 100'000;

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

// Unrolls a loop. Carried values are materialised in each iteration, so that the next one does not
// emit their instructions again.
Expected<void> emit_while(const OpSite& s) {
  if (s.op.regions.size() != 2)
    return s.fail("import_c5", fmt::format("has {} regions instead of a condition and a body",
                                           s.op.regions.size()));
  const ModuleBlock& condition = s.op.regions[0];
  const ModuleBlock& body = s.op.regions[1];
  std::vector<Known> carried = operands_of(s);
  if (condition.arguments.size() != carried.size() || body.arguments.size() != carried.size()) {
    return s.fail("import_c5",
                  fmt::format("carries {} values, but its condition takes {} and its body {}",
                              carried.size(), condition.arguments.size(), body.arguments.size()));
  }
  for (int64_t pass = 0;; ++pass) {
    for (size_t i = 0; i < carried.size(); ++i) {
      s.frame[condition.arguments[i]] = carried[i];
      s.frame[body.arguments[i]] = carried[i];
    }
    HOSTIR_ASSIGN_OR_RETURN(const auto goes_on, s.emitter.block(s.function, condition, s.frame));
    if (goes_on.size() != 1 || !goes_on.front().is_number()) {
      return s.emitter.opaque(s, "a loop whose number of passes depends on data");
    }
    if (goes_on.front().number->get_int(0) == 0) break;
    if (pass >= kMostPasses)
      return s.fail("import_c4",
                    fmt::format("runs more than {} times, and loops are unrolled", kMostPasses));
    HOSTIR_ASSIGN_OR_RETURN(carried, s.emitter.block(s.function, body, s.frame));
    if (carried.size() != s.count())
      return s.fail("import_c5", fmt::format("carries {} values, but its body returns {}",
                                             s.count(), carried.size()));
  }
  return set_all(s, std::move(carried));
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
  for (const ModuleBlock& region : s.op.regions) {
    HOSTIR_ASSIGN_OR_RETURN(auto results, e.block(s.function, region, s.frame));
    if (results.size() != s.op.results.size())
      return s.fail("import_c5", fmt::format("has {} results, but a branch returns {}",
                                             s.op.results.size(), results.size()));
    branches.push_back(std::move(results));
  }
  std::vector<Known> chosen = branches.back();  // also if the index is out of range
  for (int64_t b = count - 2; b >= 0; --b) {
    Known is_this = index;
    if (!is_if) {
      HOSTIR_ASSIGN_OR_RETURN(is_this, e.compared(index, e.integer(b, index.type), "eq"));
    }
    for (size_t r = 0; r < chosen.size(); ++r) {
      const Known& here = branches[static_cast<size_t>(b)][r];
      if (here.type != chosen[r].type)
        return s.fail("import_c5", "its branches return " + here.type.to_string() + " and " +
                                       chosen[r].type.to_string());
      HOSTIR_ASSIGN_OR_RETURN(const Known pred, e.broadcast(is_this, {}, here.type.dims));
      HOSTIR_ASSIGN_OR_RETURN(chosen[r], e.apply(OpKind::select, {pred, here, chosen[r]}));
    }
  }
  return set_all(s, std::move(chosen));
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
  if (target == "TopK" && s.count() == 1 && s.op.results.size() == 2)
    return find_handler("chlo.top_k")->handler(s);
  return s.emitter.opaque(s, "@" + target);
}

constexpr HandlerRow kControlRows[] = {
    {"sdy.manual_computation", emit_manual, 0},
    {"func.call", emit_call, 0},
    {"stablehlo.composite", emit_composite, 0},
    {"stablehlo.while", emit_while, 0},
    {"stablehlo.case", emit_case},
    {"stablehlo.if", emit_case},
    {"stablehlo.custom_call", emit_custom_call, 0},
};

}  // namespace

std::span<const HandlerRow> control_handlers() { return kControlRows; }

}  // namespace hostir::importer
