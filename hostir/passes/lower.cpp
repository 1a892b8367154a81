#include "hostir/passes/lower.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "hostir/passes/pass_list.h"
#include "hostir/passes/rings.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"

namespace hostir {

std::string_view name(LowerPhase phase) {
  for (const Pass& pass : all_passes()) {
    if (pass.phase == phase) return pass.name;
  }
  return {};
}

namespace {

Expected<Lowered> lower_once(const Program& program, std::string_view fusion,
                             const LowerOptions& options, bool rings) {
  LowerState state{
      program, std::string(fusion), options, options.keep, {}, {}, rings, {}, {}, {}, {}, {}, {}};
  for (const Pass& pass : all_passes()) {
    const auto begin = std::chrono::steady_clock::now();
    const auto& skip = options.skip;
    const bool is_left_out = pass.optional && contains(skip, pass.phase);
    if (!is_left_out) HOSTIR_TRY(pass.run(state));
    const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
    state.out.pass_ns.push_back(took.count());
    if (options.dump) options.dump(pass.phase, state.out.program);
    if (options.until == pass.phase || options.stop.stop_requested()) break;
    if (pass.phase == LowerPhase::kPropagated && options.goes_on &&
        !options.goes_on(state.function())) {
      break;
    }
  }
  return std::move(state.out);
}

// True if the fusion is expected to end earlier with rings than without.
Expected<bool> rings_pay(const Program& program, std::string_view fusion,
                         const LowerOptions& options, Explanation& explanation) {
  LowerOptions trial = options;
  trial.dump = nullptr;
  trial.goes_on = nullptr;
  trial.until = LowerPhase::kOverlapped;
  trial.alternatives = Alternatives::kOmitted;
  const Machine& machine = options.machine != nullptr ? *options.machine : default_machine();
  std::array<double, 2> ns = {};
  for (const bool rings : {true, false}) {
    HOSTIR_ASSIGN_OR_RETURN(const Lowered made, lower_once(program, fusion, trial, rings));
    if (rings && !made.has_rings) return true;  // to explain why
    const Function* host = made.program.find_function(made.function);
    ns[rings ? 1 : 0] = expected_ns(made.program, *host, machine);
  }
  explanation.push_back({.value = {},
                         .what = "attention",
                         .sentence = fmt::format("the function is expected to take {} with rings "
                                                 "and {} with gathered keys and values",
                                                 time_text(ns[1]), time_text(ns[0])),
                         .from = {},
                         .pass = "overlap"});
  return ns[1] < ns[0];
}

}  // namespace

Expected<Lowered> lower(const Program& program, std::string_view fusion,
                        const LowerOptions& options) {
  const Function* source = program.find_function(fusion);
  const bool possible = source != nullptr && may_have_rings(*source);
  bool rings = possible && options.overlap == Overlap::kRing;
  Explanation why;
  if (possible && options.overlap == Overlap::kAuto && options.until >= LowerPhase::kPropagated) {
    HOSTIR_ASSIGN_OR_RETURN(rings, rings_pay(program, fusion, options, why));
  }
  HOSTIR_ASSIGN_OR_RETURN(Lowered out, lower_once(program, fusion, options, rings));
  out.explanation.insert(out.explanation.end(), why.begin(), why.end());
  return out;
}

}  // namespace hostir
