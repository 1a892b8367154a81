#include "hostir/api/check/example_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hostir/api/open/backends.h"
#include "interp/session/checks/check_unsharded.h"
#include "interp/session/checks/compare.h"
#include "interp/session/checks/rounding_bounds.h"

namespace hostir::api {

namespace {

constexpr int64_t kMostInputElements = int64_t{1} << 22;  // of the inputs of a run

// The expected tensor, with the elements of `box` replaced by the rank's part.
Tensor with_part(Tensor out, const Box& box, const Tensor& part) {
  const Box whole = Box::whole(out.extents);
  const auto size = static_cast<size_t>(size_bytes(out.dtype));
  for (int64_t e = 0; e < box.volume(); ++e) {
    const std::vector<int64_t> at = box.index_at(e);
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d) index = index * whole.hi[d] + at[d];
    std::copy_n(part.data.begin() + e * static_cast<int64_t>(size), size,
                out.data.begin() + index * static_cast<int64_t>(size));
  }
  return out;
}

// Whether rounding alone may explain a difference of this size.
bool may_be_rounding(const interp::TensorDifference& d, DType dtype) {
  const double margin = size_bytes(dtype) >= 4 ? 100 : 10;
  return is_float(dtype) && d.max_abs <= margin * d.allowed;
}

// An output of the fusion, and what may have been rounded on the way to it.
struct Wanted {
  const Tensor& tensor;
  std::optional<DType> rounded_to;
  double rounded = 0;
};

// The roundings of a fusion's outputs in a run that may execute other ops. Bounds derived op by op
// would grow with every op, until they allowed any difference.
std::vector<Wanted> wanted_of(const Function& fusion,
                              const std::vector<std::pair<std::string, Tensor>>& inputs,
                              const interp::UnshardedValues& unsharded) {
  const std::vector<interp::NamedOutput>& outputs = unsharded.outputs;
  interp::RoundingBounds roundings(fusion, interp::RoundingBounds::Order::kAnother);
  for (size_t p = 0; p < fusion.params.size() && p < inputs.size(); ++p)
    roundings.set_known(fusion.params[p].value, inputs[p].second);
  const std::vector<InstrId> order = fusion.preorder();
  for (const InstrId id : order) {
    roundings.add(fusion.instr(id));
    for (const ValueId v : fusion.instr(id).results) {
      if (unsharded.values[v.index]) roundings.set_known(v, *unsharded.values[v.index]);
    }
  }
  const std::vector<Operand>& returned = fusion.instr(order.back()).operands;
  std::vector<Wanted> out;
  for (size_t i = 0; i < outputs.size() && i < returned.size(); ++i) {
    const ValueId value = returned[i].value;
    roundings.set_known(value, outputs[i].global);
    out.push_back({outputs[i].global, roundings.of(value), roundings.scale(value)});
  }
  return out;
}

// The amount by which every element is larger; nullopt if the amounts vary.
std::optional<double> common_offset(const Tensor& actual, const Tensor& wanted) {
  constexpr double kSameOffset = 1e-3;  // of the offset
  std::optional<double> out;
  for (int64_t i = 0; i < wanted.element_count(); ++i) {
    const double offset = actual.get_double(i) - wanted.get_double(i);
    if (!out) out = offset;
    if (!(std::fabs(offset - *out) <= kSameOffset * std::fabs(*out))) return std::nullopt;
  }
  return out;
}

// A normalisation over a cut dimension that divides by the number of ranks never or twice, shifts
// every loss by the logarithm of that number.
std::string logarithm_text(const Tensor& actual, const Tensor& wanted,
                           const std::vector<Mesh>& meshes) {
  constexpr double kClose = 1e-3;
  const std::optional<double> offset = common_offset(actual, wanted);
  if (!offset) return {};
  for (const Mesh& mesh : meshes) {
    for (const MeshAxis& axis : mesh.axes) {
      const double logarithm = std::log(static_cast<double>(axis.size));
      if (axis.size < 2 || std::fabs(std::fabs(*offset) - logarithm) > kClose * logarithm) continue;
      return fmt::format(
          "; that is log({0}) = {1:.4g} too {2}, and axis {3} has size {0}: a sum of exponentials "
          "is {0} times too {2}",
          axis.size, logarithm, *offset > 0 ? "large" : "small", axis.name);
    }
  }
  return {};
}

std::optional<ExampleRuns::Output> difference(const Tensor& actual, const Wanted& expected,
                                              const std::string& name, const std::string& where,
                                              const std::string& against,
                                              const std::vector<Mesh>& meshes) {
  const Tensor& wanted = expected.tensor;
  const auto found =
      interp::compare(actual, wanted, Tolerance(), expected.rounded_to, expected.rounded);
  if (!found) return std::nullopt;
  const std::vector<int64_t> at = Box::whole(wanted.extents).index_at(found->first);
  const std::string index = at.empty() ? std::string() : fmt::format("[{}]", fmt::join(at, ", "));
  return ExampleRuns::Output{
      fmt::format("on the example inputs %{}{} is {}{} and {} in @{}{}", name, index,
                  found->actual_text, where, found->expected_text, against,
                  logarithm_text(actual, wanted, meshes)),
      may_be_rounding(*found, wanted.dtype)};
}

ExampleRuns::Output compared(const interp::NamedOutput& given, const Wanted& expected,
                             const std::string& against, const std::vector<Mesh>& meshes) {
  const Tensor& wanted = expected.tensor;
  const Sharding* sharding = sharding_of(given.type);
  const bool is_partial = sharding != nullptr && sharding->is_partial();
  std::optional<ExampleRuns::Output> worst;
  const auto add = [&](std::optional<ExampleRuns::Output> found) {
    if (found && (!worst || (worst->is_rounding && !found->is_rounding))) worst = std::move(found);
  };
  if (is_partial) add(difference(given.global, expected, given.name, "", against, meshes));
  const auto mesh = std::find_if(meshes.begin(), meshes.end(), [&](const Mesh& m) {
    return sharding != nullptr && m.name == sharding->mesh;
  });
  for (size_t rank = 0; !is_partial && rank < given.parts.size(); ++rank) {
    if (mesh != meshes.end() && !mesh->position_of(static_cast<int64_t>(rank))) continue;
    const Box& box = given.boxes[rank];
    const Tensor& part = given.parts[rank];
    const bool is_held = box.lo.size() == wanted.extents.size() && !part.data.empty() &&
                         Box::whole(wanted.extents).contains(box);
    if (!is_held) continue;
    add(difference(with_part(wanted, box, part), expected, given.name,
                   fmt::format(" on rank {}", rank), against, meshes));
  }
  return worst.value_or(ExampleRuns::Output{});
}

Expected<ExampleRuns> run_both(const LoadedFile& file, const Program& program,
                               const ProgramOptions& given, const std::string& against) {
  ExampleRuns out;
  std::string notice;
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared, given.prepare(file, &notice));
  int64_t elements = 0;
  for (const auto& [name, tensor] : prepared->inputs) elements += tensor.element_count();
  if (elements > kMostInputElements) return out;
  interp::RunOptions options;
  options.backend.machine = default_machine();
  options.summary = interp::RunOptions::Summary::kNone;
  const interp::BackendFactory make = make_backend_factory();
  HOSTIR_ASSIGN_OR_RETURN(
      const interp::UnshardedValues unsharded,
      interp::unsharded_values(program, against, prepared->inputs, make, options));
  options.keep_parts = true;
  HOSTIR_ASSIGN_OR_RETURN(const interp::RunResult result, interp::run(*prepared, make, options));
  const std::vector<Wanted> expected =
      wanted_of(*program.find_function(against), prepared->inputs, unsharded);
  for (size_t i = 0; i < result.outputs.size() && i < expected.size(); ++i) {
    const Tensor& wanted = unsharded.outputs[i].global;
    if (result.outputs[i].global.dtype != wanted.dtype ||
        result.outputs[i].global.extents != wanted.extents)
      return out;
    out.outputs.push_back(compared(result.outputs[i], expected[i], against, program.meshes));
  }
  // Replicas that differ do not end a run; the outputs show them.
  out.compared = result.worst() == nullptr || !result.worst()->fatal;
  return out;
}

}  // namespace

ExampleRuns run_examples(const LoadedFile& file, const Program& program, ProgramOptions given,
                         const std::string& against) {
  given.input_data = InputData::kValues;
  return run_both(file, program, given, against).value_or(ExampleRuns{});
}

}  // namespace hostir::api
