#include "interp/session/prepare/lowering.h"

#include "hostir/passes/pass_list.h"
#include "hostir/text/print/printer.h"

namespace hostir::interp {

namespace {

LowerOptions options_of(const Program& program, const LoweringRequest& request) {
  LowerOptions options;
  options.sizes.reset();
  options.keep = request.keep;
  options.overlap = request.overlap;
  options.alternatives = request.alternatives;
  if (!program.machines.empty()) options.machine = &program.machines.front();
  if (request.machine) options.machine = &*request.machine;
  return options;
}

}  // namespace

PhaseTexts phases_of(std::shared_ptr<const Program> program, const std::string& fusion,
                     const LoweringRequest& request) {
  std::vector<std::string> names;
  for (const Pass& pass : all_passes()) names.emplace_back(pass.name);
  return {std::move(names), [program = std::move(program), fusion, request] {
            std::vector<PhaseText> out;
            LowerOptions options = options_of(*program, request);
            options.alternatives = Alternatives::kOmitted;
            options.dump = [&](LowerPhase phase, const Program& after) {
              out.push_back({std::string(name(phase)), text::print(after)});
            };
            (void)lower(*program, fusion, options);  // it did not fail before
            return out;
          }};
}

Expected<LoweredFusion> lower_fusion(const Program& program, const std::string& fusion,
                                     const LoweringRequest& request, const PrepareProgress& watch) {
  LoweredFusion out;
  LowerOptions options = options_of(program, request);
  options.stop = watch.stop;
  HOSTIR_TRY(watch.begin("lowering @" + fusion));
  options.dump = [&](LowerPhase phase, const Program&) {
    if (watch.stop.stop_requested()) return;
    (void)watch.begin("lowering @" + fusion + ", after the phase " + std::string(name(phase)));
  };
  HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(program, fusion, options));
  HOSTIR_TRY(watch.begin("compiling the host function"));
  out.program = std::move(lowered.program);
  out.host = std::move(lowered.function);
  out.explanation = std::move(lowered.explanation);
  out.value_names = std::move(lowered.value_names);
  out.loop_values = std::move(lowered.loop_values);
  return out;
}

Expected<Function> sharded_fusion(const Program& program, const std::string& fusion) {
  LowerOptions options;
  options.until = LowerPhase::kSharded;
  HOSTIR_ASSIGN_OR_RETURN(Lowered lowered, lower(program, fusion, options));
  return std::move(lowered.sharded);
}

}  // namespace hostir::interp
