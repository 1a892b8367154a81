#include "interp/session/lowering.h"

#include "hostir/passes/unshard.h"
#include "hostir/text/printer.h"

namespace hostir::interp {

Expected<LoweredFusion> lower_fusion(const Program& program, const std::string& fusion,
                                     const std::vector<std::string>& keep, const Preparing& watch) {
  LoweredFusion out;
  LowerOptions options;
  options.keep = keep;
  if (!program.machines.empty()) options.machine = &program.machines.front();
  options.stop = watch.stop;
  HOSTIR_TRY(watch.begin("lowering @" + fusion));
  options.dump = [&](LowerPhase phase, const Program& after) {
    if (watch.stop.stop_requested()) return;
    out.phases.push_back({std::string(name(phase)), text::print(after)});
    (void)watch.begin("lowering @" + fusion + ", after the phase " + out.phases.back().name);
  };
  HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(program, fusion, options));
  HOSTIR_TRY(watch.begin("compiling the host function"));
  out.program = std::move(lowered.program);
  out.host = std::move(lowered.function);
  out.explanation = std::move(lowered.explanation);
  out.provenance = std::move(lowered.provenance);
  return out;
}

Expected<Function> sharded_fusion(const Program& program, const std::string& fusion) {
  LowerOptions options;
  options.until = LowerPhase::kSharded;
  HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(program, fusion, options));
  return std::move(lowered.sharded);
}

Expected<Program> unsharded_program(const Program& program, const std::string& fusion) {
  return unshard(program, fusion);
}

}  // namespace hostir::interp
