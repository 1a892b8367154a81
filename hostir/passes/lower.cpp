#include "hostir/passes/lower.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "hostir/passes/overlap/rings.h"
#include "hostir/passes/pass_list.h"
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
                             const LowerOptions& options, Rings rings) {
  LowerState state{program, std::string(fusion), options, {}, {}, 0, {}, rings, {}, {}, {}, {}, {},
                   {}};
  for (const Pass& pass : all_passes()) {
    const auto begin = std::chrono::steady_clock::now();
    if (state.runs(pass.name)) HOSTIR_TRY(pass.run(state));
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

// The kind of rings with which the fusion is expected to end first.
Expected<Rings> best_rings(const Program& program, std::string_view fusion,
                           const LowerOptions& options, std::span<const Rings> kinds,
                           Explanation& explanation) {
  LowerOptions trial = options;
  trial.dump = nullptr;
  trial.goes_on = nullptr;
  trial.until = LowerPhase::kStreams;
  trial.alternatives = Alternatives::kOmitted;
  const Machine& machine = options.machine != nullptr ? *options.machine : default_machine();
  constexpr std::array<std::string_view, 3> kWith = {"with gathered keys and values", "with rings",
                                                     "with balanced rings"};
  Rings best = Rings::kNone;
  double least = 0;
  std::string times;
  for (const Rings kind : kinds) {
    HOSTIR_ASSIGN_OR_RETURN(const Lowered made, lower_once(program, fusion, trial, kind));
    if (kind != Rings::kNone && !made.has_rings) return Rings::kInOrder;  // to explain why
    const Function* host = made.program.find_function(made.function);
    const double ns = expected_ns(made.program, *host, machine);
    times += fmt::format("{}{} {}", times.empty() ? "" : ", ", time_text(ns),
                         kWith[static_cast<size_t>(kind)]);
    if (kind == kinds.front() || ns < least) {
      best = kind;
      least = ns;
    }
  }
  explanation.push_back({.value = {},
                         .what = "attention",
                         .sentence = "the function is expected to take " + times,
                         .from = {},
                         .pass = "overlap"});
  return best;
}

// Without gathered keys and values if rings are asked for.
Expected<Rings> rings_of(const Program& program, const Function& source,
                         const LowerOptions& options, Explanation& explanation) {
  constexpr std::array kKinds = {Rings::kNone, Rings::kInOrder, Rings::kBalanced};
  const bool automatic = options.overlap == Overlap::kAuto;
  if (!may_have_rings(source) || (!automatic && options.overlap != Overlap::kRing) ||
      options.until < LowerPhase::kPropagated) {
    return Rings::kNone;
  }
  std::span<const Rings> kinds = kKinds;
  if (!may_be_balanced(source)) kinds = kinds.first(2);
  if (!automatic) kinds = kinds.subspan(1);
  if (kinds.size() == 1) return kinds[0];
  return best_rings(program, source.name, options, kinds, explanation);
}

}  // namespace

Expected<Lowered> lower(const Program& program, std::string_view fusion,
                        const LowerOptions& options) {
  HOSTIR_TRY(check_skipped(options.skip));
  const Function* source = program.find_function(fusion);
  Rings rings = Rings::kNone;
  Explanation why;
  if (source != nullptr) {
    HOSTIR_ASSIGN_OR_RETURN(rings, rings_of(program, *source, options, why));
  }
  HOSTIR_ASSIGN_OR_RETURN(Lowered out, lower_once(program, fusion, options, rings));
  out.explanation.insert(out.explanation.end(), why.begin(), why.end());
  return out;
}

}  // namespace hostir
