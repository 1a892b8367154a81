#include "hostir/ops/differentiate.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "hostir/ops/differentiator.h"
#include "hostir/ops/expand_composites.h"
#include "hostir/ops/loops.h"
#include "hostir/ops/value_meshes.h"

namespace hostir {

namespace {

bool has_no_vjp(const OpRecord& op) {
  return op.vjp == nullptr && !op.gradient.starts_with("none");
}

// Writes the mesh of a value that a reshard moves to another mesh: the gradient goes back there.
void write_meshes_left(Function& fusion) {
  const ValueMeshes meshes = value_meshes(fusion);
  if (meshes.used.size() <= 1) return;
  for (const InstrId id : fusion.region(fusion.body).instructions) {
    const Instruction& i = fusion.instr(id);
    if (record(i.kind).shape != OpShape::kLayout) continue;
    const ValueId moved = i.operands.front().value;
    const std::string& mesh = meshes.of[moved.index];
    auto* tensor = std::get_if<TensorType>(&fusion.value(moved).type);
    if (tensor == nullptr || tensor->sharding || mesh == meshes.of[i.results.front().index])
      continue;
    tensor->sharding = Sharding::replicated(mesh, tensor->shape.size());
    for (DimSharding& d : tensor->sharding->dims) d.open = true;
  }
}

}  // namespace

bool is_real(const Type& type) {
  return std::holds_alternative<TensorType>(type) && is_float(dtype_of(type));
}

Type type_of_cotangent(const Type& type) {
  TensorType out = std::get<TensorType>(type);
  if (out.sharding) {
    out.sharding->unreduced.clear();
    out.sharding->unreduced_kind = Reduction::kSum;
  }
  return out;
}

Differentiator::Differentiator(const Program& program, const Function& source, std::string name,
                               std::vector<std::string> wrt)
    : program_(program), source_(source), wrt_(std::move(wrt)), rebuild_(source, &program) {
  rebuild_.out().name = std::move(name);
  rebuild_.out().documentation.clear();
  rebuild_.out().comments = {};
  region_ = out().body;
}

Expected<Function> Differentiator::run() {
  HOSTIR_TRY(choose_parameters());
  copy_forward();
  find_active();
  const size_t first = rebuild_.out().instructions.size();
  const std::vector<InstrId> forward = body();
  HOSTIR_TRY(seed());
  HOSTIR_TRY(backward(forward));
  HOSTIR_TRY(finish());
  recompute_marked(forward.size());
  std::vector<bool> removable(rebuild_.out().instructions.size(), true);
  for (size_t n = 0; n < first; ++n) removable[n] = false;
  rebuild_.drop_unused(removable);
  unname_unused();
  Function done = rebuild_.take();
  for (Instruction& i : done.instructions) {
    i.attributes.erase("recompute");
    i.attributes.erase("backward");
  }
  return done;
}

Expected<void> Differentiator::choose_parameters() {
  const std::vector<Parameter> params = out().params;
  if (wrt_.empty()) {
    for (const Parameter& p : params) {
      if (is_real(type(p.value))) parameters_.push_back(p.value);
    }
    return {};
  }
  for (const std::string& name : wrt_) {
    const auto at = std::find_if(params.begin(), params.end(), [&](const Parameter& p) {
      return out().value(p.value).name == name;
    });
    if (at == params.end() || !is_real(type(at->value))) {
      return fail_at(ErrorKind::kInvalid, "grad_c2",
                     fmt::format("@{} has no floating-point parameter %{}", source_.name, name),
                     source_.name_span);
    }
    parameters_.push_back(at->value);
  }
  return {};
}

// Copies the instructions and names all results, because a vjp may need an omitted one.
void Differentiator::copy_forward() {
  for (const InstrId id : source_.region(source_.body).instructions) {
    const Instruction& i = source_.instr(id);
    if (i.kind == OpKind::return_) {
      returned_ = rebuild_.with_operands(i);
      continue;
    }
    rebuild_.copy(i);
  }
  for (const InstrId id : out().preorder()) {
    out().instr(id).comments = {};
    out().instr(id).from.clear();
    name_all_results(id);
  }
}

void Differentiator::name_all_results(InstrId id) {
  const OpRecord& op = record(out().instr(id).kind);
  const Instruction instruction = out().instr(id);
  if (instruction.results.size() >= op.results.size() || op.vjp == nullptr) return;
  const auto types = check_and_infer(program_, out(), instruction);
  if (!types) return;
  for (size_t r = instruction.results.size(); r < op.results.size(); ++r) {
    const std::string stem =
        out().value(instruction.results.front()).name + "_" + std::string(op.results[r].name);
    const ValueId made = out().add_value(rebuild_.names().fresh(stem), (*types)[r]);
    Value& value = out().value(made);
    value.defined_by = id;
    value.result_index = static_cast<uint32_t>(r);
    out().instr(id).results.push_back(made);
  }
}

bool Differentiator::is_active(ValueId value) const {
  return value.valid() && value.index < active_.size() && active_[value.index];
}

void Differentiator::set_active(ValueId value, bool active) {
  if (active_.size() <= value.index) active_.resize(value.index + 1, false);
  active_[value.index] = active;
}

ValueId& Differentiator::cotangent(ValueId value) {
  if (cotangents_.size() <= value.index) cotangents_.resize(out().values.size());
  return cotangents_[value.index];
}

// Finds the values that depend on a requested parameter.
void Differentiator::find_active() {
  active_.assign(out().values.size(), false);
  for (const ValueId p : parameters_) active_[p.index] = true;
  mark_active(body());
}

void Differentiator::mark_active(const std::vector<InstrId>& instructions) {
  for (const InstrId id : instructions) {
    const Instruction& i = out().instr(id);
    if (!i.regions.empty()) {
      mark_loop_active(i);
      continue;
    }
    const bool any = std::any_of(i.operands.begin(), i.operands.end(),
                                 [&](const Operand& o) { return is_active(o.value); });
    for (const ValueId r : i.results) set_active(r, any && is_real(type(r)));
  }
}

Expected<void> Differentiator::seed() {
  std::vector<size_t> real;
  for (size_t r = 0; r < returned_.operands.size(); ++r) {
    if (is_real(type(returned_.operands[r].value))) real.push_back(r);
  }
  if (real.empty()) {
    return fail_at(ErrorKind::kInvalid, "grad_c3",
                   fmt::format("@{} has no floating-point result to differentiate", source_.name),
                   source_.name_span);
  }
  ops::Builder& b = rebuild_.builder();
  b.begin(returned_, "d");
  const bool is_loss =
      real.size() == 1 && shape_of(type(returned_.operands[real[0]].value)).empty();
  for (const size_t r : real) {
    const ValueId value = returned_.operands[r].value;
    if (is_loss) {
      accumulate(value, b.full_like(value, 1));
      continue;
    }
    Type given = type(value);
    const bool declared = r < out().results.size();
    if (declared && sharding_of(out().results[r].type)) given = out().results[r].type;
    const std::string& stem = declared && !out().results[r].name.empty() ? out().results[r].name
                                                                         : out().value(value).name;
    const ValueId parameter =
        out().add_value(rebuild_.names().fresh("d_" + stem), type_of_cotangent(given));
    out().params.push_back({parameter, false});
    accumulate(value, parameter);
  }
  return {};
}

void Differentiator::accumulate(ValueId value, ValueId given) {
  if (!given.valid() || !is_active(value)) return;
  const ValueId before = cotangent(value);
  cotangent(value) = before.valid() ? rebuild_.builder().add(before, given) : given;
}

void Differentiator::enter(RegionId region) {
  region_ = region;
  rebuild_.builder().set_region(region);
}

Expected<void> Differentiator::backward(const std::vector<InstrId>& forward) {
  for (size_t n = forward.size(); n-- > 0;) {
    if (out().instr(forward[n]).regions.empty()) {
      HOSTIR_TRY(backward(forward[n]));
    } else {
      HOSTIR_TRY(backward_loop(forward[n]));
    }
  }
  return {};
}

Expected<void> Differentiator::backward(InstrId id) {
  const Instruction i = out().instr(id);
  std::vector<ValueId> seeds;
  bool any = false;
  for (const ValueId r : i.results) {
    const bool needed = is_active(r) && cotangent(r).valid();
    seeds.push_back(needed ? cotangent(r) : ValueId());
    any = any || needed;
  }
  if (!any || take_stack_use(i)) return {};
  const OpRecord& op = record(i.kind);
  if (op.vjp == nullptr) {
    if (op.gradient.starts_with("none: the derivative is 0")) return {};
    std::string_view why = op.gradient;
    if (constexpr std::string_view kNone = "none: "; why.starts_with(kNone))
      why.remove_prefix(kNone.size());
    return fail_at(ErrorKind::kInvalid, "grad_c1",
                   fmt::format("{} has no gradient: {}", op.mnemonic, why), i.name_span);
  }
  ops::Builder& b = rebuild_.builder();
  b.begin(i, "d_" + out().value(i.results.front()).name);
  const std::vector<ValueId> given = op.vjp(b, seeds);
  if (b.error()) return tl::unexpected(*b.error());
  for (size_t o = 0; o < given.size() && o < i.operands.size(); ++o) {
    b.begin(i, "d_" + out().value(i.operands[o].value).name);
    accumulate(i.operands[o].value, given[o]);
  }
  return {};
}

// A gradient is named `d_<parameter>` unless that name is taken.
Expected<void> Differentiator::finish() {
  ops::Builder& b = rebuild_.builder();
  for (const ValueId p : parameters_) {
    const std::string name = "d_" + out().value(p).name;
    b.begin(returned_, name);
    ValueId d = cotangent(p);
    if (!d.valid()) d = b.zeros_like(p);
    if (b.error()) return tl::unexpected(*b.error());
    Value& value = out().value(d);
    std::string shown = name;
    if (value.name != name && value.defined_by.valid() && !rebuild_.names().has(name)) {
      value.name = name;
      rebuild_.names().add(name);
    }
    std::set<std::string> declared;
    for (const ResultDecl& r : out().results) declared.insert(r.name);
    while (declared.count(shown) != 0) shown += "_1";
    ResultDecl decl;
    decl.name = shown;
    decl.type = type_of_cotangent(type(p));
    out().results.push_back(std::move(decl));
    Operand operand;
    operand.value = d;
    returned_.operands.push_back(operand);
  }
  if (b.error()) return tl::unexpected(*b.error());
  out().add_instruction(out().body, returned_);
  return {};
}

// Removes optional results that no vjp uses.
void Differentiator::unname_unused() {
  const std::vector<InstrId> all = out().preorder();
  std::vector<bool> used(out().values.size(), false);
  for (const InstrId id : all) {
    for (const Operand& o : out().instr(id).operands) {
      if (o.value.valid()) used[o.value.index] = true;
    }
  }
  for (const InstrId id : all) {
    Instruction& i = out().instr(id);
    const OpRecord& op = record(i.kind);
    while (i.results.size() > 1 && i.results.size() <= op.results.size() &&
           op.results[i.results.size() - 1].optional && !used[i.results.back().index]) {
      i.results.pop_back();
    }
  }
}

Expected<Function> differentiate(const Program& program, const Function& fusion, std::string name,
                                 const std::vector<std::string>& wrt) {
  HOSTIR_ASSIGN_OR_RETURN(const Function counted, without_conditions(fusion));
  HOSTIR_ASSIGN_OR_RETURN(Function elements, with_elements_by_loop(counted));
  HOSTIR_ASSIGN_OR_RETURN(Function simple,
                          expand_composites(std::move(elements), Origins::kNone, has_no_vjp));
  write_meshes_left(simple);
  return Differentiator(program, simple, std::move(name), wrt).run();
}

}  // namespace hostir
