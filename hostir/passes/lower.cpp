#include "hostir/passes/lower.h"

#include <algorithm>
#include <chrono>

#include "hostir/passes/pass_list.h"
#include "hostir/support/lists.h"

namespace hostir {

std::string_view name(LowerPhase phase) {
  for (const Pass& pass : all_passes()) {
    if (pass.phase == phase) return pass.name;
  }
  return {};
}

Expected<Lowered> lower(const Program& program, std::string_view fusion,
                        const LowerOptions& options) {
  LowerState state{program, std::string(fusion), options, options.keep, {}, {}, {}, {}, {}, {}, {},
                   {}};
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

}  // namespace hostir
