#include "interp/session/lowering.h"

#include "hostir/passes/unshard.h"
#include "hostir/text/printer.h"

namespace hostir::interp {

Expected<LoweredFusion> lower_fusion(const Program& program, const std::string& fusion,
                                     const std::vector<std::string>& keep) {
  LoweredFusion out;
  LowerOptions options;
  options.keep = keep;
  options.dump = [&out](LowerPhase phase, const Program& after) {
    out.phases.push_back({std::string(name(phase)), text::print(after)});
  };
  HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(program, fusion, options));
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
