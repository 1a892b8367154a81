#include "hostir/passes/choose/value_versions.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostir {

namespace {

constexpr double kRemakeNs = 100;

// The suffix of a new value's name, after its last communicating step.
std::string_view suffix_of(const std::vector<RedistributeStep>& steps) {
  std::string_view suffix = "_local";
  for (const RedistributeStep& s : steps) {
    switch (s.kind) {
      case StepKind::kLocal:
      case StepKind::kRelabel:
        break;
      case StepKind::kAllReduce:
      case StepKind::kReduce:
        suffix = "_reduced";
        break;
      case StepKind::kReduceScatter:
        suffix = "_scattered";
        break;
      case StepKind::kAllGather:
        suffix = "_gathered";
        break;
      case StepKind::kAllToAll:
      case StepKind::kPermute:
      case StepKind::kBroadcast:
        suffix = "_moved";
        break;
    }
  }
  return suffix;
}

std::string describe(const std::vector<RedistributeStep>& steps) {
  std::string out;
  for (const RedistributeStep& s : steps) {
    if (!out.empty()) out += ", then ";
    out += name(s.kind);
    if (!s.ranks.empty()) out += fmt::format(" over ranks [{}]", fmt::join(s.ranks, ", "));
    if (!s.axes.empty()) out += " over " + axes_to_string(s.axes);
  }
  return out;
}

}  // namespace

ValueVersions::List& ValueVersions::list(ValueId of) {
  if (lists_.size() <= of.index) lists_.resize(of.index + 1);
  return lists_[of.index];
}

const ValueVersions::List* ValueVersions::find(ValueId of) const {
  return of.index < lists_.size() ? &lists_[of.index] : nullptr;
}

ValueId ValueVersions::add_value(const std::string& stem, Type type) {
  return out_.add_value(names_.fresh(stem), std::move(type));
}

void ValueVersions::add(ValueId of, Version version) {
  Origin& origin = out_.value(version.value).origin;
  if (!origin.valid()) origin = source_.value(of).origin;
  const Sharding sharding = version.sharding;
  std::vector<Version>& all = list(of).versions;
  all.push_back(std::move(version));
  add_transposes(of, sharding, all.size() == 1);
}

// Nothing for an op that changes more than the order of dimensions.
std::optional<ValueVersions::Transpose> ValueVersions::transpose_of(ValueId result) const {
  const InstrId def = source_.value(result).defined_by;
  if (!def.valid()) return std::nullopt;
  const Instruction& i = source_.instr(def);
  if (record(i.kind).shape != OpShape::kBroadcast || i.operands.size() != 1 ||
      i.results.size() != 1)
    return std::nullopt;
  const auto rule = rule_of(program_, source_, i);
  if (!rule) return std::nullopt;
  const auto& from = rule->operands.front();
  const auto& to = rule->results.front();
  if (from.size() != to.size()) return std::nullopt;
  Transpose out{i.operands.front().value, {}};
  for (size_t d = 0; d < to.size(); ++d) {
    const auto same = std::ranges::find(from, to[d]);
    if (to[d].size() != 1 || same == from.end()) return std::nullopt;
    const auto at = static_cast<size_t>(same - from.begin());
    if (!(tensor_type(source_, result).shape[d] == tensor_type(source_, out.operand).shape[at]))
      return std::nullopt;
    out.dims.push_back(at);
  }
  return out;
}

bool ValueVersions::undoes(const Transpose& outer, const Transpose& inner) {
  for (size_t d = 0; d < outer.dims.size(); ++d) {
    if (inner.dims[outer.dims[d]] != d) return false;
  }
  return true;
}

Sharding ValueVersions::transposed(const Sharding& operand, const Transpose& how) {
  Sharding out = operand;
  for (size_t d = 0; d < how.dims.size(); ++d) out.dims[d] = operand.dims[how.dims[d]];
  return out;
}

// Notes that the transpose `of` can be had in this sharding.
void ValueVersions::add_transposed(ValueId of, const Sharding& sharding) {
  std::vector<Version>& all = list(of).versions;
  const bool is_known =
      std::ranges::any_of(all, [&](const Version& v) { return v.sharding == sharding; });
  if (is_known || sharding.is_partial() || sharding.mesh != all.front().sharding.mesh) return;
  all.push_back({ValueId(), sharding});
  add_transposes(of, sharding, false);
}

// A new version of `of`: its transposes can be had like it, and `of`, if it is one, like its
// operand.
void ValueVersions::add_transposes(ValueId of, const Sharding& sharding, bool is_first) {
  if (is_first) {
    if (const auto how = transpose_of(of)) {
      list(how->operand).transposes.push_back(of);
      const std::vector<Version> held = list(how->operand).versions;
      for (const Version& v : held) add_transposed(of, transposed(v.sharding, *how));
    }
  }
  const std::vector<ValueId> transposes = list(of).transposes;
  for (const ValueId t : transposes) add_transposed(t, transposed(sharding, *transpose_of(t)));
}

// The time of the kernel that makes a transpose.
double ValueVersions::transpose_ns(ValueId of, const Sharding& sharding) const {
  const TensorType& type = tensor_type(source_, of);
  const double bytes = largest_local_elems(moves_.mesh(sharding.mesh), type.shape, sharding) *
                       static_cast<double>(size_bytes(type.dtype));
  return moves_.on(sharding.mesh).cost().kernel_ns(type.dtype, 0, 2 * bytes);
}

// Makes a transpose from the version of its operand. It becomes the latest version.
ValueId ValueVersions::make_transpose(ValueId of, size_t version, const UseSite& use,
                                      const std::string& name) {
  const Sharding target = list(of).versions[version].sharding;
  const Transpose how = *transpose_of(of);
  if (const auto inner = transpose_of(how.operand); inner && undoes(how, *inner)) {
    const ValueId same = obtain(inner->operand, target, use);
    std::vector<Version>& held = list(of).versions;
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(version));
    held.push_back({same, target});
    return same;
  }
  Sharding wanted = target;
  for (size_t d = 0; d < how.dims.size(); ++d) wanted.dims[how.dims[d]] = target.dims[d];
  const ValueId operand = obtain(how.operand, wanted, use);
  Instruction made = source_.instr(source_.value(of).defined_by);
  made.comments = {};
  made.operands.front().value = operand;
  TensorType type = tensor_type(source_, of);
  type.sharding = target;
  const ValueId result = add_value(name.empty() ? source_.value(of).name : name, type);
  made.results = {result};
  out_.add_instruction(out_.body, std::move(made));
  explain(of,
          {.value = {},
           .what = "made from %" + out_.value(operand).name,
           .sentence = fmt::format("{} needs {}, which its operand has already; no collective",
                                   use.by, target.dims_to_string()),
           .from = {},
           .pass = "reshard"},
          use);
  std::vector<Version>& all = list(of).versions;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(version));
  all.push_back({result, target});
  out_.value(result).origin = source_.value(of).origin;
  return result;
}

const Version* ValueVersions::primary(ValueId of) const {
  const List* l = find(of);
  return l != nullptr && !l->versions.empty() ? &l->versions.front() : nullptr;
}

std::span<const Version> ValueVersions::all(ValueId of) const {
  const List* l = find(of);
  return l != nullptr ? std::span<const Version>(l->versions) : std::span<const Version>();
}

void ValueVersions::prefer_last(ValueId of) {
  std::vector<Version>& all = list(of).versions;
  std::rotate(all.begin(), all.end() - 1, all.end());
}

bool ValueVersions::is_source(ValueId of) const {
  const InstrId def = source_.value(of).defined_by;
  return def.valid() && record(source_.instr(def).kind).shape == OpShape::kSource;
}

const Version& ValueVersions::cheapest(ValueId of, const Sharding& target) const {
  const TensorType& type = tensor_type(source_, of);
  const List& l = *find(of);
  const Version* best = &l.versions.front();
  if (l.versions.size() == 1) return *best;
  double best_ns = -1;
  for (const Version& v : l.versions) {
    double ns = moves_.cost_ns(type, v.sharding, target);
    if (!v.value.valid()) ns += transpose_ns(of, v.sharding);
    if (best_ns < 0 || ns < best_ns) {
      best = &v;
      best_ns = ns;
    }
  }
  return *best;
}

size_t ValueVersions::collectives(ValueId of, const Sharding& target) const {
  if (primary(of) == nullptr) return 0;
  const Version& v = cheapest(of, target);
  if (v.sharding == target || (is_source(of) && !target.is_partial())) return 0;
  return moves_.plan(tensor_type(source_, of), v.sharding, target).collectives();
}

double ValueVersions::bytes(ValueId of, const Sharding& target) const {
  if (primary(of) == nullptr) return 0;
  const Version& v = cheapest(of, target);
  if (v.sharding == target || (is_source(of) && !target.is_partial())) return 0;
  const TensorType& type = tensor_type(source_, of);
  return moves_.bytes(type, v.sharding, moves_.plan(type, v.sharding, target));
}

double ValueVersions::cost_ns(ValueId of, const Sharding& target) const {
  if (primary(of) == nullptr) return is_source(of) ? 0 : kRemakeNs;
  const Version& v = cheapest(of, target);
  const double made_ns = v.value.valid() ? 0 : transpose_ns(of, v.sharding);
  if (v.sharding == target) return made_ns;
  if (is_source(of) && !target.is_partial()) return kRemakeNs;
  return made_ns + moves_.cost_ns(tensor_type(source_, of), v.sharding, target);
}

ValueId ValueVersions::remake_source(ValueId of, const Sharding& target, const std::string& name) {
  const Instruction& original = source_.instr(source_.value(of).defined_by);
  TensorType type = tensor_type(source_, of);
  type.sharding = target;
  Instruction copy = original;
  copy.comments = primary(of) == nullptr ? original.comments : Comments{};
  const std::string stem = name.empty() ? source_.value(of).name : name;
  copy.results = {add_value(stem, type)};
  const ValueId made = copy.results.front();
  out_.add_instruction(out_.body, std::move(copy));
  add(of, {made, target});
  return made;
}

ValueId ValueVersions::obtain(ValueId of, const Sharding& target, const UseSite& use,
                              const std::string& wanted) {
  if (const List* l = find(of)) {
    for (const Version& v : l->versions) {
      if (v.sharding == target && v.value.valid()) return v.value;
    }
  }
  if (is_source(of) && !target.is_partial()) return remake_source(of, target, wanted);
  if (primary(of) == nullptr) {
    Sharding whole = target;
    whole.unreduced.clear();
    whole.unreduced_kind = Reduction::kSum;
    remake_source(of, whole, {});
  }
  Version from = cheapest(of, target);
  if (!from.value.valid()) {
    const std::vector<Version>& all = list(of).versions;
    const auto at = std::ranges::find_if(
        all, [&](const Version& v) { return !v.value.valid() && v.sharding == from.sharding; });
    const bool is_all = from.sharding == target;
    from.value = make_transpose(of, static_cast<size_t>(at - all.begin()), use,
                                is_all ? wanted : std::string());
    if (is_all) return from.value;
  }
  TensorType type = tensor_type(source_, of);
  const std::vector<RedistributeStep>& steps = moves_.plan(type, from.sharding, target).steps;
  type.sharding = target;
  Instruction reshard;
  reshard.kind = OpKind::reshard;
  reshard.operands.push_back(Operand{.value = from.value});
  reshard.from = {{source_.name, use.number}};
  const std::string stem =
      wanted.empty() ? source_.value(of).name + std::string(suffix_of(steps)) : wanted;
  reshard.results = {add_value(stem, type)};
  const ValueId made = reshard.results.front();
  out_.add_instruction(out_.body, std::move(reshard));
  explain_move(of, from, target, use);
  add(of, {made, target});
  return made;
}

void ValueVersions::explain(ValueId of, ExplainRecord record, const UseSite& use) {
  const auto owner = owner_.find(of.index);
  const Value& value = source_.value(owner != owner_.end() ? owner->second : of);
  record.value = value.name;
  record.id = value.origin;
  record.from = fmt::format("@{}#{}", source_.name, use.number);
  explanation_.push_back(std::move(record));
}

void ValueVersions::explain_move(ValueId of, const Version& from, const Sharding& to,
                                 const UseSite& use) {
  const TensorType& type = tensor_type(source_, of);
  const auto cost = [&](const Redistribution& plan) {
    return cost_text(plan.cost_ns, plan.collectives(), moves_.bytes(type, from.sharding, plan));
  };
  const auto text = [&](const Sharding& s) {
    return from.sharding.mesh == to.mesh ? s.dims_to_string() : s.to_string();
  };
  const Redistribution plan = moves_.plan(type, from.sharding, to);  // copied: others() plans, too
  ExplainRecord record{
      .value = {},
      .what = describe(plan.steps),
      .sentence = fmt::format("it is held as {}, and {} needs {}; about {}{}", text(from.sharding),
                              use.by, text(to), cost(plan),
                              costed_on(moves_.machine().name, moves_.on(to.mesh).cost().scale())),
      .from = {},
      .pass = "reshard"};
  if (alternatives_ == Alternatives::kExplained) {
    for (const Redistribution& other : moves_.others(type, from.sharding, to)) {
      const bool is_cheaper = other.cost_ns < plan.cost_ns;
      record.lost.push_back({describe(other.steps), other.cost_ns,
                             moves_.bytes(type, from.sharding, other), cost(other),
                             is_cheaper ? "saves too little for its collectives" : ""});
    }
    record.lost = cheapest_few(std::move(record.lost), record.what);
  }
  explain(of, std::move(record), use);
}

}  // namespace hostir
