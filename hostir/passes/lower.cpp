#include "hostir/passes/lower.h"

#include <fmt/core.h>

#include <array>

#include "hostir/passes/assign_streams.h"
#include "hostir/passes/bind_sizes.h"
#include "hostir/passes/compact.h"
#include "hostir/passes/lifetimes.h"
#include "hostir/passes/propagate.h"
#include "hostir/passes/reshard.h"
#include "hostir/passes/split_reshards.h"

namespace hostir {

namespace {

constexpr std::array kPhases = {LowerPhase::kBound,   LowerPhase::kPropagated, LowerPhase::kSharded,
                                LowerPhase::kSteps,   LowerPhase::kKernels,    LowerPhase::kHost,
                                LowerPhase::kStreams, LowerPhase::kLifetimes};

std::string free_symbol(const Program& program, const std::string& stem) {
  std::string symbol = stem;
  for (int n = 1; program.find_function(symbol) != nullptr ||
                  program.find_mesh(symbol) != nullptr || program.find_machine(symbol) != nullptr;
       ++n) {
    symbol = stem + "_" + std::to_string(n);
  }
  return symbol;
}

// The mesh that the fusion names, else the first of the program, else a new one of one rank.
Expected<std::string> choose_mesh(Program& program, const Function& fusion) {
  HOSTIR_ASSIGN_OR_RETURN(std::string named, mesh_of_fusion(fusion));
  if (!named.empty()) {
    if (program.find_mesh(named) == nullptr) {
      return fail_at(ErrorKind::kInvalid, "mesh_c1", fmt::format("unknown mesh @{}", named),
                     fusion.name_span);
    }
    return named;
  }
  if (!program.meshes.empty()) return program.meshes.front().name;
  Mesh one;
  one.name = free_symbol(program, "one");
  program.meshes.push_back(one);
  program.order.insert(program.order.begin(), {Program::PieceKind::kMesh, 0});
  return one.name;
}

class Driver {
 public:
  Driver(const Program& program, std::string_view fusion, const LowerOptions& options)
      : source_(program), name_(fusion), options_(options) {}

  Expected<Lowered> run() {
    HOSTIR_TRY(check());
    HOSTIR_ASSIGN_OR_RETURN(out_.program, bind_sizes(source_, name_, options_.sizes));
    HOSTIR_ASSIGN_OR_RETURN(out_.mesh, choose_mesh(out_.program, fusion()));
    out_.function = name_;
    const Function bound = fusion();
    if (done(LowerPhase::kBound)) return std::move(out_);

    HOSTIR_ASSIGN_OR_RETURN(Function propagated,
                            propagate(out_.program, bound, out_.mesh, out_.explanation));
    fusion() = propagated;
    if (done(LowerPhase::kPropagated)) return std::move(out_);

    HOSTIR_ASSIGN_OR_RETURN(Resharded sharded,
                            insert_reshards(out_.program, propagated, out_.mesh, out_.explanation));
    sharded.function = compacted(sharded.function);
    fusion() = out_.sharded = sharded.function;
    if (done(LowerPhase::kSharded)) return std::move(out_);

    HOSTIR_ASSIGN_OR_RETURN(Resharded steps, split_reshards(out_.program, sharded, out_.mesh));
    steps.function = compacted(steps.function);
    fusion() = steps.function;
    if (done(LowerPhase::kSteps)) return std::move(out_);
    return to_host(bound, steps);
  }

 private:
  Expected<Lowered> to_host(const Function& bound, const Resharded& steps) {
    fusion() = bound;
    const Program before = out_.program;
    const Segments segments = segment(before, steps.function, kept_versions(steps));
    for (const Function& k : segments.kernels) out_.program.add_function(k);
    if (done(LowerPhase::kKernels)) return std::move(out_);

    out_.function = free_symbol(before, name_ + ".host");
    HOSTIR_ASSIGN_OR_RETURN(HostLowering host,
                            lower_to_host(before, bound, steps.function, segments, steps.origins,
                                          out_.mesh, out_.function));
    out_.program = before;
    for (Function& k : host.kernels) out_.program.add_function(std::move(k));
    out_.provenance = std::move(host.provenance);
    out_.program.add_function(host.host);
    if (done(LowerPhase::kHost)) return std::move(out_);

    Function& current = *out_.program.find_function(out_.function);
    current = assign_streams(current);
    if (done(LowerPhase::kStreams)) return std::move(out_);

    current = assign_lifetimes(out_.program, current);
    done(LowerPhase::kLifetimes);
    return std::move(out_);
  }

  Function& fusion() { return *out_.program.find_function(name_); }

  Expected<void> check() const {
    const Function* f = source_.find_function(name_);
    if (f == nullptr || f->kind != FunctionKind::kFusion) {
      return fail(ErrorKind::kUsage, "lower_c2", fmt::format("no fusion @{}", name_));
    }
    for (const std::string& keep : options_.keep) {
      if (!f->find_value(keep)) {
        return fail(ErrorKind::kUsage, "lower_c3",
                    fmt::format("keep(%{}): @{} has no such value", keep, name_));
      }
    }
    return {};
  }

  // Every version of the values to keep.
  std::vector<std::string> kept_versions(const Resharded& steps) const {
    std::vector<std::string> out;
    for (const auto& [built, origin] : steps.origins) {
      for (const std::string& keep : options_.keep) {
        if (origin == keep) out.push_back(built);
      }
    }
    return out;
  }

  bool done(LowerPhase phase) {
    if (options_.dump) options_.dump(phase, out_.program);
    return options_.until == phase || options_.stop.stop_requested();
  }

  const Program& source_;
  std::string name_;
  const LowerOptions& options_;
  Lowered out_;
};

}  // namespace

std::string_view name(LowerPhase phase) {
  constexpr std::array<std::string_view, 8> kNames = {
      "bound", "propagated", "sharded", "steps", "kernels", "host", "streams", "lifetimes"};
  return kNames[static_cast<size_t>(phase)];
}

std::span<const LowerPhase> all_lower_phases() { return kPhases; }

Expected<Lowered> lower(const Program& program, std::string_view fusion,
                        const LowerOptions& options) {
  auto lowered = Driver(program, fusion, options).run();
  if (lowered) return lowered;
  for (Diagnostic& d : lowered.error().diagnostics) {
    if (d.id != "index_unbound") continue;
    Note& note = d.notes.emplace_back();
    note.message = "a pass needs this size as a number: bind it, as with --size N=8";
  }
  return lowered;
}

}  // namespace hostir
