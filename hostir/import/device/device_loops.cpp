// Loops whose end depends on data, in programs of one device. Each body becomes a flat function of
// its own, cut into kernels and collectives like the function around it. Loops whose conditions are
// known numbers are unrolled by the emitter.

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/device/device_ops.h"

namespace hostir::importer {

/// The body of a loop, which ends with its condition.
struct DeviceLoop {
  Function flat;
  std::unique_ptr<DeviceOps> ops;
  std::vector<ValueId> outside;   // values of the enclosing function that it reads
  std::vector<ValueId> captured;  // the parameters for them
  std::vector<ValueId> initial;   // values of the enclosing function; the last is the condition
  std::vector<ValueId> carried;   // their parameters in the body; the condition has none
  std::vector<ValueId> returned;  // their next values, and the condition
  std::vector<size_t> changing;   // positions of `carried` among the values that the text carries
  std::vector<ModuleType> types;
};

DeviceOps::DeviceOps(const Mesh& world, std::string name) : world_(world), name_(std::move(name)) {}
DeviceOps::~DeviceOps() = default;

namespace {

void defined_in(const ModuleBlock& block, std::vector<bool>& out) {
  for (const ValueNumber argument : block.arguments) out[argument] = true;
  for (const ModuleOp& op : block.ops) {
    for (const ValueNumber result : op.results) out[result] = true;
    for (const ModuleBlock& region : op.regions) defined_in(region, out);
  }
}

void used_in(const ModuleBlock& block, std::vector<bool>& out) {
  for (const ModuleOp& op : block.ops) {
    for (const ValueNumber operand : op.operands) out[operand] = true;
    for (const ModuleBlock& region : op.regions) used_in(region, out);
  }
}

// Makes a value of the enclosing function available in a loop's body: as a number, or as a
// parameter.
Expected<Known> capture(const OpSite& s, const Known& known, Emitter& inner, DeviceLoop& loop) {
  Known here = known;
  here.value = ValueId();
  if (known.is_number()) return here;
  if (!known.type.is_tensor())
    return s.fail("import_c8", "a loop uses a value of type " + known.type.to_string());
  HOSTIR_ASSIGN_OR_RETURN(const ValueId value, s.emitter.materialise(known));
  HOSTIR_ASSIGN_OR_RETURN(const TensorType type, our_type(known.type, s.op.span));
  loop.outside.push_back(value);
  here = inner.parameter(s.emitter.target().value(value).name, known.type, type);
  loop.captured.push_back(here.value);
  return here;
}

Expected<Known> carry(const OpSite& s, const Known& known, Emitter& inner, DeviceLoop& loop) {
  if (!known.type.is_tensor())
    return s.fail("import_c8", "a loop carries a value of type " + known.type.to_string());
  HOSTIR_ASSIGN_OR_RETURN(const ValueId value, s.emitter.materialise(known));
  HOSTIR_ASSIGN_OR_RETURN(const TensorType type, our_type(known.type, s.op.span));
  loop.initial.push_back(value);
  loop.types.push_back(known.type);
  const Known here = inner.parameter("carried", known.type, type);
  loop.carried.push_back(here.value);
  return here;
}

}  // namespace

// Emits body and condition with the state as parameters. Values that every iteration passes on
// unchanged are captured instead.
Expected<void> DeviceOps::fill_loop(const OpSite& s, const Known& goes_on, DeviceLoop& loop) {
  const ModuleBlock& condition = s.op.regions[0];
  const ModuleBlock& body = s.op.regions[1];
  loop.flat.kind = FunctionKind::kKernel;
  Emitter inner = s.emitter.beside(loop.flat);
  inner.set_device_hook([&](const OpSite& site) { return loop.ops->take(site); });
  Frame frame(s.frame.size());
  std::vector<bool> defined(s.frame.size(), false);
  std::vector<bool> used(s.frame.size(), false);
  for (const ModuleBlock& region : s.op.regions) {
    defined_in(region, defined);
    used_in(region, used);
  }
  for (size_t v = 0; v < s.frame.size(); ++v) {
    if (!used[v] || defined[v] || !s.frame[v]) continue;
    HOSTIR_ASSIGN_OR_RETURN(frame[v], capture(s, *s.frame[v], inner, loop));
  }
  const std::vector<ValueNumber> last =
      body.ops.empty() ? std::vector<ValueNumber>() : body.ops.back().operands;
  for (size_t i = 0; i < s.count(); ++i) {
    const bool same = i < last.size() && last[i] == body.arguments[i];
    HOSTIR_ASSIGN_OR_RETURN(frame[body.arguments[i]], same ? capture(s, s.in(i), inner, loop)
                                                           : carry(s, s.in(i), inner, loop));
    if (!same) loop.changing.push_back(i);
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto next, inner.block(s.function, body, frame));
  if (next.size() != s.count())
    return s.fail("import_c5", fmt::format("carries {} values, but its body returns {}", s.count(),
                                           next.size()));
  for (size_t i = 0; i < next.size(); ++i) frame[condition.arguments[i]] = next[i];
  HOSTIR_ASSIGN_OR_RETURN(const auto again, inner.block(s.function, condition, frame));
  if (again.size() != 1)
    return s.fail("import_c5", fmt::format("its condition returns {} values", again.size()));
  for (const size_t i : loop.changing) {
    if (next[i].type != s.in(i).type)
      return s.fail("import_c5",
                    fmt::format("carries {} as value {}, but its body returns {}",
                                s.in(i).type.to_string(), i, next[i].type.to_string()));
    HOSTIR_ASSIGN_OR_RETURN(const ValueId value, inner.materialise(next[i]));
    loop.returned.push_back(value);
  }
  HOSTIR_ASSIGN_OR_RETURN(const ValueId start, s.emitter.materialise(goes_on));
  loop.initial.push_back(start);
  loop.types.push_back(goes_on.type);
  HOSTIR_ASSIGN_OR_RETURN(const ValueId end, inner.materialise(again[0]));
  loop.returned.push_back(end);
  return {};
}

Expected<bool> DeviceOps::take_while(const OpSite& s) {
  if (s.op.regions.size() != 2 || s.op.regions[0].arguments.size() != s.count() ||
      s.op.regions[1].arguments.size() != s.count() || s.op.results.size() > s.count())
    return false;  // the emitter reports the error
  for (size_t i = 0; i < s.count(); ++i) s.frame[s.op.regions[0].arguments[i]] = s.in(i);
  HOSTIR_ASSIGN_OR_RETURN(const auto goes_on,
                          s.emitter.block(s.function, s.op.regions[0], s.frame));
  if (goes_on.size() != 1 || goes_on[0].is_number()) return false;
  auto loop = std::make_unique<DeviceLoop>();
  loop->ops = std::make_unique<DeviceOps>(world_, fmt::format("{}.loop{}", name_, ops_.size()));
  HOSTIR_TRY(fill_loop(s, goes_on[0], *loop));
  DeviceOp made;
  made.step.kind = LocalStep::Kind::kLoop;
  made.step.place = s.op.span;
  made.loop = loops_.size();
  made.inputs = loop->outside;
  made.inputs.insert(made.inputs.end(), loop->initial.begin(), loop->initial.end());
  for (size_t i = 0; i < s.op.results.size(); ++i) HOSTIR_TRY(s.set(s.in(i), i));
  for (size_t k = 0; k < loop->types.size(); ++k) {
    HOSTIR_ASSIGN_OR_RETURN(const TensorType type, our_type(loop->types[k], s.op.span));
    Known out =
        s.emitter.parameter(k < loop->changing.size() ? "looped" : "goes_on", loop->types[k], type);
    made.outputs.push_back(out.value);
    if (k < loop->changing.size()) HOSTIR_TRY(s.set(std::move(out), loop->changing[k]));
  }
  made.position = s.emitter.target().instructions.size();
  loops_.push_back(std::move(loop));
  ops_.push_back(std::move(made));
  return true;
}

// `numbers` has the inputs and outputs of the loop.
Expected<void> DeviceOps::cut_loop(const DeviceOp& op, Program& program, LocalProgram& local,
                                   std::vector<std::optional<LocalValue>>& numbers,
                                   LocalStep& step) {
  DeviceLoop& loop = *loops_[op.loop];
  std::vector<std::optional<LocalValue>> inside(loop.flat.values.size());
  for (size_t i = 0; i < loop.outside.size(); ++i)
    inside[loop.captured[i].index] = numbers[loop.outside[i].index];
  for (size_t i = 0; i < loop.carried.size(); ++i)
    inside[loop.carried[i].index] = numbers[op.outputs[i].index];
  std::swap(step.body, local.steps);
  const Expected<void> done = loop.ops->cut(loop.flat, loop.returned, program, local, inside);
  std::swap(step.body, local.steps);
  if (!done) return tl::unexpected(done.error());
  step.inputs.clear();
  for (const ValueId value : loop.initial) step.inputs.push_back(*numbers[value.index]);
  for (const ValueId value : loop.returned) step.body_results.push_back(*inside[value.index]);
  return {};
}

}  // namespace hostir::importer
