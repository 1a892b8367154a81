#include "interp/session/checks/check_unsharded.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hostir/ir/access.h"
#include "hostir/ops/record.h"
#include "hostir/passes/prepare/unshard.h"
#include "hostir/support/text.h"
#include "interp/session/checks/rounding_bounds.h"
#include "interp/session/values/assemble.h"
#include "interp/session/values/value_recorder.h"

namespace hostir::interp {
namespace {

// The versions that one write instruction left on all ranks.
using Write = std::vector<const RecordedVersion*>;

struct RecordedRun {
  const Prepared& prepared;
  RunResult result;
  std::unique_ptr<ValueRecorder> recorder;
  std::map<ValueId, std::vector<Write>> writes;  // by the value of the fusion that they store
};

// In order of the host function; in loops the last execution counts.
std::map<ValueId, std::vector<Write>> writes_of(const Code& code, const ValueRecorder& recorder) {
  using Place = std::pair<CodeIndex, uint32_t>;  // an instruction and a register
  std::map<Place, std::map<Rank, const RecordedVersion*>> versions;
  for (const RecordedVersion& v : recorder.versions()) versions[{v.code, v.reg}][v.rank] = &v;
  std::map<ValueId, std::vector<Write>> out;
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    if (c.role != CodeRole::kInstruction) continue;
    const std::vector<Operand>& operands = code.source(i).operands;
    for (size_t o = 0; o < operands.size(); ++o) {
      if (!operands[o].origin.valid()) continue;
      const auto written = versions.find({i, c.operands[o]});
      if (written == versions.end()) continue;
      Write& write = out[operands[o].origin.value].emplace_back();
      for (const auto& [rank, version] : written->second) write.push_back(version);
    }
  }
  return out;
}

Expected<RecordedRun> recorded_run(const Prepared& prepared, const BackendFactory& make_backend,
                                   RunOptions options) {
  RecordedRun out{prepared, {}, {}, {}};
  const size_t values = prepared.source->find_function(prepared.function)->values.size();
  const auto holds_a_value = [values](const Value& v) { return v.origin.value.index < values; };
  out.recorder = std::make_unique<ValueRecorder>(holds_a_value, options.trace);
  options.trace = out.recorder.get();
  options.attach = [&out](Interpreter& interpreter) { out.recorder->attach(interpreter); };
  HOSTIR_ASSIGN_OR_RETURN(out.result, run(prepared, make_backend, options));
  const Fault* fault = out.result.worst();
  if (fault && fault->fatal) return tl::unexpected(to_error(*fault));
  out.writes = writes_of(*prepared.code, *out.recorder);
  return out;
}

std::vector<NamedInput> as_inputs(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::vector<NamedInput> out;
  for (const auto& [name, tensor] : tensors) out.push_back({name, tensor});
  return out;
}

Assembled assembled(const RecordedRun& run, const Write& write) {
  std::vector<ShardData> shards;
  for (const RecordedVersion* v : write)
    shards.push_back({v->rank, v->placement.box, v->data ? &*v->data : nullptr});
  return assemble(*run.prepared.program, write.front()->type, shards);
}

// The number by which a run refers to a value of the fusion. Lowering with loops gives the fusion
// without them, whose values have it already.
ValueId number_of(const Function& fusion, ValueId value) {
  const Origin origin = fusion.value(value).origin;
  return origin.valid() ? origin.value : value;
}

Rank holder(const Write& write, const std::vector<int64_t>& index) {
  for (const RecordedVersion* v : write) {
    bool inside = true;
    for (size_t d = 0; d < index.size(); ++d)
      inside = inside && index[d] >= v->placement.box.lo[d] && index[d] < v->placement.box.hi[d];
    if (inside) return v->rank;
  }
  return kNoRank;
}

// The values of a fusion in its unsharded form, by their numbers. The result of a reshard is its
// operand there.
std::vector<ValueId> unsharded_values_of(const Function& fusion, const Function& plain) {
  std::vector<ValueId> now(fusion.values.size());
  for (size_t v = 0; v < plain.values.size(); ++v)
    now[plain.values[v].origin.value.index] = ValueId(v);
  std::vector<ValueId> out;
  for (size_t v = 0; v < now.size(); ++v)
    out.push_back(now[unsharded_value(fusion, ValueId(v)).index]);
  return out;
}

// Everything needed to report where a value differs.
struct Comparison {
  const Function& fusion;
  std::vector<ValueId> plain;  // by value of the fusion: that of the unsharded form
  RoundingBounds roundings;
  const RecordedRun& sharded;
  const RecordedRun& unsharded;
  const Tolerance& tolerance;
};

UnshardedDifference difference_at(const Comparison& c, const std::string& value, const OpRef& op,
                                  const Write& write, std::vector<int64_t> index,
                                  const std::string& how) {
  UnshardedDifference out;
  out.value = value;
  out.op = op;
  out.instruction = c.sharded.prepared.code->address(write.front()->code);
  out.rank = holder(write, index);
  out.index = std::move(index);
  const Instruction& source = c.fusion.instr(c.fusion.preorder()[op.number - 1]);
  out.sentence =
      fmt::format("%{} of @{}#{} {}, written at {}, rank {}: {}", value, op.function, op.number,
                  record(source.kind).mnemonic, out.instruction, out.rank, how);
  return out;
}

std::optional<UnshardedDifference> compare_write(const Comparison& c, ValueId id, const OpRef& op,
                                                 const Write& write, const Tensor& expected) {
  const std::string& value = c.fusion.value(id).name;
  const Assembled whole = assembled(c.sharded, write);
  if (!whole.missing.empty() || whole.tensor.extents != expected.extents) return std::nullopt;
  if (whole.disagreement) {
    const auto& d = *whole.disagreement;
    auto out = difference_at(
        c, value, op, write, d.index,
        fmt::format("replicas differ from rank {} at {}", d.first, index_text(d.index)));
    out.rank = d.second;
    return out;
  }
  const auto found =
      compare(whole.tensor, expected, c.tolerance, c.roundings.of(id), c.roundings.scale(id));
  if (!found) return std::nullopt;
  return difference_at(c, value, op, write, Box::whole(expected.extents).index_at(found->first),
                       describe(*found, whole.tensor));
}

// A value of the unsharded run, if it was in a buffer there.
std::optional<Tensor> reference_value(const RecordedRun& run, ValueId value) {
  const Function& f = *run.prepared.source->find_function(run.prepared.function);
  for (size_t p = 0; p < f.params.size(); ++p) {
    if (f.params[p].value == value) return run.prepared.inputs[p].second;
  }
  const auto writes = run.writes.find(value);
  if (writes == run.writes.end()) return std::nullopt;
  return writes->second.back().front()->data;
}

void compare_values(Comparison& c, UnshardedReport& report) {
  const std::vector<InstrId> order = c.fusion.preorder();
  for (const Parameter& p : c.fusion.params) {
    const auto value = reference_value(c.unsharded, c.plain[p.value.index]);
    if (value) c.roundings.set_known(p.value, *value);
  }
  for (uint32_t n = 1; n <= order.size() && !report.difference; ++n) {
    const OpRef op{c.fusion.name, n};
    c.roundings.add(c.fusion.instr(order[n - 1]));
    for (const ValueId result : c.fusion.instr(order[n - 1]).results) {
      const auto expected = reference_value(c.unsharded, c.plain[result.index]);
      if (!expected) continue;
      c.roundings.set_known(result, *expected);
      const auto found = c.sharded.writes.find(number_of(c.fusion, result));
      if (found == c.sharded.writes.end()) continue;
      const std::vector<Write>& writes = found->second;
      report.compared.push_back(c.fusion.value(result).name);
      for (const Write& write : writes) {
        report.difference = compare_write(c, result, op, write, *expected);
        if (report.difference) return;
      }
      const auto has_equal_bits = [&](const Write& write) {
        const Assembled whole = assembled(c.sharded, write);
        return whole.missing.empty() && whole.tensor.dtype == expected->dtype &&
               whole.tensor.data == expected->data;
      };
      if (std::all_of(writes.begin(), writes.end(), has_equal_bits)) c.roundings.set_equal(result);
    }
  }
}

double relative_difference(const Tensor& a, const Tensor& b) {
  double worst = 0;
  double largest = 0;
  for (int64_t i = 0; i < b.element_count(); ++i) {
    worst = std::max(worst, std::fabs(a.get_double(i) - b.get_double(i)));
    largest = std::max(largest, std::fabs(b.get_double(i)));
  }
  return worst == 0 ? 0 : worst / largest;
}

void compare_outputs(const Comparison& c, UnshardedReport& report) {
  const auto& actual = c.sharded.result.outputs;
  const auto& expected = c.unsharded.result.outputs;
  const auto& returned = c.fusion.instr(c.fusion.preorder().back()).operands;
  for (size_t i = 0; i < actual.size() && i < expected.size(); ++i) {
    if (actual[i].global.extents != expected[i].global.extents) continue;
    report.largest_relative = std::max(report.largest_relative,
                                       relative_difference(actual[i].global, expected[i].global));
    const ValueId id = returned[i].value;
    const auto found = compare(actual[i].global, expected[i].global, c.tolerance,
                               c.roundings.of(id), c.roundings.scale(id));
    if (!found || report.difference) continue;
    UnshardedDifference difference;
    difference.value = actual[i].name;
    difference.index = Box::whole(expected[i].global.extents).index_at(found->first);
    difference.sentence =
        fmt::format("output %{}: {}", actual[i].name, describe(*found, actual[i].global));
    report.difference = std::move(difference);
  }
}

// Names of the values in the unsharded form that the sharded run had in buffers, so that the
// unsharded run keeps them too.
std::vector<std::string> values_to_keep(const Function& fusion, const Function& plain,
                                        const std::vector<ValueId>& now,
                                        const RecordedRun& sharded) {
  std::vector<std::string> out;
  for (const InstrId instruction : fusion.preorder()) {
    for (const ValueId result : fusion.instr(instruction).results) {
      if (sharded.writes.contains(number_of(fusion, result)))
        out.push_back(plain.value(now[result.index]).name);
    }
  }
  return out;
}

RunOptions on_one_rank(RunOptions options) {
  options.trace = nullptr;
  options.attach = nullptr;
  options.ranks.clear();
  return options;
}

}  // namespace

Expected<UnshardedReport> check_unsharded(const Prepared& prepared,
                                          const BackendFactory& make_backend,
                                          const RunOptions& run_options,
                                          const Tolerance& tolerance) {
  const std::string& name = prepared.function;
  if (!prepared.lowered) {
    return fail(ErrorKind::kUsage, "check_fusion",
                fmt::format("@{} is a host function; only a fusion has an unsharded form "
                            "(a script may say: run @{} against @fusion)",
                            name, name));
  }
  HOSTIR_ASSIGN_OR_RETURN(const RecordedRun sharded,
                          recorded_run(prepared, make_backend, run_options));
  const Program plain = unshard(*prepared.source, name);
  const Function& fusion = *prepared.source->find_function(name);
  const Function& plain_fusion = *plain.find_function(name);
  std::vector<ValueId> now = unsharded_values_of(fusion, plain_fusion);
  PrepareOptions options;
  options.function = name;
  options.keep = values_to_keep(fusion, plain_fusion, now, sharded);
  HOSTIR_ASSIGN_OR_RETURN(const auto reference,
                          prepare(plain, as_inputs(prepared.inputs), options));
  HOSTIR_ASSIGN_OR_RETURN(const RecordedRun unsharded,
                          recorded_run(*reference, make_backend, on_one_rank(run_options)));
  UnshardedReport report;
  Comparison comparison{fusion,  std::move(now), RoundingBounds(fusion),
                        sharded, unsharded,      tolerance};
  compare_values(comparison, report);
  compare_outputs(comparison, report);
  return report;
}

namespace {

// `inputs` are by position, because parameter names may differ.
auto prepared_unsharded(const Program& plain, const std::string& fusion,
                        const std::vector<std::pair<std::string, Tensor>>& inputs,
                        std::vector<std::string> keep) {
  PrepareOptions options;
  options.function = fusion;
  options.keep = std::move(keep);
  const Function& f = *plain.find_function(fusion);
  std::vector<NamedInput> named;
  for (size_t i = 0; i < f.params.size() && i < inputs.size(); ++i)
    named.push_back({f.value(f.params[i].value).name, inputs[i].second});
  return prepare(plain, named, options);
}

}  // namespace

Expected<UnshardedValues> unsharded_values(
    const Program& program, const std::string& fusion,
    const std::vector<std::pair<std::string, Tensor>>& inputs, const BackendFactory& make_backend,
    const RunOptions& run_options) {
  const Function& f = *program.find_function(fusion);
  const Program plain = unshard(program, fusion);
  const std::vector<ValueId> now = unsharded_values_of(f, *plain.find_function(fusion));
  std::vector<std::string> names;
  for (const Value& v : plain.find_function(fusion)->values) {
    if (v.defined_by.valid()) names.push_back(v.name);
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared,
                          prepared_unsharded(plain, fusion, inputs, std::move(names)));
  HOSTIR_ASSIGN_OR_RETURN(const RecordedRun run,
                          recorded_run(*prepared, make_backend, on_one_rank(run_options)));
  UnshardedValues out;
  for (const ValueId v : now) out.values.push_back(reference_value(run, v));
  out.outputs = run.result.outputs;
  return out;
}

Expected<std::vector<NamedOutput>> unsharded_outputs(
    const Program& program, const std::string& fusion,
    const std::vector<std::pair<std::string, Tensor>>& inputs, const BackendFactory& make_backend,
    const RunOptions& run_options) {
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared,
                          prepared_unsharded(unshard(program, fusion), fusion, inputs, {}));
  HOSTIR_ASSIGN_OR_RETURN(RunResult result, run(*prepared, make_backend, on_one_rank(run_options)));
  const Fault* fault = result.worst();
  if (fault && fault->fatal) return tl::unexpected(to_error(*fault));
  return std::move(result.outputs);
}

}  // namespace hostir::interp
